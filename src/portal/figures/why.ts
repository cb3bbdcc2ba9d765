import { requestsOf, type Sums } from '../../measure/usage/sums.ts'

/** What a model used in a while; null is unknown. */
export interface Used {
  readonly model: string | null
  readonly requests: number | null
  readonly tokens: number | null
  readonly amount: number
}

/**
 * What made a day dear. A usual day is the mean of the middle half of the days with use, so requests, tokens in a request and what a
 * token cost, each beside those of a usual day, multiply to the amount beside that of a usual day.
 */
export interface Why {
  /** Null if they are not known of each of these days. */
  readonly requests: { readonly count: number; readonly usual: number } | null
  /** So many times the usual tokens in a request; null if tokens are not known. */
  readonly tokensTimes: number | null
  /** So many times the usual amount for a token; of a request if tokens are not known. */
  readonly priceTimes: number | null
  /** The model that most of another price is by, if other models were used and not other prices. */
  readonly model: string | null
  /** The model that had most of the day, if its own tokens cost more or less than they usually do. Null if another model is the cause. */
  readonly own: { readonly model: string; readonly times: number } | null
}

/** The figures of `usedOf`. */
export const usedFigures = ['requests', 'requestsUnknown', 'input', 'output'] as const

/** @param amount in the unit that a day is dear in */
export function usedOf(
  row: Pick<Sums, (typeof usedFigures)[number] | 'amounts'> & { readonly model: string | null },
  amount: string | null,
): Used {
  const { model, input, output } = row
  const requests = requestsOf(row)
  // A refund has no tokens, and none is missing.
  const none = requests === 0 ? 0 : null
  const tokens = input === null && output === null ? none : (input ?? 0) + (output ?? 0)
  return { model, requests, tokens, amount: Number(amount ?? 0) }
}

export function sumOf(all: readonly Used[]): Used {
  const sum = (of: (each: Used) => number | null) =>
    all.reduce<number | null>((so, each) => (so === null ? null : plusKnown(so, of(each))), 0)
  return {
    model: null,
    requests: sum(({ requests }) => requests),
    tokens: sum(({ tokens }) => tokens),
    amount: all.reduce((so, { amount }) => so + amount, 0),
  }
}

const plusKnown = (a: number, b: number | null) => (b === null ? null : a + b)

/** Why a day is dear, by models, beside those of usual days. */
export function whyOf(own: readonly Used[], usual: readonly Used[], usualDays: number): Why {
  const [day, days] = [sumOf(own), sumOf(usual)]
  if (!day.requests || !days.requests)
    return { requests: null, tokensTimes: null, priceTimes: null, model: null, own: null }
  const requests = { count: day.requests, usual: days.requests / usualDays }
  if (!day.tokens || !days.tokens) {
    const priceTimes = day.amount / day.requests / (days.amount / days.requests)
    return { requests, tokensTimes: null, priceTimes, model: null, own: null }
  }
  const priceTimes = day.amount / day.tokens / (days.amount / days.tokens)
  const model = modelOf(own, usual, priceTimes)
  return {
    requests,
    tokensTimes: day.tokens / day.requests / (days.tokens / days.requests),
    priceTimes,
    model,
    own: model === null ? ownPriceOf(own, usual, day.amount) : null,
  }
}

const byModel = (all: readonly Used[], model: string | null) =>
  sumOf(all.filter((each) => each.model === model))

/** The model with more than half of an amount, and how many times its usual cost a token of it had. */
function ownPriceOf(own: readonly Used[], usual: readonly Used[], amount: number): Why['own'] {
  const most = own.find((each) => each.amount > amount / 2)
  if (!most?.model || !most.tokens) return null
  const before = byModel(usual, most.model)
  return before.tokens && before.amount > 0
    ? { model: most.model, times: most.amount / most.tokens / (before.amount / before.tokens) }
    : null
}

/**
 * The model by which a token cost more or less than usual: if each model had cost what it usually does, the day would still have at
 * least half of the difference. A model that is not used otherwise has its own price.
 */
function modelOf(own: readonly Used[], usual: readonly Used[], times: number): string | null {
  const [day, days] = [sumOf(own), sumOf(usual)]
  const expected = own.reduce((sum, { model, tokens, amount }) => {
    const before = byModel(usual, model)
    return sum + (before.tokens ? (before.amount / before.tokens) * tokens! : amount)
  }, 0)
  const mix = expected / day.tokens! / (days.amount / days.tokens!)
  if (mix <= 0 || Math.log(mix) / Math.log(times) < 0.5) return null
  const more = ({ model, tokens }: Used) =>
    tokens! / day.tokens! - byModel(usual, model).tokens! / days.tokens!
  const [most] = own.toSorted((a, b) => more(b) - more(a))
  return most?.model ?? null
}
