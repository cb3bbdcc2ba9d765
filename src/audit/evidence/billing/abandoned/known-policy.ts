import { type DeploymentProfile, established } from '../../../../contract/profile.ts'
import { abandonments, type BalanceHistory, effects } from '../history.ts'
import type { Charges } from './policies.ts'
import { timingOf } from './timing.ts'

/** What a probe found out that a deployment may charge for aborted requests (gaps G-14, G-15): all policies left open. */
export type KnownPolicy = (history: BalanceHistory) => readonly Charges[]

/** Points of a stream in order, by the names of the probe's answer. */
const points = [
  'before headers',
  'after headers',
  'after the first event',
  'after four events',
  'before the end',
] as const
const end = points.length - 1

/** More open classes than this are charged all or not at all. */
const mostOpen = 5

/** @returns null if the profile does not say what any aborted request costs */
export function knownPolicy(profile: DeploymentProfile | undefined): KnownPolicy | null {
  const found = points.map((point) => answerOf(profile, 'G-14', point))
  const plain = answerOf(profile, 'G-15', 'charge')
  if (plain === null && found.every((answer) => answer === null)) return null
  const streams = inOrder(found)
  return (history) => {
    const { readUs, contentEvents, abandonment, streamed } = history
    const timing = timingOf(history)
    const headersUs = soonestHeadersUs(history)
    const finished = (row: number): Decided =>
      timing.finished(row, timing.longestOfStepUs(row), 0) === null ? false : 'finished'
    return policiesOf(history, (row) => {
      if (abandonment[row] !== abandonments.aborted) return `${abandonment[row]} ${streamed[row]}`
      if (streamed[row] === 0)
        return plain === 'charged' ? true : plain === null ? 'plain' : finished(row)
      const events = contentEvents[row]!
      const at = Number.isNaN(readUs[row]!) ? 0 : events === 0 ? 1 : events < 4 ? 2 : 3
      if (streams[at] === 'charged') return true
      if (streams[at] === null) return points[at]!
      // The service may have come further than the client saw.
      if (!streams.slice(at + 1, end).includes('charged')) return finished(row)
      const seenUs = history.endUs[row]! - history.callUs[row]! + timing.noticeUs
      return at > 0 || seenUs >= headersUs ? points[at]! : false
    })
  }
}

type Answer = 'charged' | 'free' | null

function answerOf(
  profile: DeploymentProfile | undefined,
  gap: 'G-14' | 'G-15',
  facet: string,
): Answer {
  const answer = established(profile, gap, facet)
  return answer === 'charged' || answer === 'free' ? answer : null
}

/** Progress never makes an attempt free: an open point lies between its neighbours. */
function inOrder(found: readonly Answer[]): readonly Answer[] {
  return found.map((answer, at) => {
    if (answer !== null) return answer
    if (found.slice(0, at).includes('charged')) return 'charged'
    return found.slice(at + 1, end).includes('free') ? 'free' : null
  })
}

type Decided = boolean | string

function policiesOf(
  history: BalanceHistory,
  decided: (row: number) => Decided,
): readonly Charges[] {
  const rows = new Map<number, Decided>()
  for (let row = 0; row < history.size; row++) {
    if (history.effect[row] === effects.ambiguous) rows.set(row, decided(row))
  }
  const open = [...new Set(rows.values())].filter((each) => typeof each === 'string')
  const subsets =
    open.length > mostOpen
      ? [[], open]
      : open.reduce<string[][]>(
          (some, name) => some.flatMap((names) => [names, [...names, name]]),
          [[]],
        )
  return subsets.map((charged) => (row) => {
    const is = rows.get(row) ?? false
    return typeof is === 'string' ? charged.includes(is) : is
  })
}

/** The shortest time to the headers of a stream; 0 if none is known. */
function soonestHeadersUs({ callUs, readUs, effect, streamed, size }: BalanceHistory): number {
  let soonestUs = Infinity
  for (let row = 0; row < size; row++) {
    if (effect[row] !== effects.charge || streamed[row] !== 1) continue
    soonestUs = Math.min(soonestUs, readUs[row]! - callUs[row]!)
  }
  return soonestUs === Infinity ? 0 : soonestUs
}
