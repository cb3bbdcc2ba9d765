import { dayUs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import type { Html } from '../../user/html.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** An answer to the question of a cell of the first screen, in one unit, and what is to be known of it. */
export interface Answer {
  readonly label: string
  /** Empty if the lines under it have the answer. */
  readonly value: string
  readonly under: readonly (Html | string | false)[]
  /** What the page's script changes when the reader filters. */
  readonly isFigure?: true
  /** Of these names, the script shows those of the filter. */
  readonly most?: 'key' | 'model'
  /** It is of another unit than the page, and the script hides it when the reader filters. */
  readonly isOther?: true
}

/** A cell is an answer in each unit, that of the page first; two that are short share a row of a phone. */
export type Cell = readonly Answer[]

/** The units of the account, that of the page first. */
export const unitsOf = ({ unit, units }: Pick<PageData, 'unit' | 'units'>) => [
  ...units.filter((each) => each.unit === unit),
  ...units.filter((each) => each.unit !== unit),
]

export const isMoney = (unit: string) => /^[A-Z]{3}$/.test(unit)

/** When a unit that others replaced was last used; empty for one that is in use. */
export function endedOn(unit: string, { units, toUs }: PageData, speech: Speech): string {
  const last = units.find((each) => each.unit === unit)?.lastUs ?? null
  const latest = largest(units.map(({ lastUs }) => lastUs ?? 0))
  return last === null || latest - last < dayUs
    ? ''
    : speech.say('card.ended', { date: speech.near(last, toUs) })
}
