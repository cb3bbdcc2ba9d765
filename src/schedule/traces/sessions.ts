import type { PlannedTurn } from '../tasks.ts'
import type { TraceRequest } from './trace.ts'

/** Requests of a trace that wait for each other: the first, and those after it. */
export interface TraceSession {
  /** Indexes in the trace, each behind the one that it waits for. */
  readonly requests: readonly number[]
  readonly plan: readonly PlannedTurn[]
}

/**
 * The requests of a trace as sessions, in order of their first requests. A request that waits for none is the first of a
 * session. A gap runs from the recorded end of the request before, or from its start if the trace records no end.
 *
 * @param capUs longest gap; null for as recorded @param speed divides gaps, as it does times
 */
export function sessionsOf(
  trace: readonly TraceRequest[],
  { capUs, speed }: { readonly capUs: number | null; readonly speed: number },
): readonly TraceSession[] {
  const followers = Map.groupBy(trace.keys(), (index) => trace[index]!.after)
  const gapUs = (index: number, before: number) => {
    const { atUs, recorded } = trace[before]!
    const us = Math.max(0, trace[index]!.atUs - atUs - (recorded.serviceUs ?? 0)) / speed
    return Math.round(Math.min(us, capUs ?? Infinity))
  }
  return (followers.get(null) ?? []).map((first) => {
    const requests = [first]
    const plan = [turnAfter([], 0)]
    for (let number = 0; number < requests.length; number++) {
      const before = requests[number]!
      for (const index of followers.get(before) ?? []) {
        requests.push(index)
        plan.push(turnAfter([number], gapUs(index, before)))
      }
    }
    return { requests, plan }
  })
}

/** A trace has the whole prompt of each request, so none continues another. */
const turnAfter = (after: readonly number[], delayUs: number): PlannedTurn => ({
  turn: 0,
  after,
  join: 'all',
  rest: [],
  delayUs,
  continues: null,
  takes: [],
})
