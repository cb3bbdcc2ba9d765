import type { JsonObject } from '../user/json.ts'
import {
  type Field,
  fieldsOf,
  numbersNamed,
  ofCredits,
  ofTheWhole,
  spent,
  unreadableNamed,
} from './fields.ts'

/** What an answer of the credits endpoint says. Its field names are open (gap G-09): words in them identify them at any depth. */
export interface SaidCredits {
  /** Null if several numbers fit. */
  readonly granted: number | null
  readonly expired: number | null
  /** Over all time. */
  readonly consumed: number | null
  /** In the requested range, if the answer reports it separately. */
  readonly consumedInRange: number | null
  readonly remaining: number | null
  /** What stands where the remaining credits should be, and is no number: `1,499`; null without one. */
  readonly unreadable: string | null
  readonly requests: number | null
  readonly averageTokens: number | null
}

/** Averages of a part of the tokens, and requests that failed. */
const ofAPart = /input|prompt|output|completion|cache|reason|fail|reject|error|refus/

export function saidIn(fields: readonly Field[]): SaidCredits {
  const whole = ofTheWhole(fields)
  const amounts = ofCredits(whole)
  const credits = (...patterns: readonly RegExp[]) => numbersNamed(amounts, ...patterns)[0] ?? null
  const ofAll = whole.filter(({ name }) => !ofAPart.test(name))
  const number = (...patterns: readonly RegExp[]) => numbersNamed(ofAll, ...patterns)[0] ?? null
  const amountsLeft = perhapsLeftIn(fields)
  const remaining = leftIn(amountsLeft)
  const grants = numbersNamed(amounts, /granted/, /total_credits/)
  return {
    granted: grants.length === 1 ? grants[0]! : null,
    expired: credits(/expired/, /lapsed/),
    consumed: credits(/total_(?:consumed|used|spent|usage)/, ...spent),
    consumedInRange: credits(/^(?:consumed|used|spent|usage)$/, ...spent),
    remaining,
    unreadable: remaining === null ? unreadableNamed(amountsLeft, ...perhapsLeft) : null,
    requests: number(/^(?:total_)?requests$/, /^request_count$/, /total_requests/, /request_count/),
    averageTokens: number(
      /^(?:average|avg|mean)_(?:total_)?tokens(?:_per_request)?$/,
      /^tokens?_per_request$/,
      /(?:average|avg|mean).*token/,
      /tokens?_per_request/,
    ),
  }
}

/** The remaining credits of a body; null without such a number, or if several different numbers may be it. */
export const remainingOf = (body: JsonObject): number | null =>
  leftIn(perhapsLeftIn(fieldsOf(body)))

/** The same of the body of another endpoint, which may also tell how many seconds, attempts or places in a queue are left. */
export const remainingBeside = (body: JsonObject): number | null =>
  leftIn(perhapsLeftIn(fieldsOf(body)).filter(isSurelyLeft))

/**
 * The same, or the likeliest of several: for who looks how it moves. The whole comes before lines of lists, and a name before the name
 * of the object around it.
 */
export function likelyRemaining(body: JsonObject): number | null {
  for (const which of ['without lines', 'and lines'] as const) {
    const amounts = perhapsLeftIn(fieldsOf(body, which))
    const grouped = amounts.filter(({ within }) => perhapsLeft.some((word) => word.test(within)))
    const [likeliest] = [
      ...numbersNamed(amounts, left, ...perhapsLeft),
      ...numbersNamed(grouped, /./),
    ]
    if (likeliest !== undefined) return likeliest
  }
  return null
}

/** Names of what is left, and then names that contain such a word. */
const left =
  /^(?:(?:total|current|available)_)?(?:credits?_)?(?:remaining|balance|left)(?:_credits?)?$/
const perhapsLeft = [/remaining/, /balance/, /left/]
/** Amounts beside what is left: of another time, of a part, or a bound. */
const notLeft =
  /threshold|opening|closing|start|initial|previous|pending|reserved|held|min(?:imum)?(?:_|$)|low_|alert|overdraft/

/** Objects that may hold counts of requests or tokens, and those that do: a `token` may also be a key. */
const ofPerhapsCounts = /(?:^|[ _])(?:request|token)s?(?=[ _]|$)/
const ofCounts =
  /(?:^|[ _])(?:(?:requests|tokens)(?=[ _]|$)|(?:request|token)_(?:count|usage|quota|budget|allowance))/
/** Names that say themselves that they are amounts of credits or money. */
const ofMoney = /credit|money|dollar|(?:^|_)(?:usd|eur|cny|cash|funds?)(?:_|$)/

const perhapsLeftIn = (fields: readonly Field[]): readonly Field[] =>
  ofCredits(ofTheWhole(fields)).filter(
    ({ name, within }) =>
      !notLeft.test(name) &&
      (!ofPerhapsCounts.test(within) ||
        ofMoney.test(name) ||
        (/balance/.test(name) && !ofCounts.test(within))),
  )

const ofBalance = /(?:^|[ _])balance(?:_|$)/

/** Whether names say that the amount is credits, money or a balance. A bare `remaining` says so outside of other objects. */
const isSurelyLeft = ({ name, within }: Field): boolean =>
  ofMoney.test(name) ||
  ofBalance.test(name) ||
  (left.test(name) && (ofMoney.test(within) || ofBalance.test(within))) ||
  (name === 'remaining' && within === '')

/** What is left; null if several different amounts may be it. */
function leftIn(amounts: readonly Field[]): number | null {
  const [named] = numbersNamed(amounts, left)
  if (named !== undefined) return named
  const others = new Set(numbersNamed(amounts, ...perhapsLeft))
  return others.size === 1 ? [...others][0]! : null
}
