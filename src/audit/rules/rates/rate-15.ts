import type { Contract } from '../../../contract/contract.ts'
import { longestNamedUs } from '../../../limits/band.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { fail, inconclusive, notObserved, pass } from '../../verdict.ts'
import { agreement, continuityOf, mostForgotten, type Switch } from './continuity.ts'
import { witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate15 = rateRule({
  id: 'RATE-15',
  title: 'Both generation endpoints share one counter for each key',
  severity: 'derived',
  needs: ['active', 'quiescence'],
  promised: ['bands', 'headers.rate_remaining'],
  explain: `If a key alternates between chat and messages, one request after the other, the used count must
continue from the last response of either endpoint, not from that of the same endpoint. The rule fails if
three responses continue from their own endpoint and none from the other, because two counters admit
twice the limit. While time passes, a single counter may rise by less. So these three must have risen by
more than one over the other endpoint's count, or must be lower by more than a bucket regains and a log
forgets meanwhile. It passes if more responses continue from the other endpoint than from their own, and fewer
than three from their own.`,
  decide({ byKey }, evidence) {
    let [own, shared] = [0, 0]
    let firstOwn: readonly Switch[] = []
    let first: Switch | undefined
    for (const events of byKey.values()) {
      const ofKey = continuityOf(events, ({ endpoint }) => endpoint, false)
      own += ofKey.own.length
      shared += ofKey.shared.length
      firstOwn = [...firstOwn, ...ofKey.own.slice(0, agreement)].slice(0, agreement)
      first ??= apartIn(events, ofKey.own, evidence.contract)[0]
    }
    const observations = own + shared
    if (observations === 0) return notObserved('one key on chat and messages in turn')
    if (first !== undefined && shared === 0)
      return fail(observations, {
        expected: `${first.before.remaining === 0 ? 'a rejection' : `${first.before.remaining! - 1} remaining`} after ${first.before.remaining}`,
        observed: `${first.after.remaining}: each endpoint counts for itself, ${own} times`,
        witnesses: [
          witnessOf(first.before, `${first.before.endpoint}: ${first.before.remaining} remaining`),
          witnessOf(first.after, `${first.after.endpoint}: ${first.after.remaining} remaining`),
        ],
      })
    if (own >= agreement || own >= shared)
      return inconclusive(
        observations,
        `${own} counts went on from their own endpoint, ${shared} from the other`,
        firstOwn.map(({ after }) => witnessOf(after, 'goes on alone')),
      )
    return pass(observations)
  },
})

/**
 * Responses of one key that no single counter explains: as many as must agree, or none. Each continues its own endpoint's count, and
 * not that of the response right before it (`before`), which is of the other endpoint:
 *
 *     chat       used 3             used 4  = after       one counter would be at 10: it has forgotten 6
 *     messages           used 9             = before
 *
 * One counter never runs ahead: had `after` used 12, `forgotten` would be -2. It may fall behind, because a bucket regains and
 * a log drops its oldest requests, so several falls in a row must together be more than that.
 *
 * @param own responses that continue their own endpoint's count
 */
function apartIn(
  requests: readonly LimitedRequest[],
  own: readonly Switch[],
  contract: Contract,
): readonly Switch[] {
  const ahead = own.filter(({ forgotten }) => forgotten < 0)
  if (ahead.length >= agreement) return ahead.slice(0, agreement)
  const behind = own.filter(({ forgotten }) => forgotten > 0)
  for (let end = agreement; end <= behind.length; end++) {
    const inARow = behind.slice(end - agreement, end)
    if (forgetTooMuch(requests, inARow, contract)) return inARow
  }
  return []
}

/** Whether one counter cannot have forgotten so much from the first of these responses to the last. False if their limit changes or is of no window. */
function forgetTooMuch(
  requests: readonly LimitedRequest[],
  falls: readonly Switch[],
  contract: Contract,
): boolean {
  const [{ before: first }, { after: last }] = [falls[0]!, falls.at(-1)!]
  const windowUs = longestNamedUs(contract, last.limit!)
  if (windowUs === null || falls.some(({ after }) => after.limit !== last.limit)) return false
  const forgotten = falls.reduce((sum, fall) => sum + fall.forgotten, 0)
  return forgotten > mostForgotten(requests, first, last, windowUs)
}
