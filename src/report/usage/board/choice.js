// What a reader chose: a period, filters, what bars show, and by which names they are split. It stands in the address.
import { dateOf, dimensions, hourOf } from './sums.js'

/** The choice before the reader makes one. */
export const initial = (data) => ({
  ...{ from: data.from, to: data.to, model: '', key: '', endpoint: '' },
  ...{ by: data.by, metric: data.metrics[0] },
})

/** Reads a choice from the fragment of the address; what is not known there is left out. */
export function choiceOf(data, fragment) {
  const said = new URLSearchParams(fragment)
  const choice = initial(data)
  for (const name of dimensions)
    if (data.names[name].includes(said.get(name))) choice[name] = said.get(name)
  if (data.metrics.includes(said.get('metric'))) choice.metric = said.get('metric')
  if (dimensions.includes(said.get('by'))) choice.by = said.get('by')
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
    if (value !== first[name])
      said.set(name, name === 'from' || name === 'to' ? timeText(value) : value)
  }
  return said.toString()
}
