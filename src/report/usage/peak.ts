import type { Contract } from '../../contract/contract.ts'
import type { Store } from '../../store/open.ts'
import type { Peak } from './shape.ts'

/** Hours that are looked into in any case. */
const busiestHours = 50

/**
 * Busiest clock minute, hour and day of any one key; a sliding window can hold up to twice.
 *
 * Minutes of all keys would be most of the cost of a page, so only hours are looked into that can
 * hold a minute above the lowest limit: no minute has more requests than its hour.
 */
export async function readPeak(store: Store, contract: Contract | null): Promise<Peak> {
  const limits = contract?.bands.map((band) => band.requests.minute) ?? []
  const lowest = Math.min(Number.MAX_SAFE_INTEGER, ...limits)
  const [peak] = await store.rows<Peak>(
    `WITH hours AS (
       SELECT key_fp, hour, sum(requests)::BIGINT AS n FROM usage_key_hours GROUP BY ALL),
     busy AS (
       SELECT key_fp, hour FROM hours WHERE n > ${lowest}
       UNION SELECT key_fp, hour FROM (FROM hours ORDER BY n DESC LIMIT ${busiestHours})),
     minutes AS (
       SELECT sum(requests)::BIGINT AS n
       FROM usage_shown JOIN busy
         ON usage_shown.key_fp IS NOT DISTINCT FROM busy.key_fp
        AND at_us // 3600000000 = busy.hour
       WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')
       GROUP BY usage_shown.key_fp, at_us // 60000000)
     SELECT (SELECT max(n) FROM minutes) AS minute, (SELECT max(n) FROM hours) AS hour,
       (SELECT max(n)::BIGINT FROM (SELECT sum(n) AS n FROM hours GROUP BY key_fp, hour // 24)) AS day`,
  )
  return peak ?? { minute: null, hour: null, day: null }
}
