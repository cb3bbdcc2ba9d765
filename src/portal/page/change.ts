import { type Html, html } from '../../user/html.ts'
import type { NameRow } from '../figures/names.ts'
import { beginUsOf, endedOn } from './answer.ts'
import { isMoney } from './columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** Whether amounts of a unit are of equal times in both periods: one that was used for a part of them alone has no comparison. */
export const isCompared = (unit: string, data: PageData, speech: Speech): boolean =>
  data.before !== null && endedOn(unit, data, speech) === '' && beginUsOf(unit, data) === null

/** The share by which a value is more or less than before, with its sign; empty if one is not known, or nothing was used before. */
export const changeOf = (
  value: string | number | null,
  previous: string | number | null,
  { change }: Speech,
): string =>
  value === null || previous === null || Number(previous) === 0
    ? ''
    : change(Number(value) / Number(previous) - 1)

/** The same for a name, or that it is new. @param column the place of the unit in the units of its table; null for requests */
export function changeOfName(
  { requests, amounts, before }: NameRow,
  column: { readonly at: number; readonly unit: string } | null,
  data: PageData,
  speech: Speech,
): string {
  if (before === null) return ''
  if (column === null)
    return before.isNew ? speech.say('change.new') : changeOf(requests, before.requests, speech)
  const { at, unit } = column
  if (before.isNew) return amounts[at] === null ? '' : speech.say('change.new')
  return isCompared(unit, data, speech) ? changeOf(amounts[at]!, before.amounts[at]!, speech) : ''
}

/** The time before: of a period of days its days, whatever part of the last one is compared; empty without one. */
export function timeBefore(
  { before, fromUs, toUs }: Pick<PageData, 'before' | 'fromUs' | 'toUs'>,
  { days, span, period, isOfDays }: Speech,
  isShort = false,
): string {
  if (before === null) return ''
  return isOfDays(fromUs, toUs)
    ? (isShort ? span : days)(before.fromUs, before.toUs)
    : period(before.fromUs, before.toUs, isShort)
}

/** A change, or several, against the time before, whose days stay in one line. */
export function against(change: string, data: PageData, speech: Speech): Html | '' {
  const period = change === '' ? '' : timeBefore(data, speech, true)
  if (period === '') return ''
  const said = speech.say('card.change', { change, period: '|' })
  const [head = '', tail = ''] = said.split('|')
  const isLine = speech.isOfDays(data.fromUs, data.toUs)
  return html`${head}${isLine ? html`<span class="unbroken">${period}</span>` : period}${tail}`
}

/** A part of an amount that a reader should know of. */
export const leastPart = 0.25

/** How a key changed without what it used beyond usual on the dear days that came from it, if these have much of it; what they have of it if that compares with nothing. */
export function changeWithoutDays(
  { name, amounts, before }: NameRow,
  { at, unit }: { readonly at: number; readonly unit: string },
  data: PageData,
  speech: Speech,
): string {
  const amount = Number(amounts[at] ?? 0)
  const dears = data.dears.filter(
    (each) =>
      each.unit === unit &&
      each.cause.names.some(({ of, name: own }) => of !== 'model' && of !== 'tag' && own === name),
  )
  const used = dears.reduce((sum, { cause }) => sum + Number(cause.amount), 0)
  if (used === 0 || used < leastPart * amount) return ''
  const days = speech.list(dears.map(({ fromUs }) => speech.near(fromUs, data.toUs)))
  const beyond = dears.flatMap(({ cause }) => cause.why).reduce((sum, part) => sum + part.amount, 0)
  const change =
    before !== null && beyond > 0 && isCompared(unit, data, speech)
      ? changeOf(amount - beyond, before.amounts[at] ?? null, speech)
      : ''
  return change === ''
    ? speech.say('most.onDay', { share: speech.share(used / amount), day: days })
    : speech.say(isMoney(unit) ? 'card.without.cost' : 'card.without', { change, days })
}
