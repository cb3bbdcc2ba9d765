import {
  absolute,
  add,
  compare,
  negate,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { firstReadings } from './explained-part.ts'
import { type Change, changesOf } from './stretches.ts'

/** So many values that are too high, and as many too low, are no payments. */
const fewest = 2

/**
 * `: the values are not those of one balance …`, if as much is missing in some changes as is too much in others, and the values go up
 * and down where nothing was given back: several workers keep a balance of their own, or values are later than the contract says.
 * Empty otherwise: a deposit, a lost refund or the use of another key make values too low and too high, too.
 */
export function unlikeValues(...from: Parameters<typeof changesOf>): string {
  const [readings, requests, ...of] = from
  for (const { all, unit } of changesOf(...firstReadings(readings, requests), ...of)) {
    const costs = all.map(({ high, low }) => high ?? low).reduce(add, zero)
    const beyond = (of: (change: (typeof all)[number]) => Rational | null) =>
      all.flatMap((change) => {
        const amount = of(change)
        return amount !== null && compare(amount, unit) > 0 ? [amount] : []
      })
    const more = beyond(({ taken, high }) => (high === null ? null : subtract(taken, high)))
    const less = beyond(({ taken, low }) => subtract(low, taken))
    const apart = absolute(subtract(more.reduce(add, zero), less.reduce(add, zero)))
    if (more.length < fewest || less.length < fewest || compare(apart, costs) > 0) continue
    if (!goUpAndDown(all, unit)) continue
    return `: the values are not those of one balance at one time, ${more.length} took too much and ${less.length} too little, and together they come near to the costs: several workers or regions each keep one, or values are later than evidence.balance.within says`
  }
  return ''
}

/** So many rises are looked at. */
const mostRises = 50

/** Whether values rise again and again where nothing can have been given back, or rise and fall while nothing runs. */
function goUpAndDown(all: readonly Change[], unit: Rational): boolean {
  const rises = all.filter(({ taken }) => compare(negate(taken), unit) > 0)
  const isIdle = ({ count }: Change) => count === 0
  const idleFalls = all.filter((each) => isIdle(each) && compare(each.taken, unit) > 0)
  if (idleFalls.length > 0 && rises.some(isIdle)) return true
  return rises.slice(0, mostRises).filter(givesNothingBack).length >= fewest
}

/** Whether no money that was held back, or refunded, makes the rise: the answers that show the two values are whole and were asked alike. */
function givesNothingBack({ first, last, requests }: Change): boolean {
  const all = requests()
  const own = [first.request, last.request]
  return (
    own.every((request) => all.includes(request)) &&
    all.every(isSuccess) &&
    own.every((request) => isAskedLike(request, first.request))
  )
}

/** A service holds as much for requests of about the same size that allow as many tokens. */
const aboutSame = 0.1

const isAskedLike = (a: PricedRequest, b: PricedRequest) =>
  a.maxOutputTokens === b.maxOutputTokens &&
  a.requestedModel === b.requestedModel &&
  (a.askedBytes === null ||
    b.askedBytes === null ||
    Math.abs(a.askedBytes - b.askedBytes) <= aboutSame * b.askedBytes)
