import { type Period, periodAround, periodBefore } from '../../measure/usage/calendar.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { shiftDaysUs } from '../../measure/usage/zone.ts'
import { dayUs } from '../../user/durations.ts'
import type { Known } from './known.ts'

/** Share of the month before that may be missing at its start: as an account begins on any day of it, more than of a log (0747). */
const mostMissing = 0.1

/**
 * What a period is compared with: of a month, or the first days of one, the same days of the month before; of any other period, as
 * much time before it. Each is cut to the part of this one whose use is known. Null without enough usage.
 */
export function comparedWith(
  period: Period,
  { firstUs, knownUs }: Pick<Known, 'firstUs' | 'knownUs'>,
): Period | null {
  const { fromUs, toUs, timezone } = period
  const month = periodAround(fromUs, timezone, 'month', 1)
  if (firstUs === null || knownUs === null) return null
  if (fromUs !== month.fromUs || toUs > month.toUs)
    return periodBefore(period, { firstUs, lastUs: knownUs - 1 })
  const last = periodAround(fromUs - 1, timezone, 'month', 1)
  const endUs = Math.min(toUs, Math.max(knownUs, fromUs))
  const days = Math.floor((endUs - fromUs) / dayUs)
  const rest = Math.max(0, endUs - shiftDaysUs(fromUs, days, timezone))
  const isWhole = endUs === month.toUs
  const beforeToUs = isWhole
    ? last.toUs
    : Math.min(
        last.toUs,
        shiftDaysUs(last.fromUs, days, timezone) + Math.ceil(rest / quarterUs) * quarterUs,
      )
  // A month that began before the first usage is no measure.
  return firstUs - last.fromUs > mostMissing * (beforeToUs - last.fromUs)
    ? null
    : { fromUs: last.fromUs, toUs: beforeToUs, timezone }
}
