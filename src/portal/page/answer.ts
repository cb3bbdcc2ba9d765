import { dayUs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import type { Html } from '../../user/html.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** An answer to the question of a cell of the first screen, in one unit, and what is to be known of it. */
export interface Answer {
  readonly label: string
  /** The units that the label is of, which a filter leaves out. */
  readonly ofUnits?: string
  /** Empty if the lines under it have the answer. */
  readonly value: string
  /** The same in other units, in the same line. */
  readonly others?: readonly string[]
  readonly under: readonly (Html | string | false)[]
  /** Its value is what the page's script changes when the reader filters. */
  readonly isFigure?: true
  /** Of these names, the script shows those of the filter. */
  readonly most?: 'key' | 'model'
}

/** A cell is an answer in each unit, that of the page first; two that are short share a row of a phone. */
export type Cell = readonly Answer[]

/** Whether no use of the period is known yet: unknown is no zero. */
export const isUnknown = ({ fromUs, lateUs }: Pick<PageData, 'fromUs' | 'lateUs'>) =>
  lateUs !== null && lateUs <= fromUs

/** The units of the account, that of the page first. */
export const unitsOf = ({ unit, units }: Pick<PageData, 'unit' | 'units'>) => [
  ...units.filter((each) => each.unit === unit),
  ...units.filter((each) => each.unit !== unit),
]

export const unitName = (unit: string, { say }: Speech) =>
  unit === 'credits' ? say('chart.credits') : unit

/** When a unit that others replaced was last used, Unix microseconds; null for one that is in use. */
function endUsOf(unit: string, { units }: PageData): number | null {
  const last = units.find((each) => each.unit === unit)?.lastUs ?? null
  const latest = largest(units.map(({ lastUs }) => lastUs ?? 0))
  return last === null || latest - last < dayUs ? null : last
}

/** The same in words; empty for a unit that is in use. */
export function endedOn(unit: string, data: PageData, speech: Speech): string {
  const us = endUsOf(unit, data)
  return us === null ? '' : speech.say('card.ended', { date: speech.near(us, data.toUs) })
}

/** When the use in a unit began, Unix microseconds; null for the only unit, or if that was before the first tenth of the periods that are compared. */
export function beginUsOf(unit: string, { units, before, fromUs, toUs }: PageData): number | null {
  const first = units.find((each) => each.unit === unit)?.firstUs ?? null
  const compared = before ?? { fromUs, toUs }
  const sinceUs = compared.fromUs + (compared.toUs - compared.fromUs) / 10
  return units.length > 1 && first !== null && first > sinceUs ? first : null
}

/** Since when and until when the page's units are in use, those of the past first; empty if each is in use all the time. */
export function datesOf(units: readonly string[], data: PageData, speech: Speech): string {
  const dates = units
    .map((unit) => ({
      unit: unitName(unit, speech),
      end: endUsOf(unit, data),
      begin: beginUsOf(unit, data),
    }))
    .filter(({ end, begin }) => end !== null || begin !== null)
    .toSorted((a, b) => (a.end ?? Infinity) - (b.end ?? Infinity))
    .map(({ unit, end, begin }) =>
      end === null
        ? speech.say('apart.since', { unit, date: speech.near(begin!, data.toUs) })
        : speech.say('apart.until', { unit, date: speech.near(end, data.toUs) }),
    )
  return dates.length === 0
    ? ''
    : dates.reduce((before, next) => speech.say('apart.parts', { before, next }))
}
