import { fail, notObserved, pass } from '../../verdict.ts'
import { earlier } from './event-order.ts'
import { type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate08 = rateRule({
  id: 'RATE-08',
  title: 'X-RateLimit-Remaining is a whole number from 0 to X-RateLimit-Limit',
  promised: ['headers.rate_limit', 'headers.rate_remaining'],
  explain: `Checks every response with both headers, of any status. RATE-07 checks a header that is
missing or not a number.`,
  decide({ byAccount }, evidence) {
    let [shown, wrong] = [0, 0]
    let first: RateEvent | undefined
    for (const events of byAccount.values()) {
      for (const event of events) {
        const { limit, remaining } = event
        if (limit === null || remaining === null) continue
        shown++
        if (Number.isInteger(remaining) && remaining >= 0 && remaining <= limit) continue
        wrong++
        first = earlier(first, event)
      }
    }
    if (shown === 0)
      return notObserved(
        `an answer with ${evidence.contract.headers.rateLimit[0]} and ${evidence.contract.headers.rateRemaining[0]}`,
      )
    if (first === undefined) return pass(shown)
    return fail(shown, {
      expected: `a whole number from 0 to ${first.limit}`,
      observed: `${first.remaining}`,
      witnesses: [witnessOf(first, `remaining ${first.remaining} of ${first.limit}`)],
      ...(wrong > 1 ? { note: `${wrong} of ${shown} answers do so` } : {}),
    })
  },
})
