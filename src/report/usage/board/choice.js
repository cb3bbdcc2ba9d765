// What a reader chose: a period, filters, what bars show, and by which names they are split. It stands in the address.
import { dateOf, dimensions, hourOf } from './sums.js'

/** The choice before the reader makes one. */
export const initial = (data) => ({
  ...{ from: data.from, to: data.to, model: '', key: '', endpoint: '' },
  ...{ by: data.by, metric: data.metrics[0] },
})

/** What the address calls a dimension: a page by account has accounts in the place of keys. */
const addressed = (data, name) => (name === 'key' ? data.keyIs : name)

/** Reads a choice from the fragment of the address; what is not known there is left out. */
export function choiceOf(data, fragment) {
  const said = new URLSearchParams(fragment)
  const choice = initial(data)
  for (const name of dimensions) {
    const called = addressed(data, name)
    if (data.names[name].includes(said.get(called))) choice[name] = said.get(called)
    if (said.get('by') === called) choice.by = name
  }
  if (data.metrics.includes(said.get('metric'))) choice.metric = said.get('metric')
  const hour = (text, otherwise) => {
    const found = /^\d{4}-\d{2}-\d{2}(T\d{2})?$/.test(text ?? '')
      ? hourOf(text.slice(0, 10)) + Number(text.slice(11) || 0)
      : Number.NaN
    return Number.isFinite(found) ? Math.min(Math.max(found, data.from), data.to) : otherwise
  }
  const [from, to] = [hour(said.get('from'), data.from), hour(said.get('to'), data.to)]
  return from < to ? { ...choice, from, to } : choice
}

export const timeText = (hour) =>
  `${dateOf(hour)}${hour % 24 === 0 ? '' : `T${String(hour % 24).padStart(2, '0')}`}`

/** The fragment of a choice: only what differs from the first. */
export function fragmentOf(data, choice) {
  const first = initial(data)
  const said = new URLSearchParams()
  for (const [name, value] of Object.entries(choice)) {
    if (value === first[name]) continue
    if (name === 'by') said.set(name, addressed(data, value))
    else if (name === 'from' || name === 'to') said.set(name, timeText(value))
    else said.set(addressed(data, name), value)
  }
  return said.toString()
}
