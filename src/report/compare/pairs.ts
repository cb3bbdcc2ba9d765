import { levelOf } from '../../measure/interval/level.ts'
import { pairedInterval } from '../../measure/interval/paired.ts'
import { columnOf, cutOf } from '../../measure/measures.ts'
import type { Unsteady } from '../../store/read/steadiness.ts'
import type { Session } from '../../store/session/session.ts'
import { type Group, type SampledMetric, sampledMetrics } from './samples.ts'

/** Times of requests that were sent to both runs, in the order of their planned sends. */
export interface Pairs {
  readonly a: Float64Array
  readonly b: Float64Array
  /** Planned send of each to a, microseconds of the run's clock. */
  readonly atUs: Float64Array
}

export type PairsOfTimes = Readonly<Record<SampledMetric, Pairs | null>>

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
): Promise<PairsOfTimes> {
  const [left, right] = [await readSlots(a), await readSlots(b)]
  // `warmup: auto` may have cut more off one of the two.
  const first = Math.max(left.slots[0] ?? 0, right.slots[0] ?? 0)
  const placeOf = new Map(Array.from(right.slots, (slot, at) => [slot, at]))
  const of = (metric: SampledMetric) => {
    const [times, others] = [left.times[metric], right.times[metric]]
    const places: (readonly [a: number, b: number])[] = []
    let broken = 0
    for (const [at, slot] of left.slots.entries()) {
      if (slot < first) continue
      const other = placeOf.get(slot)
      const known = {
        a: !Number.isNaN(times[at]!),
        b: other !== undefined && !Number.isNaN(others[other]!),
      }
      if (known.a && known.b) places.push([at, other!])
      else if (known.a || known.b) broken++
    }
    const n = places.length
    if (n === 0 || broken > mostBroken * (n + broken)) return null
    return {
      a: Float64Array.from(places, ([at]) => times[at]!),
      b: Float64Array.from(places, ([, at]) => others[at]!),
      atUs: Float64Array.from(places, ([at]) => left.atUs[at]!),
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
    `SELECT slot::DOUBLE, intended_us::DOUBLE, ${sampledMetrics.map(exact).join(', ')} FROM attempt_values
     WHERE run_id = $1 AND ($2 IS NULL OR step = $2) AND retry = 0
       ${part === 'steady' ? `AND part = 'steady'` : ''}
     ORDER BY intended_us, slot`,
    [runId, step],
  )
  const none = new Float64Array()
  const [slots = none, atUs = none, ...times] = read
  const [service = none, response = none, ttft = none, tpot = none] = times
  return { slots, atUs, times: { service, response, ttft, tpot } }
}

/** Pairs of one group, and when their ratio changed; null if it has one level. */
export interface PairedGroup {
  readonly times: PairsOfTimes
  readonly changedUs: number | null
}

/** Intervals of a time of pairs, before and after their ratio changed; null if it has one level. */
export function sidesOfPairs(
  { times, changedUs }: PairedGroup,
  metric: SampledMetric,
  fewest: number,
  p: number | null,
) {
  const pairs = times[metric]
  if (pairs === null || changedUs === null) return null
  const later = pairs.atUs.findIndex((at) => at >= changedUs)
  const cut = later === -1 ? pairs.a.length : later
  const side = (from: number, until?: number) => {
    const [a, b, atUs] = [pairs.a, pairs.b, pairs.atUs].map((list) => list.slice(from, until))
    return intervalOfPairs({ a: a!, b: b!, atUs: atUs! }, fewest, p)
  }
  return [side(0, cut), side(cut)] as const
}

/** The interval of a time of pairs; null if its pairs are too few or broken. */
export const intervalOfPairs = (pairs: Pairs | null, fewest: number, p: number | null) =>
  pairs === null || pairs.a.length < fewest ? null : pairedInterval(pairs.a, pairs.b, p)

const judged = ['response', 'ttft'] as const
/** Chance of a false alarm, over all judged times together. */
const falseAlarm = 0.01

/** Where the ratio of the two times of each pair rises, falls or steps; null if it has one level. */
export function changeOfPairs(times: PairsOfTimes): Unsteady | null {
  const levels = judged.flatMap((metric) => {
    const pairs = times[metric]
    if (pairs === null) return []
    const { chance, change } = levelOf(pairs.b.map((time, at) => time / pairs.a[at]!))
    if (chance === null) return []
    return [{ chance, metric, change, pairs }]
  })
  const found = levels
    .filter(({ chance, change }) => change !== null && chance * levels.length <= falseAlarm)
    .toSorted((one, other) => one.chance - other.chance)[0]
  if (found === undefined) return null
  const { metric, pairs, change } = found
  return { step: 'b against a:', metric, atUs: pairs.atUs[change!.at]!, ratio: change!.ratio }
}
