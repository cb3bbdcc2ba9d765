import type { Contract } from '../../contract/contract.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import type { Session } from '../../store/session/session.ts'
import { hourUs } from '../../user/durations.ts'
import { smallest } from '../../user/extremes.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import type { SeenPeak } from './shape.ts'

/** In hours with at most so many requests, minutes need not be counted: a peak that is missed is at most so large. */
const fewInHour = 20

/** The busiest clock minute, hour and day of any key. A sliding window can hold up to twice as many requests. */
export async function readPeak(
  session: Session,
  engine: UsageEngine,
  contract: Contract | null,
): Promise<SeenPeak> {
  const limits = contract?.bands?.map((band) => band.requests.minute) ?? []
  const lowest = smallest(limits, fewInHour)
  await session.execute(`SET VARIABLE usage_lowest_limit = ${lowest}::BIGINT`)
  await engine.fill(session, 'usage_peaks', queries.peaks)
  const [row] = await session.rows<Omit<SeenPeak, 'unknown'> & { width_us: number | null }>(
    'FROM usage_peaks',
  )
  if (row === undefined) return { minute: null, hour: null, day: null, unknown: null }
  const { minute, hour, day, width_us } = row
  const width = width_us ?? 0
  if (width <= quarterUs) return { minute, hour, day, unknown: null }
  // A peak exists only below the width of the sums.
  return {
    minute: null,
    hour: width > hourUs ? null : hour,
    day: width > 24 * hourUs ? null : day,
    unknown: `busiest minute: not known (${width > hourUs ? (width > 24 * hourUs ? 'sums of several days' : 'daily sums') : 'hourly sums'})`,
  }
}
