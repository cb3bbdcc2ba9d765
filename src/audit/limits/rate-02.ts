import { cellsNamed, edgesOf } from '../../limits/band.ts'
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
      for (const [before, after] of sequentialPairs(sightings)) {
        const [from] = cellsNamed(contract, before.limit!)
        const [to] = cellsNamed(contract, after.limit!)
        if (from === undefined || to === undefined || from.window !== to.window) continue
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
        } else if (!rightAfter || goesOn(before, after)) {
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

/** Pairs of successes of one key, the second wholly after the first, with nothing in between. */
function* sequentialPairs(sightings: readonly Sighting[]): Generator<[Sighting, Sighting]> {
  let previous: Sighting | null = null
  let busyUntilUs = -Infinity
  for (const sighting of sightings) {
    const alone = sighting.fromUs >= busyUntilUs
    if (!alone) previous = null
    const whole =
      sighting.decision === 'admitted' && sighting.limit !== null && sighting.credits !== null
    if (whole && alone && previous !== null) yield [previous, sighting]
    if (whole) previous = sighting
    busyUntilUs = Math.max(busyUntilUs, sighting.closedUs)
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

/** Whether the count of used requests went on by one: no window began between the two. */
function goesOn(before: Sighting, after: Sighting): boolean {
  if (before.remaining === null || after.remaining === null) return false
  return after.limit! - after.remaining === before.limit! - before.remaining + 1
}
