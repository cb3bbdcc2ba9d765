import { requestsOf, type Sums } from '../../measure/usage/sums.ts'

/** What a model used in some requests; null is unknown. */
export interface Used {
  readonly model: string | null
  readonly requests: number | null
  readonly tokens: number | null
  readonly output: number | null
  readonly cached: number | null
  readonly amount: number
}

/** What is other in the requests that made a day dear, and how much of its amount beyond a usual day that is. */
export type WhyPart = { readonly amount: number } & (
  | { readonly of: 'requests'; readonly now: number; readonly usual: number }
  /** Tokens in a request. @property mostly the kind that most of the difference is of; null if it is of both, or not known */
  | {
      readonly of: 'tokens'
      readonly now: number
      readonly usual: number
      readonly mostly: 'input' | 'output' | null
    }
  /** @property model whose share of the tokens rose most, and the one whose share fell most; null is unknown, none, or not shown */
  | { readonly of: 'model'; readonly model: string | null; readonly instead: string | null }
  /** Shares of the tokens, between 0 and 1. */
  | { readonly of: 'output' | 'cache'; readonly share: number; readonly usual: number }
  /** The amount for a token of a model, or for a request if tokens are not known. */
  | {
      readonly of: 'price' | 'request'
      readonly now: number
      readonly usual: number
      readonly model: string | null
    }
)

/** The figures of `usedOf`. */
export const usedFigures = ['requests', 'requestsUnknown', 'input', 'output', 'cached'] as const

/** @param amount in the unit that a day is dear in */
export function usedOf(
  row: Pick<Sums, (typeof usedFigures)[number] | 'amounts'> & { readonly model: string | null },
  amount: string | null,
): Used {
  const { model, input, output, cached } = row
  const requests = requestsOf(row)
  // A refund has no tokens, and none is missing.
  const none = requests === 0 ? 0 : null
  const tokens = input === null && output === null ? none : (input ?? 0) + (output ?? 0)
  return {
    ...{ model, requests, tokens, amount: Number(amount ?? 0) },
    ...{ output: output ?? none, cached: cached ?? none },
  }
}

export function sumOf(all: readonly Used[]): Used {
  const sum = (of: (each: Used) => number | null) =>
    all.reduce<number | null>((so, each) => (so === null ? null : plusKnown(so, of(each))), 0)
  return {
    model: null,
    requests: sum(({ requests }) => requests),
    tokens: sum(({ tokens }) => tokens),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
    amount: all.reduce((so, { amount }) => so + amount, 0),
  }
}

const plusKnown = (a: number, b: number | null) => (b === null ? null : a + b)

const byModel = (all: readonly Used[], model: string | null) =>
  sumOf(all.filter((each) => each.model === model))

/**
 * Why some requests cost more than usual ones: first how many more they are, at what one usually costs; then how long they are, at what a
 * token usually costs; then their models; and what is left is the price of a token. These add up to what the requests cost beyond as
 * many usual ones as there usually are. Empty if their number is not known.
 *
 * @param own the requests, by model
 * @param usual usual requests, by model
 * @param usualCount how many there usually are in the place of these
 */
