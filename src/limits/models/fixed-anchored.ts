import { largest, smallest } from '../../user/extremes.ts'
import {
  type Contradiction,
  isAdmitted,
  isRejected,
  type LimiterTrace,
  type Step,
  stepsOf,
} from './model.ts'

/** A possible current window: when it began, and how many requests it has counted. */
interface State {
  readonly startLow: number
  readonly startHigh: number
  /** A request sent before this may have been decided before the window began. */
  readonly beganBy: number
  /** The previous window had ended by this. */
  readonly lastEndedBy: number
  /** Requests surely counted in it. */
  readonly sure: number
  /** Requests counted in it at most. */
  readonly possible: number
}

/** More states than this are merged into one. */
const maxStates = 64

/**
 * Windows that begin with the first request after the previous window ended.
 *
 * The start of a window is known only as an interval, so a request near its end may lie in it or begin
 * the next; both states are followed. Each request narrows the state: a request inside the window shows
 * that it had not ended, a rejection shows that it was running and full.
 */
export function explainByAnchoredWindows(trace: LimiterTrace): Contradiction | null {
  const { windowUs, earlierAtMost } = trace
  const { byStart, startUs, openedUs } = stepsOf(trace, 0)
  const ahead = countedAhead(byStart)
  let states: readonly State[] = [
    {
      startLow: -Infinity,
      startHigh: -Infinity,
      beganBy: -Infinity,
      lastEndedBy: -Infinity,
      sure: 0,
      possible: 0,
    },
  ]
  if (earlierAtMost > 0) {
    states = [
      ...states,
      {
        startLow: startUs - windowUs,
        startHigh: openedUs,
        beganBy: -Infinity,
        lastEndedBy: -Infinity,
        sure: 0,
        possible: earlierAtMost,
      },
    ]
  }
  for (const [index, step] of byStart.entries()) {
    if (step.counted === 'no' && !isRejected(step)) continue
    const next = widest(
      states.flatMap((state) =>
        isRejected(step)
          ? afterRejection(state, step, ahead[index]!, trace)
          : afterArrival(state, step, trace),
      ),
    )
    if (next.length === 0) {
      return {
        request: step.request,
        kind: isRejected(step) ? 'should-be-admitted' : 'should-be-rejected',
      }
    }
    states = next.length > maxStates ? [hullOf(next)] : next
  }
  return null
}

/** The states that no other one covers. */
function widest(states: readonly State[]): readonly State[] {
  let kept: State[] = []
  for (const state of states) {
    if (state.startLow > state.startHigh || kept.some((known) => covers(known, state))) continue
    kept = kept.filter((known) => !covers(state, known))
    kept.push(state)
  }
  return kept
}

type Limits = Pick<LimiterTrace, 'limit' | 'windowUs'>

/** What may be so after a request that was not rejected: it lies in the running window, begins the next, or lies in the one before. */
function afterArrival(state: State, step: Step, { limit, windowUs }: Limits): readonly State[] {
  const admitted = isAdmitted(step)
  const counted = step.counted === 'yes' ? 1 : 0
  const after: State[] = []
  if (step.earliestUs < state.startHigh + windowUs && !(admitted && state.sure >= limit)) {
    after.push({
      ...state,
      startLow: Math.max(state.startLow, admitted ? step.earliestUs - windowUs : -Infinity),
      startHigh: admitted ? Math.min(state.startHigh, step.latestUs) : state.startHigh,
      sure: state.sure + counted,
      possible: state.possible + 1,
    })
  }
  if (step.latestUs >= state.startLow + windowUs) {
    after.push({
      startLow: Math.max(step.earliestUs, state.startLow + windowUs),
      startHigh: step.latestUs,
      beganBy: step.endedUs,
      lastEndedBy: state.startHigh + windowUs,
      sure: counted,
      possible: 1,
    })
    // A request that may not be counted need not begin a window.
    if (step.counted === 'maybe') after.push(state)
  }
  // It was decided before the request that began this window. It lies in the previous window, because
  // an admission between the two windows would have begun this one.
  if (step.sentUs < state.beganBy && (!admitted || step.earliestUs < state.lastEndedBy))
    after.push(state)
  return after
}

/**
 * What may be so after a rejection: the running window was full. If that cannot be, it was decided before the window began, or
 * in a window that requests which began later had filled.
 */
function afterRejection(
  state: State,
  step: Step,
  aheadOfIt: number,
  { limit, windowUs }: Limits,
): readonly State[] {
  const isRunning = step.earliestUs < state.startHigh + windowUs
  if (isRunning && state.possible + aheadOfIt >= limit)
    return [{ ...state, startLow: Math.max(state.startLow, step.earliestUs - windowUs) }]
  return step.sentUs < state.beganBy || aheadOfIt >= limit ? [state] : []
}

/** Whether `a` allows everything that `b` allows. */
function covers(a: State, b: State): boolean {
  return (
    a.startLow <= b.startLow &&
    a.startHigh >= b.startHigh &&
    a.beganBy >= b.beganBy &&
    a.lastEndedBy >= b.lastEndedBy &&
    a.sure <= b.sure &&
    a.possible >= b.possible
  )
}

/** A state that covers all of them. */
function hullOf(states: readonly State[]): State {
  return {
    startLow: smallest(states.map(({ startLow }) => startLow)),
    startHigh: largest(states.map(({ startHigh }) => startHigh)),
    beganBy: largest(states.map(({ beganBy }) => beganBy)),
    lastEndedBy: largest(states.map(({ lastEndedBy }) => lastEndedBy)),
    sure: smallest(states.map(({ sure }) => sure)),
    possible: largest(states.map(({ possible }) => possible)),
  }
}

/** For each step, the number of later starters that may have been decided before it. */
function countedAhead(byStart: readonly Step[]): readonly number[] {
  let next = 0
  let countedUpTo = 0
  const byEnd = byStart
    .map((step, index) => ({ step, index }))
    .sort((x, y) => x.step.endedUs - y.step.endedUs)
  const upTo = new Array<number>(byStart.length)
  for (const { step, index } of byEnd) {
    while (next < byStart.length && byStart[next]!.sentUs <= step.endedUs) {
      if (byStart[next]!.counted !== 'no') countedUpTo++
      next++
    }
    upTo[index] = countedUpTo
  }
  let before = 0
  return byStart.map((step, index) => {
    if (step.counted !== 'no') before++
    return upTo[index]! - before
  })
}
