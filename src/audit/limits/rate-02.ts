import type { Contract, Window } from '../../contract/contract.ts'
import { type Cell, cellsNamed, edgesOf } from '../../limits/band.ts'
import type { Rule } from '../rule.ts'
import { historyOf, type Sighting, witnessOf } from './history.ts'

export const rate02: Rule = {
  id: 'RATE-02',
  says: 'the limits change exactly at the edges of the balance bands',
  section: '§8.1',
  severity: 'must',
  needs: ['active'],
  explain: `Looks at two attempts of one key, one wholly after the other, whose limits are of the same
window and of neighbouring rows. Each limit must be the row of a balance within one charge of its own
credits header (before or after the charge: gaps G-12, G-24). A row that changes too late is legal
only where a window may have begun between the two (a new band may take effect with the next
window): the count of used requests then starts again; where it goes on, the edge itself is wrong.
At a balance that two rows share, either is right, and the note says which was chosen.`,
  async decide(evidence) {
    const { contract } = evidence
    const { byKey } = await historyOf(evidence)
    const edges = edgesOf(contract)
    const seen = new Set<string>()
    let crossings = 0
    let doubtful: readonly [Sighting, Sighting] | null = null
    for (const sightings of byKey.values()) {
      for (const { before, after, from, to, steps } of sequentialPairs(contract, sightings)) {
        const edge = edges.find(
          ({ lower, upper }) =>
            (from.band === upper && to.band === lower) ||
            (from.band === lower && to.band === upper),
        )
        if (edge === undefined) continue
        crossings++
        const rightBefore = holds(from.band, before)
        const rightAfter = holds(to.band, after)
        if (rightBefore && rightAfter) {
          seen.add(
            `${edge.upper.minBalance}: ${from.band.name} at ${before.credits}, ${to.band.name} at ${after.credits}`,
          )
        } else if (!rightAfter || goesOn(before, after, steps)) {
          return {
            verdict: 'fail',
            observations: crossings,
            expected: `the row changes between balances ${edge.upper.minBalance - 1} and ${edge.upper.minBalance}`,
            came: `it changes between ${before.credits} and ${after.credits} credits remaining`,
            witnesses: [
              witnessOf(before, `limit ${before.limit} with ${before.credits} remaining`),
              witnessOf(after, `limit ${after.limit} with ${after.credits} remaining`),
            ],
          }
        } else {
          doubtful = [before, after]
        }
      }
    }
    if (seen.size > 0) {
      return {
        verdict: 'pass',
        observations: crossings,
        note: `edges seen: ${[...seen].join('; ')}`,
      }
    }
    if (doubtful !== null) {
      return {
        verdict: 'inconclusive',
        observations: crossings,
        why: 'the row changed away from the edge, but a window may have begun just there',
        witnesses: doubtful.map((sighting) => witnessOf(sighting, `limit ${sighting.limit}`)),
      }
    }
    return {
      verdict: 'not-observed',
      takes: `sequential requests over an edge: ${edges.map(({ upper }) => `${upper.minBalance + 2} to ${upper.minBalance - 3}`).join(', ')} (scenarios/bands.yaml)`,
    }
  },
}

interface Pair {
  readonly before: Sighting
  readonly after: Sighting
  readonly from: Cell
  readonly to: Cell
  /** Successes after the first and up to the second; null where other attempts lie between. */
  readonly steps: number | null
}

/** Successes of one key, each with the last one before it whose limit is of the same window. */
function* sequentialPairs(
  contract: Contract,
  sightings: readonly Sighting[],
): Generator<Pair, void, undefined> {
  const previous = new Map<Window, { readonly sighting: Sighting; readonly at: number }>()
  let successes = 0
  let others = 0
  let busyUntilUs = -Infinity
  for (const after of sightings) {
    if (after.fromUs < busyUntilUs) previous.clear()
    const alone = after.fromUs >= busyUntilUs
    busyUntilUs = Math.max(busyUntilUs, after.closedUs)
    if (after.decision !== 'admitted') others++
    if (after.decision !== 'admitted' || after.limit === null || after.credits === null) continue
    successes++
    const [to] = cellsNamed(contract, after.limit)
    if (to === undefined || !alone) continue
    const last = previous.get(to.window)
    const [from] = last === undefined ? [] : cellsNamed(contract, last.sighting.limit!)
    if (last !== undefined && from !== undefined) {
      const steps = others === 0 ? successes - last.at : null
      yield { before: last.sighting, after, from, to, steps }
    }
    previous.set(to.window, { sighting: after, at: successes })
    others = 0
  }
}

function holds(
  band: { readonly minBalance: number; readonly maxBalance: number | null },
  sighting: Sighting,
): boolean {
  const low = sighting.credits! - sighting.costCredits
  const high = sighting.credits! + sighting.costCredits
  return high >= band.minBalance && low <= (band.maxBalance ?? Infinity)
}

/** Whether the count of used requests went on: no window began between the two. */
function goesOn(before: Sighting, after: Sighting, steps: number | null): boolean {
  if (before.remaining === null || after.remaining === null || steps === null) return false
  return after.limit! - after.remaining === before.limit! - before.remaining + steps
}