export function whyOf(
  own: readonly Used[],
  usual: readonly Used[],
  usualCount: number,
): readonly WhyPart[] {
  const [some, before] = [sumOf(own), sumOf(usual)]
  if (!some.requests || !before.requests || before.amount <= 0) return []
  const hasTokens = !!some.tokens && !!before.tokens
  /** What is paid for: tokens, or requests if tokens are not known. */
  const size = (each: Used) => (hasTokens ? each.tokens : each.requests) ?? 0
  const length = size(before) / before.requests
  const price = before.amount / size(before)
  const ofModels = own.map((each) => {
    const same = byModel(usual, each.model)
    // A model that is not used otherwise has its own price.
    const isKnown = size(same) > 0 && same.amount > 0 && (size(each) > 0 || hasRequests(each, same))
    const expected = isKnown ? (same.amount / size(same)) * size(each) : each.amount
    return { each, same, expected, beyond: each.amount - expected }
  })
  const expected = ofModels.reduce((sum, model) => sum + model.expected, 0)
  const [most] = ofModels.toSorted((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond))
  const models = [...new Set([...own, ...usual].map(({ model }) => model))].map((model) => ({
    model,
    rise: size(byModel(own, model)) / size(some) - size(byModel(usual, model)) / size(before),
  }))
  const byRise = models.toSorted((a, b) => b.rise - a.rise)
  const [risen, fallen] = [byRise[0]!, byRise.at(-1)!]
  const ofMix = expected - size(some) * price
  const ofPrice = some.amount - expected
  // What models usually cost says nothing if these requests cost as much less.
  const [less, more] = [ofMix, ofPrice].map(Math.abs).toSorted((a, b) => a - b)
  const isCancelled = ofMix * ofPrice < 0 && less! > more! / 2
  const priced: readonly WhyPart[] = isCancelled
    ? [
        {
          ...{ of: hasTokens ? 'price' : 'request', model: null, amount: ofMix + ofPrice },
          ...{ now: some.amount / size(some), usual: price },
        },
      ]
    : [
        {
          ...{ of: 'model', model: risen.model, amount: ofMix },
          instead: fallen.rise < 0 ? fallen.model : null,
        },
        { ...priceOf(most!, hasTokens), amount: ofPrice },
      ]
  const parts: readonly WhyPart[] = [
    {
      ...{ of: 'requests', now: some.requests, usual: usualCount },
      amount: (some.requests - usualCount) * length * price,
    },
    {
      ...{ of: 'tokens', now: size(some) / some.requests, usual: length },
      mostly: mostlyOf(some, before),
      amount: (size(some) - some.requests * length) * price,
    },
    ...priced,
  ]
  return parts.toSorted((a, b) => b.amount - a.amount)
}

const hasRequests = (...all: readonly Used[]) => all.every(({ requests }) => (requests ?? 0) > 0)

/** So much of what requests are longer is most of it. */
const mostOfLength = 0.75

/** The kind of the tokens that requests have more than usual ones. */
function mostlyOf(some: Used, before: Used): 'input' | 'output' | null {
  const perRequest = ({ requests }: Used, tokens: number | null) =>
    tokens === null || !requests ? null : tokens / requests
  const more = (of: 'tokens' | 'output') => {
    const [now, usual] = [perRequest(some, some[of]), perRequest(before, before[of])]
    return now === null || usual === null ? null : now - usual
  }
  const [tokens, output] = [more('tokens'), more('output')]
  if (!tokens || output === null) return null
  const share = output / tokens
  return share >= mostOfLength ? 'output' : share <= 1 - mostOfLength ? 'input' : null
}

/** Shares that differ by less are usual ones. */
const leastShift = 0.1

/** Why the requests of a model cost more or less for a token than its usual ones: tokens of other kinds, else its price. */
function priceOf({ each, same }: { readonly each: Used; readonly same: Used }, hasTokens: boolean) {
  const size = (used: Used) => (hasTokens ? used.tokens : used.requests) ?? 0
  const { model } = each
  const [now, before] = [each.amount / size(each), same.amount / size(same)]
  if (!hasTokens) return { of: 'request' as const, now, usual: before, model }
  // Without a token, there is no price of one.
  if (size(each) === 0)
    return {
      ...{ of: 'request' as const, model },
      ...{ now: each.amount / each.requests!, usual: same.amount / same.requests! },
    }
  const sign = now < before ? -1 : 1
  const [output, cache] = [sharesOf('output', each, same), sharesOf('cached', each, same)]
  if (output !== null && sign * (output.share - output.usual) >= leastShift)
    return { of: 'output' as const, ...output }
  if (cache !== null && sign * (cache.usual - cache.share) >= leastShift)
    return { of: 'cache' as const, ...cache }
  return { of: 'price' as const, now, usual: before, model }
}

/** Shares of the tokens; null if one is not known. */
function sharesOf(of: 'output' | 'cached', own: Used, usual: Used) {
  if (own[of] === null || usual[of] === null) return null
  return { share: own[of] / own.tokens!, usual: usual[of] / usual.tokens! }
}
