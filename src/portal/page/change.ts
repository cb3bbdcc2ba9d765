import type { NameRow } from '../figures/names.ts'
import { beginUsOf, endedOn } from './answer.ts'
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

/** What all changes are against: the days before. */
export const changeAgainst = ({ before }: PageData, { say, days }: Speech): string =>
  before === null
    ? ''
    : say('card.change', { change: say('table.change'), period: days(before.fromUs, before.toUs) })
