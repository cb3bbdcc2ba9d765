import { pairedInterval } from '../../measure/interval/paired.ts'
import { columnOf, cutOf } from '../../measure/measures.ts'
import type { Session } from '../../store/session/session.ts'
import { type Group, type SampledMetric, sampledMetrics } from './samples.ts'

/** Times of requests that were sent to both runs, in the order of their planned sends. */
export interface Pairs {
  readonly a: Float64Array
  readonly b: Float64Array
}

/** A share of pairs, of which only one time is known, above which pairs do not stand for all requests. */
const mostBroken = 0.01

/** Whether two runs are those of one plan that was sent to two targets. */
export async function arePaired(
  a: { readonly session: Session; readonly runId: string },
  b: { readonly session: Session; readonly runId: string },
): Promise<boolean> {
  const of = async ({ session, runId }: typeof a) => {
    const [row] = await session.rows<{ name: string | null; pair: string | null }>(
      `SELECT json_extract_string(scenario_json, '$.target.name') AS name,
         json_extract_string(scenario_json, '$.target.pair') AS pair
       FROM runs WHERE run_id = $1 AND json_valid(scenario_json)`,
      [runId],
    )
    return row ?? { name: null, pair: null }
  }
  const [left, right] = [await of(a), await of(b)]
  return left.pair !== null && left.pair === right.pair && left.name !== right.name
}

/** Pairs of each time; null if more than 1 % of them are broken, because one of the two has no exact time. */
export async function readPairs(
  a: { readonly session: Session; readonly group: Group },
  b: { readonly session: Session; readonly group: Group },
): Promise<Readonly<Record<SampledMetric, Pairs | null>>> {
  const [left, right] = [await readSlots(a), await readSlots(b)]
  const placeOf = new Map(Array.from(right.slots, (slot, at) => [slot, at]))
  const of = (metric: SampledMetric) => {
    const [times, others] = [left.times[metric], right.times[metric]]
    const pairs: number[] = []
    let broken = 0
    for (const [at, slot] of left.slots.entries()) {
      const other = placeOf.get(slot)
      const known = [times[at]!, other === undefined ? Number.NaN : others[other]!].filter(
        (time) => !Number.isNaN(time),
      )
      if (known.length === 1) broken++
      if (known.length === 2) pairs.push(known[0]!, known[1]!)
    }
    const n = pairs.length / 2
    if (n === 0 || broken > mostBroken * (n + broken)) return null
    return {
      a: Float64Array.from({ length: n }, (_, at) => pairs[2 * at]!),
      b: Float64Array.from({ length: n }, (_, at) => pairs[2 * at + 1]!),
    }
  }
  return { service: of('service'), response: of('response'), ttft: of('ttft'), tpot: of('tpot') }
}

async function readSlots({ session, group }: { session: Session; group: Group }) {
  const { runId, step, part } = group
  const exact = (metric: SampledMetric) => {
    const cut = cutOf(metric)
    return cut === null
      ? `${columnOf(metric)}::DOUBLE`
      : `(CASE WHEN NOT coalesce(${cut}, false) THEN ${columnOf(metric)} END)::DOUBLE`
  }
  const read = await session.doubles(
    `SELECT slot::DOUBLE, ${sampledMetrics.map(exact).join(', ')} FROM attempt_values
     WHERE run_id = $1 AND ($2 IS NULL OR step = $2) AND retry = 0
       ${part === 'steady' ? `AND part = 'steady'` : ''}
     ORDER BY intended_us, slot`,
    [runId, step],
  )
  const [slots = new Float64Array(), ...times] = read
  const none = new Float64Array()
  const [service = none, response = none, ttft = none, tpot = none] = times
  return { slots, times: { service, response, ttft, tpot } }
}

/** The interval of a time of pairs; null if its pairs are too few or broken. */
export const intervalOfPairs = (pairs: Pairs | null, fewest: number, p: number | null) =>
  pairs === null || pairs.a.length < fewest ? null : pairedInterval(pairs.a, pairs.b, p)
