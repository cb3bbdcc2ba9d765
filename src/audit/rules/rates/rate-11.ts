import { cellsNamed } from '../../../limits/band.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { otherWindowMayRefuse, pacingOf } from '../../../limits/other-windows.ts'
import { fail, passed } from '../../verdict.ts'
import { witnessOf } from './history.ts'
import { unlessPooled } from './rate-14.ts'
import { rateRule } from './rate-rule.ts'

export const rate11 = rateRule({
  id: 'RATE-11',
  title: 'While requests remain, the next one is not rejected',
  severity: 'advice',
  needs: ['passive', 'quiescence'],
  promised: ['bands', 'headers.rate_remaining'],
  explain: `Looks at two attempts of one key, the second completely after the first and alone. If the first
showed remaining requests, the second must not be a 429 of the same limit. No standard guarantees this (a
service may shed load), so it is advice. If an hour or a day may be full, or may pace requests,
nothing is decided. If counts of the key go on from another key (RATE-14), it is inconclusive.`,
  decide(history, { contract }) {
    const { byAccount } = history
    let observations = 0
    for (const events of byAccount.values()) {
      const pacing = pacingOf(events)
      let before: LimitedRequest | null = null
      let busyUntilUs = -Infinity
      for (const [index, after] of events.entries()) {
        const alone =
          after.fromUs >= busyUntilUs && (events[index + 1]?.fromUs ?? Infinity) >= after.untilUs
        busyUntilUs = Math.max(busyUntilUs, after.closedUs)
        if (alone && before !== null && isPromise(before, after)) {
          const cells = cellsNamed(contract, before.limit!)
          const otherWindow =
            cells.length === 0 ||
            cells.some(({ band, window }) =>
              otherWindowMayRefuse(band, window, events, index, pacing),
            )
          if (!otherWindow) observations++
          if (!otherWindow && after.decision === 'rejected')
            return unlessPooled(
              history,
              fail(observations, {
                expected: `no rejection with ${before.remaining} remaining`,
                observed: '429 on the next request',
                witnesses: [
                  witnessOf(before, `remaining ${before.remaining} of ${before.limit}`),
                  witnessOf(after, '429'),
                ],
              }),
            )
        }
        before = alone && after.limit !== null && after.remaining !== null ? after : null
      }
    }
    return passed(observations, 'two requests of one key, one after the other')
  },
})

/** Whether the first response allowed the second one, of the same key. */
const isPromise = (before: LimitedRequest, after: LimitedRequest): boolean =>
  before.key === after.key && before.limit === after.limit && before.remaining! > 0
