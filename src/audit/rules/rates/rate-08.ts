import { witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate08 = rateRule({
  id: 'RATE-08',
  title: 'X-RateLimit-Remaining is a whole number from 0 to X-RateLimit-Limit',
  severity: 'must',
  needs: ['passive'],
  promised: ['headers.rate_limit', 'headers.rate_remaining'],
  explain: `Checks every response with both headers, of any status. RATE-07 checks a header that is
missing or not a number.`,
  decide({ events }, evidence) {
    const shown = events.filter(({ limit, remaining }) => limit !== null && remaining !== null)
    if (shown.length === 0) {
      return {
        verdict: 'not-observed',
        requires: `an answer with ${evidence.contract.headers.rateLimit[0]} and ${evidence.contract.headers.rateRemaining[0]}`,
      }
    }
    const wrong = shown.filter(
      ({ limit, remaining }) =>
        !Number.isInteger(remaining) || remaining! < 0 || remaining! > limit!,
    )
    const [first] = wrong
    if (first === undefined) return { verdict: 'pass', observations: shown.length }
    return {
      verdict: 'fail',
      observations: shown.length,
      expected: `a whole number from 0 to ${first.limit}`,
      observed: `${first.remaining}`,
      witnesses: [witnessOf(first, `remaining ${first.remaining} of ${first.limit}`)],
      ...(wrong.length > 1 ? { note: `${wrong.length} of ${shown.length} answers do so` } : {}),
    }
  },
})
