import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { agreement, continuityOf, type Switch } from './continuity.ts'
import { type RateHistory, witnessOf } from './history.ts'
import { misfiledIn } from './misfiled.ts'
import { rateRule } from './rate-rule.ts'

export const rate14 = rateRule({
  id: 'RATE-14',
  title: 'Each key has its own limit',
  needs: ['active', 'quiescence'],
  promised: ['bands', 'headers.rate_remaining'],
  explain: `Two tests. If a key is admitted while another is rejected, before and after,
each has its own limit. And if keys alternate, the used count continues from the key's
own last response, not from the other key's. It fails if three responses continue from one other key and none
from the own one, where the own count would have had to rise by more than one. It also fails if a key's
count rises with the other's requests three times, and as often does not rise with its own. A new key that
inherits its account's count once (gap G-36) continues from its own responses afterwards.`,
  decide({ events, byKey }, evidence) {
    if (byKey.size < 2) return notObserved('traffic of two keys')
    const { own, shared } = continuityOf(events, ({ key }) => key, true)
    const free = admittedWhileAnotherIsRejected(events)
    const observations = own.length + shared.length + free
    const pooled = pooledIn({ own, shared }).find((switches) => switches.length >= agreement)
    if (pooled !== undefined) {
      const { before, after } = pooled[0]!
      return fail(observations, {
        expected: 'the number used goes on from the last answer of the same key',
        observed: `it goes on from another key of ${before.account === after.account ? 'the same' : 'another'} account, ${pooled.length} times`,
        witnesses: [
          witnessOf(before, `${before.remaining} of ${before.limit}, one key`),
          ...pooled
            .slice(0, agreement)
            .map(({ after }) =>
              witnessOf(after, `${after.remaining} of ${after.limit}, another key`),
            ),
        ],
      })
    }
    const [misfiled, ...more] = misfiledIn({ events, byKey }, evidence.contract) ?? []
    if (misfiled !== undefined) {
      const { before, after, others } = misfiled
      return fail(observations, {
        expected: `${before.remaining! - 1} of ${before.limit} remaining after ${before.remaining}`,
        observed: `${after.remaining}, as if the ${others} requests of another key in between counted here, ${more.length + 1} times`,
        witnesses: [
          witnessOf(before, `${before.remaining} of ${before.limit}`),
          witnessOf(after, `${after.remaining} of ${after.limit}, the next of the same key`),
        ],
      })
    }
    if (own.length + free > 0)
      return pass(observations, {
        note: `${free} admissions while another key was rejected, ${own.length} counts that went on by themselves`,
      })
    if (shared.length > 0)
      return inconclusive(
        observations,
        'some counts went on from another key, too few to believe it',
        shared.slice(0, agreement).map(({ after }) => witnessOf(after, 'goes on')),
      )
    return notObserved('one key up to a rejection while another is used, or two keys in turn')
  },
})

/** For each pair of keys, counts that went on from the other key, where none went on from the own one. */
function pooledIn({ own, shared }: Pick<ReturnType<typeof continuityOf>, 'own' | 'shared'>) {
  // The key's own count may have fallen to that number by forgetting.
  const ahead = shared.filter(({ forgotten }) => forgotten < 0)
  const ownOfPair = Map.groupBy(own, pairOf)
  return [...Map.groupBy(ahead, pairOf)].flatMap(([pair, switches]) =>
    ownOfPair.has(pair) ? [] : [switches],
  )
}

/**
 * A failure becomes inconclusive, and names RATE-14, if counts go on from another key's answers: an early rejection then proves
 * nothing. Keys of one account may share counts (gap G-36), which the rules weigh.
 */
export function unlessPooled(
  { events, byKey }: Pick<RateHistory, 'events' | 'byKey'>,
  verdict: Verdict,
): Verdict {
  if (verdict.verdict !== 'fail' || byKey.size < 2) return verdict
  const [pooled] = pooledIn(continuityOf(events, ({ key }) => key, true))
  const [first] = pooled ?? []
  if (pooled === undefined || first === undefined) return verdict
  const { observations, observed, witnesses } = verdict
  return inconclusive(
    observations,
    `${observed}; but the counts of one key go on from the answers of another, ${pooled.length} ${pooled.length === 1 ? 'time' : 'times'}, so requests of other keys may have used it up (RATE-14)`,
    [...witnesses, witnessOf(first.after, 'goes on from another key')],
  )
}

/** Two keys in any order. */
const pairOf = ({ before, after }: Switch): string => [before.key, after.key].sort().join(' ')

/** Admissions of a key between two rejections of another key that had none in between. */
function admittedWhileAnotherIsRejected(requests: Iterable<LimitedRequest>): number {
  const rejectedAt = new Map<string, number>()
  const waiting = new Map<string, number>()
  let free = 0
  for (const request of requests) {
    if (request.decision === 'rejected') {
      free += waiting.get(request.key) ?? 0
      waiting.set(request.key, 0)
      rejectedAt.set(request.key, request.untilUs)
    } else if (request.decision === 'admitted') {
      rejectedAt.delete(request.key)
      waiting.delete(request.key)
      for (const [key, atUs] of rejectedAt) {
        if (request.fromUs >= atUs) waiting.set(key, (waiting.get(key) ?? 0) + 1)
      }
    }
  }
  return free
}
