import { add, compare, type Rational, subtract, zero } from '../../../money/rational.ts'
import { endedAs } from '../../../price/judge/ended-words.ts'
import { boundsOfLeft } from '../../../price/judge/left-answer.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { computedBounds } from './request-charge.ts'
import { type ReadingStretch, wrongOf } from './stretches.ts'

interface CostBounds {
  readonly low: Rational
  readonly high: Rational | null
}

/** What an answer may cost whose client left, if it was charged in a way that the contract does not promise; null: nobody knows. */
type ChargedLeft = (request: PricedRequest, judge: PriceJudge) => CostBounds | null

const ways: readonly (readonly [words: string, charged: ChargedLeft])[] = [
  [
    'charged for max_tokens where the client left, as by a deposit that is kept',
    (request, judge) => mostOfLeft(request, judge),
  ],
  [`not charged: ${endedAs('abort')}`, () => ({ low: zero, high: zero })],
]

/**
 * `: charged for max_tokens where the client left …`, if each wrong sum is the cost of its other requests, and the most that those may
 * cost that the client left; the same if those cost nothing. Empty otherwise.
 */
export function chargedOfLeft(stretches: readonly ReadingStretch[], judge: PriceJudge): string {
  const all = wrongOf(stretches)
  const found = ways.find(([, charged]) => all.every((each) => isGivenBy(each, charged, judge)))
  return all.length > 0 && found !== undefined ? `: ${found[0]}` : ''
}

function isGivenBy(
  { taken, slack, requests }: ReadingStretch,
  charged: ChargedLeft,
  judge: PriceJudge,
): boolean {
  const all = requests()
  let [low, high] = [zero, zero] as [Rational, Rational]
  for (const request of all) {
    const bounds = isLeft(request) ? charged(request, judge) : computedBounds(request, judge)
    if (bounds === null || bounds.high === null) return false
    low = add(low, bounds.low)
    high = add(high, bounds.high)
  }
  return (
    all.some(isLeft) &&
    compare(taken, subtract(low, slack)) >= 0 &&
    compare(taken, add(high, slack)) <= 0
  )
}

const isLeft = ({ outcomes: [first] }: PricedRequest) => first === 'abort'

/** What an answer of as many tokens as the request allows costs, by the shortest and the longest prompt that it may have. */
function mostOfLeft(request: PricedRequest, judge: PriceJudge): CostBounds | null {
  const { requestedModel, maxOutputTokens, startMs, serviceTier } = request
  const model = judge.priceOf(requestedModel)
  if (model === null || maxOutputTokens === null) return null
  const { choices, priceOf } = judge
  const outcome = 'abort'
  const inFull = { ...model, charged: { ...model.charged, [outcome]: 'full' as const } }
  const bounds = boundsOfLeft(
    { ...request, receivedEvents: maxOutputTokens },
    inFull,
    { atMs: startMs, serviceTier, choices, outcome, counts: {}, priceOf },
    { ...judge, twinBytesOf: () => null },
  )
  return typeof bounds === 'string' ? null : { low: bounds[0], high: bounds[1] }
}
