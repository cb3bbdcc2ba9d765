import { type Contract, windowUs } from '../../../contract/contract.ts'
import { bandsWithin, cellsNamed, edgesOf } from '../../../limits/band.ts'
import { trailingBrackets } from '../../../limits/trailing.ts'
import { fail, inconclusive, notObserved, pass } from '../../verdict.ts'
import { type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { goesOn, holds, sequentialPairs } from './row-changes.ts'

export const rate02 = rateRule({
  id: 'RATE-02',
  title: 'The limits change exactly at the edges of the balance bands',
  needs: ['active'],
  promised: ['bands', 'headers.rate_limit', 'headers.credits_remaining'],
  explain: `Looks at two attempts of one key, one completely after the other, whose limits are of the same
window and of neighbouring rows. Each limit must be the row of a balance within one charge of its own
credits header (before or after the charge: gaps G-12, G-24). A late change of the row is legal only if a
window may have begun between the two attempts (a new band may take effect with the next window). The
count of used requests then starts again; if it continues, the edge itself is wrong. The edge is also
wrong if the row is still the old one a minute after the balance left it. At a balance that two rows
share, either is correct, and the note names the one in use.`,
  decide({ byKey, byAccount }, { contract }) {
    const edges = edgesOf(contract)
    const seen = new Set<string>()
    let crossings = 0
    let doubtful: readonly [RateEvent, RateEvent] | null = null
    for (const events of byKey.values()) {
      for (const { before, after, from, to, steps } of sequentialPairs(contract, events)) {
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
          return fail(crossings, {
            expected: `the row changes between balances ${edge.upper.minBalance - 1} and ${edge.upper.minBalance}`,
            observed: `it changes between ${before.credits} and ${after.credits} credits remaining`,
            witnesses: [
              witnessOf(before, `limit ${before.limit} with ${before.credits} remaining`),
              witnessOf(after, `limit ${after.limit} with ${after.credits} remaining`),
            ],
          })
        } else {
          doubtful = [before, after]
        }
      }
    }
    for (const events of byAccount.values()) {
      const unmoved = neverMoved(contract, events)
      if (unmoved === null) continue
      const [before, after] = unmoved
      return fail(crossings + 1, {
        expected: `another row than ${before.limit}, a minute after the balance crossed the edge`,
        observed: `limit ${after.limit} with ${after.credits ?? 'no'} credits shown`,
        witnesses: [
          witnessOf(before, `limit ${before.limit} with ${before.credits} remaining`),
          witnessOf(after, `limit ${after.limit} with ${after.credits} remaining`),
        ],
      })
    }
    if (seen.size > 0) return pass(crossings, { note: `edges seen: ${[...seen].join('; ')}` })
    if (doubtful !== null)
      return inconclusive(
        crossings,
        'the row changed away from the edge, but a window may have begun just there',
        doubtful.map((event) => witnessOf(event, `limit ${event.limit}`)),
      )
    return notObserved(
      `sequential requests over an edge: ${edges.map(({ upper }) => `${upper.minBalance + 2} to ${upper.minBalance - 3}`).join(', ')} (scenarios/bands.yaml)`,
    )
  },
})

/** A correct response, and a later one of its key with the same row, which is then wrong. */
function neverMoved(
  contract: Contract,
  events: readonly RateEvent[],
): readonly [RateEvent, RateEvent] | null {
  const trailing = trailingBrackets(events, windowUs.minute)
  const right = new Map<string, RateEvent>()
  for (const [index, event] of events.entries()) {
    if (event.limit === null || event.decision !== 'admitted') continue
    const cells = cellsNamed(contract, event.limit)
    if (cells.length === 0 || cells.some(({ window }) => window !== 'minute')) continue
    const name = `${event.key} ${event.limit}`
    const possible = bandsWithin(contract, {
      low: trailing.low[index]!,
      high: trailing.high[index]!,
    })
    const before = right.get(name)
    if (cells.some(({ band }) => possible.includes(band))) right.set(name, event)
    else if (before !== undefined && possible.length > 0) return [before, event]
  }
  return null
}
