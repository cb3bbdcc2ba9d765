import { windowsOf } from '../../../contract/contract.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { fail, notObserved, passed, type Verdict, withNote } from '../../verdict.ts'
import { witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { type RejectionsOfKey, type ResetOf, readingsOf, rejectionsOfKeys } from './waiting.ts'

export const rate13 = rateRule({
  id: 'RATE-13',
  title: 'Requests are admitted again at X-RateLimit-Reset, and with fixed windows not before',
  needs: ['active', 'quiescence'],
  promised: ['bands', 'headers.rate_reset'],
  explain: `Reads the reset of a rejection in the unit that fits the deployment (RATE-12). If two units fit,
the reset must be wrong in both; an epoch must be wrong by every clock that RATE-12 allows. After a rejection in a window that is not
the minute, of several, only a reset beside a limit says which window it is of (gap G-20). Not too far:
one window after the last counted request, every limiter has forgotten all requests. Not too early: the
next attempt after the reset (with W/N and 1 % of the window as tolerance), if it is alone, must not be
rejected. If a limiter that counts rejections explains the record, the time by which they may have moved
the reset is also tolerated. Not too late: if only fixed windows explain the record, or if
X-RateLimit-Remaining jumps from none to more than any other limiter regains meanwhile, no request may
be admitted between the rejection and its reset. For other limiters, a reset may name the next token or
the full refill, so an early admission decides nothing.`,
  decide(history, evidence) {
    const { waits, note } = rejectionsOfKeys(history, evidence)
    // If the values fit two units, each must be wrong.
    const verdicts = readingsOf(history, evidence).map((resetOf) => judge(waits, resetOf))
    const held = verdicts.find(({ verdict }) => verdict === 'pass')
    if (held !== undefined) return withNote(held, note)
    if (verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === 'fail'))
      return verdicts[0]!
    return notObserved(
      'a rejection whose reset has a unit (RATE-12), and one request after that instant',
    )
  },
})

function judge(waits: readonly RejectionsOfKey[], resetOf: ResetOf): Verdict {
  let observations = 0
  for (const wait of waits) {
    const { requests, windowUs, limit, window, band } = wait.trace
    // Without a limit beside it, a reset may be that of the minute, whichever window was full (gap G-20).
    const mayBeOther = window !== 'minute' && windowsOf(band).length > 1
    let newestUs = Number.NEGATIVE_INFINITY
    for (const [index, rejection] of requests.entries()) {
      if (rejection.decision !== 'rejected') newestUs = Math.max(newestUs, rejection.closedUs)
      const isOther = rejection.decision !== 'rejected' || (mayBeOther && rejection.limit === null)
      const instant = isOther ? null : resetOf(rejection)
      if (instant === null) continue
      const shown = witnessOf(rejection, `429, reset ${rejection.reset}`)
      const forgottenBy = () =>
        wait.mayCountRejections()
          ? rejection.untilUs + windowUs * (1 + (index + 1) / limit)
          : newestUs + windowUs
      const soonestUs = Math.min(newestUs, rejection.untilUs) + windowUs
      const isLate = (byUs: number) => instant.lowUs > byUs + windowUs * 0.01
      if (Number.isFinite(newestUs) && isLate(soonestUs) && isLate(forgottenBy()))
        return fail(observations + 1, {
          expected: 'a reset no later than a window after the last request that counted',
          observed: `${Math.round((instant.lowUs - forgottenBy()) / 1e3)} ms later than that`,
          witnesses: [shown],
        })
      const next = firstAfter(requests, index, instant.highUs + wait.grainUs)
      const judged =
        next !== null &&
        next.fromUs > instant.highUs + wait.spareUs(index) &&
        wait.isAlone(index, next)
      if (judged) observations++
      if (judged && next.decision === 'rejected')
        return fail(observations, {
          expected: `admitted ${Math.round((next.fromUs - instant.highUs) / 1e3)} ms after the reset`,
          observed: '429 again, with no generation sent since',
          witnesses: [shown, witnessOf(next, '429 after that instant')],
        })
      const early = wait.nextAdmitted(index)
      if (early === null || early.untilUs >= instant.lowUs - windowUs * 0.01) continue
      const isFixed = early.untilUs < instant.lowUs - wait.grainUs && wait.hasFixedWindows()
      if (!isFixed && !wait.beganAnew(index, early)) continue
      return fail(observations + 1, {
        expected: 'a fixed window stays full until its reset',
        observed: `admitted ${Math.round((instant.lowUs - early.untilUs) / 1e3)} ms before it`,
        witnesses: [
          shown,
          witnessOf(early, `admitted before that instant, ${early.remaining} remaining`),
        ],
      })
    }
  }
  return passed(observations, 'a rejection, and one request after its reset')
}

/** The next generation, if it came after the instant, alone, and with nothing in flight. */
function firstAfter(
  requests: readonly LimitedRequest[],
  index: number,
  instantUs: number,
): LimitedRequest | null {
  let at = index + 1
  while (requests[at]?.decision === 'read') at++
  const next = requests[at]
  if (next === undefined || next.fromUs <= instantUs) return null
  const alone = (requests[at + 1]?.fromUs ?? Infinity) >= next.untilUs
  const before = requests.slice(Math.max(0, index - inFlightLookback), at)
  const settled = before.every(({ closedUs }) => closedUs <= instantUs)
  const spoke = next.decision === 'rejected' || next.decision === 'admitted'
  return alone && settled && spoke ? next : null
}

/** Earlier attempts to check for requests still in flight. */
const inFlightLookback = 100
