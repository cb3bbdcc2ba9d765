import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  add,
  compare,
  decimalText,
  multiply,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { isObject } from '../../../user/json.ts'
import { amountOf } from './answer-json.ts'
import { clockErrorMs, mayLack } from './grants.ts'
import { timeOf } from './log.ts'
import { type ReadingStretch, wrongOf } from './stretches.ts'

/** What pages say of expiries where more was taken than the costs. */

/** What was taken beyond the costs; null if nothing was, or nothing bounds them. */
function beyondCosts({ taken, high, slack }: ReadingStretch): Rational | null {
  const beyond = high === null ? zero : subtract(taken, high)
  return compare(beyond, slack) > 0 ? beyond : null
}

/** `: a grant of 5 credits was gone 3 s before it expires`, if each wrong sum has what a value lacks of such a grant. Empty otherwise. */
export function expiredEarly(stretches: readonly ReadingStretch[], unit: string): string {
  const early = wrongOf(stretches).map((stretch) => {
    const { first, last, slack } = stretch
    const beyond = beyondCosts(stretch)
    const grant = (first.grants?.expiring ?? []).find(({ left, expiresMs }) => {
      const isGone = !(last.grants?.expiring ?? []).some(
        (each) => each.expiresMs === expiresMs && each.left.numerator > 0n,
      )
      const isLater = expiresMs > last.untilMs + clockErrorMs
      return isGone && isLater && beyond !== null && compare(beyond, add(left, slack)) <= 0
    })
    return grant === undefined ? null : { ...grant, goneMs: last.untilMs }
  })
  const [first] = early
  if (first == null || early.includes(null)) return ''
  const { left, expiresMs, goneMs } = first
  return `: a grant of ${decimalText(left)} ${unit} was gone at least ${Math.floor((expiresMs - goneMs) / 1e3)} s before it expires, ${new Date(expiresMs).toISOString()}`
}

const expiryNames = /expir|valid_?(?:until|to|thru|through)|ends?_?at/i

const givenNames = /given|grant|total|amount|initial/i
const usedNames = /used|spent|consumed/i

/** What may be left of what expires: each amount beside its expiry, and what was given less what was used. */
function leftBeside(fields: Readonly<Record<string, unknown>>, expiry: string): Rational[] {
  const amounts = Object.entries(fields).flatMap(([name, each]) => {
    const value = name === expiry ? undefined : amountOf(each)?.value
    return value === undefined ? [] : [{ name, value }]
  })
  const used = amounts.filter(({ name }) => usedNames.test(name))
  const given = amounts.filter(({ name }) => givenNames.test(name) && !usedNames.test(name))
  return [
    ...amounts.map(({ value }) => value),
    ...given.flatMap(({ value }) => used.map((each) => subtract(value, each.value))),
  ]
}

/** The place of what a page says to expire between two values, with what may be left of it; null without one. */
function expiringAt(
  value: unknown,
  place: string,
  is: (expiresMs: number, left: readonly Rational[]) => boolean,
): string | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = isObject(value) ? value : {}
  for (const [name, each] of Object.entries(fields)) {
    const atMs = expiryNames.test(name) ? timeOf(each) : null
    if (atMs !== null && is(atMs, leftBeside(fields, name)))
      return place === '' ? name : `${place}.${name}`
  }
  for (const [name, each] of Object.entries(value)) {
    const found = expiringAt(each, place === '' ? name : `${place}.${name}`, is)
    if (found !== null) return found
  }
  return null
}

/**
 * Where the pages say that something expired whenever more was taken than the costs, though the contract names no grants; null if they do
 * not, or if anything else is wrong. It was as much as was taken beyond the costs; requests of that time may have used some of it first.
 */
export function unnamedExpiry(
  stretches: readonly ReadingStretch[],
  { grants, times, moves, withinMs }: BalanceTerms,
): string | null {
  if (grants !== null || moves === 'up') return null
  const places = wrongOf(stretches).map((stretch) => {
    const { first, last, taken, slack } = stretch
    const beyond = beyondCosts(stretch)
    if (beyond === null) return null
    const [least, most] = [subtract(beyond, slack), add(taken, slack)]
    const isLost = (left: Rational) => compare(left, least) >= 0 && compare(left, most) <= 0
    return expiringAt(
      first.page,
      '',
      (atMs, left) =>
        mayLack(atMs, first, last, withinMs) && left.some((each) => isLost(multiply(each, times))),
    )
  })
  return places.includes(null) ? null : (places[0] ?? null)
}
