import { knownTo } from '../../report/usage/days.ts'
import { longestSilenceSql } from '../../report/usage/silence.ts'
import { dayUs, hourMs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import type { Asked } from '../api/asked.ts'
import { coverageOf, rowsOnce, useNow } from './rows.ts'

/** What is known of the use of an account, Unix microseconds; null without use. */
export interface Known {
  readonly firstUs: number | null
  /** The last use. */
  readonly lastUs: number | null
  /** Use is known until here: until now, if the account is usually silent for so long (decision 0738). */
  readonly knownUs: number | null
  /** Whether a day or more is not known. */
  readonly isLate: boolean
}

/** The same for every part of a page, and without its forecast. */
export async function knownOf({
  session,
  view,
  nowMs,
}: Pick<Asked, 'session' | 'view' | 'nowMs'>): Promise<Known> {
  const { first: firstUs, last: lastUs } = await coverageOf(session)
  if (firstUs === null || lastUs === null) return { firstUs, lastUs, knownUs: null, isLate: false }
  const [[silence], [sums]] = await Promise.all([
    rowsOnce<{ readonly us: number }>(session, longestSilenceSql(useNow.quarters)),
    rowsOnce<{ readonly requests: number }>(
      session,
      `SELECT coalesce(sum(requests), 0)::BIGINT AS requests FROM ${useNow.days}`,
    ),
  ])
  const nowUs = nowMs * 1000
  // As forecasts are, as of the start of the hour.
  const hourUs = Math.floor(nowMs / hourMs) * hourMs * 1000
  const sources = [{ firstUs, lastUs, requests: sums!.requests }]
  const toUs = knownTo({ sources, nowUs: hourUs }, silence!.us)
  const knownUs = largest([
    lastUs + 1,
    toUs >= hourUs ? nowUs : Math.floor(toUs),
    // A closed month is whole.
    ...view.closed.map((month) => month.toUs),
  ])
  return { firstUs, lastUs, knownUs, isLate: knownUs < nowUs && nowUs - lastUs > dayUs }
}
