import { cellsNamed } from '../../../limits/band.ts'
import { flightsOf, limitsInFlight } from '../../../limits/in-flight.ts'
import { otherWindowMayRefuse, pacingOf } from '../../../limits/other-windows.ts'
import { once } from '../../../user/once.ts'
import { fail, inconclusive, passed } from '../../verdict.ts'
import { type RateEvent, recordBegan, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate10 = rateRule({
  id: 'RATE-10',
  title: 'A rejection shows no remaining requests',
  promised: ['bands', 'headers.rate_remaining'],
  explain: `A 429 shows X-RateLimit-Remaining 0 for the full window. The headers show only one window, which
may be another one (gap G-20): a rejection decides nothing if one of the other two windows may have been
full or may pace requests, counting every recorded attempt of the account. Requests of the key before
the record are assumed not to have filled an hour or a day. A 429 for insufficient credits or for overload, by the contract or by
its own words, is no rejection; nor is one by a limit of tokens, or one of an account that shows such a limit unless it shows plenty
of tokens. A rejection with the promised number in flight decides nothing. If a number in flight that nothing promises explains every
decision, the rule is inconclusive.`,
  decide({ byAccount }, { contract }) {
    let observations = 0
    let undecided: RateEvent | null = null
    for (const events of byAccount.values()) {
      const inFlight = once(() => flightsOf(events))
      const unpromised = once(() => limitsInFlight(events))
      const pacing = pacingOf(events)
      for (const [index, event] of events.entries()) {
        const { decision, limit, remaining } = event
        if (decision !== 'rejected' || limit === null || remaining === null) continue
        const cells = cellsNamed(contract, limit)
        const decides =
          cells.length > 0 &&
          cells.every(
            ({ band, window }) =>
              !otherWindowMayRefuse(band, window, events, index, pacing) &&
              (window === 'minute' || !recordBegan(events, event, 'minute')) &&
              (band.inFlight === undefined || inFlight().atMost(event) < band.inFlight),
          )
        if (remaining !== 0 && !decides) continue
        observations++
        if (remaining === 0) continue
        if (unpromised() !== null) {
          undecided ??= event
          continue
        }
        return fail(observations, {
          expected: 'remaining 0 on a 429',
          observed: `remaining ${remaining} of ${limit}`,
          witnesses: [witnessOf(event, `429 with remaining ${remaining} of ${limit}`)],
        })
      }
    }
    if (undecided !== null) {
      const { remaining, limit } = undecided
      return inconclusive(
        observations,
        'a limit on requests in flight, which the contract does not promise, explains every rejection: a request that is sent alone after a rejection tells',
        [witnessOf(undecided, `429 with remaining ${remaining} of ${limit}`)],
      )
    }
    return passed(observations, 'a rejection (429) with rate-limit headers')
  },
})
