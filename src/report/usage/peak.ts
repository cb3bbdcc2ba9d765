import type { Contract } from '../../contract/contract.ts'
import type { Session } from '../../store/session.ts'
import { queryText, type UsageEngine } from './engine/engine.ts'
import type { Peak } from './shape.ts'

/** The busiest clock minute, hour and day of any key. A sliding window can hold up to twice as many requests. */
export async function readPeak(
  store: Session,
  engine: UsageEngine,
  contract: Contract | null,
): Promise<Peak> {
  const limits = contract?.bands?.map((band) => band.requests.minute) ?? []
  const lowest = Math.min(Number.MAX_SAFE_INTEGER, ...limits)
  await store.execute(`SET VARIABLE usage_lowest_limit = ${lowest}::BIGINT`)
  await engine.fill(store, 'usage_peaks', queryText('peaks'))
  const [peak] = await store.rows<Peak>('FROM usage_peaks')
  return peak ?? { minute: null, hour: null, day: null }
}
