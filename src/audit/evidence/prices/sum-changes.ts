import type { ModelPrice } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  divide,
  isZero,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { type Change, summaryFor } from '../../../price/judge/changes/change.ts'
import { changesFor } from '../../../price/judge/changes/changes.ts'
import { wideChanges } from '../../../price/judge/changes/wide.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { onlyThese } from '../../../price/judge/scope.ts'
import { smallest } from '../../../user/extremes.ts'
import { onceForEach } from '../../../user/once.ts'
import { exactCost, type Window } from './windows.ts'

/** Whose charge a cause changes, the plainest first. */
const whose = {
  all: 0,
  form: 1,
  /** Of some requests: right sums say that it is not of all, or nobody knows for certain which requests the wrong ones have. */
  some: 2,
  oneOfEach: 3,
  /** Of some requests that nobody knows for certain, though right sums contradict it. */
  contradicted: 4,
} as const

/** A change that gives all wrong sums. */
interface Cause {
  readonly summary: string
  readonly isRounding: boolean
  readonly of: (typeof whose)[keyof typeof whose]
}

const isSound = ({ of }: Cause) => of < whose.some

/** Whether right sums contradict these causes: none is of all requests or a form, and some would have changed all in right sums, too. */
export const areContradicted = (causes: readonly Cause[]) =>
  !causes.some(isSound) && causes.some(({ of }) => of === whose.some)

/** Causes of some windows, and those of one request in each, are as plain: nothing says which requests are meant. */
export function plainest(causes: readonly Cause[]): readonly string[] {
  const first = smallest(causes.map(({ of }) => of))
  const last = first === whose.some ? whose.oneOfEach : first
  const plain = causes.filter(({ of }) => of <= last).toSorted((a, b) => a.of - b.of)
  // Of roundings that give the same, one is enough.
  const rounding = plain.find(({ isRounding }) => isRounding)
  const unlike = plain.filter((each) => !each.isRounding || each === rounding)
  return [...new Set(unlike.map(({ summary }) => summary))]
}

type Form = readonly [words: string, has: (request: PricedRequest) => boolean]
const forms: readonly Form[] = [
  ['', () => true],
  [' (of streams)', ({ isStream }) => isStream],
  [' (of plain answers)', ({ isStream }) => !isStream],
  [' (of whole answers)', isSuccess],
  [' (of whole streams)', (request) => request.isStream && isSuccess(request)],
]

/** Requests of one model, or of one account, are tried where there are so many of them at most. */
const mostGroups = 6

/** All requests, those of each form, of each model and of each account. */
export function formsOf(windows: readonly Window[]): readonly Form[] {
  const each = (word: string, of: (request: PricedRequest) => string): readonly Form[] => {
    const values = [...new Set(windows.flatMap(({ requests }) => requests.map(of)))]
    return values.length < 2 || values.length > mostGroups
      ? []
      : values.map((value) => [` (of ${word} ${value})`, (request) => of(request) === value])
  }
  return [
    ...forms,
    ...each('model', ({ requestedModel }) => requestedModel),
    ...each('account', ({ account }) => account),
  ]
}

/** Each wrong window, as all of those that it may be. */
export type Groups = readonly (readonly Window[])[]

export function changeCauses(wrong: Groups, right: Groups, judge: PriceJudge): readonly Cause[] {
  const by = formsOf([...wrong.flat(), ...right.flat()])
  const changes = changesFor(modelsOf([...wrong.flat(), ...right.flat()], judge), judge)
  const found = changes.flatMap((change) =>
    causesBy(change, movesOf(change, judge), wrong, right, by),
  )
  // A balance can do with a charge what neither an answer nor a log can show.
  const givenBackTwice = (request: PricedRequest) => {
    const cost = exactCost(request, judge)
    return cost && multiply(cost, rational(-2n))
  }
  const booking = { summary: 'charged, and given back twice', about: 'the whole cost' }
  return [...found, ...causesBy(booking, givenBackTwice, wrong, right, by)]
}

/** Less likely changes, of all requests or of those of a form. */
export function lessLikely(wrong: Groups, right: Groups, judge: PriceJudge): readonly string[] {
  const by = formsOf([...wrong.flat(), ...right.flat()])
  const changes = wideChanges(modelsOf([...wrong.flat(), ...right.flat()], judge), judge)
  const causes = changes.flatMap((change) =>
    causesBy(change, movesOf(change, judge), wrong, right, by),
  )
  return plainest(causes.filter(isSound))
}

function modelsOf(
  windows: readonly Window[],
  { priceOf, models = [] }: PriceJudge,
): readonly ModelPrice[] {
  const named = windows.flatMap(({ requests }) =>
    requests.flatMap(({ requestedModel }) => priceOf(requestedModel) ?? []),
  )
  return [...new Map([...named, ...models].map((model) => [model.id, model])).values()]
}

const movesOf = (change: Change, judge: PriceJudge) =>
  onceForEach((request: PricedRequest) => movedBy(change, request, judge))

/** How much more a request costs by a change; null if it does not apply. */
function movedBy(change: Change, request: PricedRequest, judge: PriceJudge): Rational | null {
  const [reading] = expectedCosts(request, judge).readings
  const cost = exactCost(request, judge)
  if (reading === undefined || cost === null) return null
  const other = change.costOf(request, reading.model, reading.usage, reading.context)
  return other === null || compare(other, cost) === 0 ? null : subtract(other, cost)
}

/**
 * A change as the cause of all wrong sums, or nothing. It is tried on all requests and on those of each form, then on single ones:
 *
 *     changed                     gives each wrong sum    keeps each right one    cause of
 *     all requests                yes                     yes                     `all`
 *     those of a form             yes                     yes                     `form`
 *     all requests                yes                     no                      `some`
 *     one of each wrong sum       yes                     not asked               `oneOfEach`
 *
 * Where a wrong sum is loose, all requests and a form are a cause of `some`, and of `contradicted` if they do not keep each right sum.
 *
 * @param moved how much more a request costs by the change; null if it does not apply
 * @param by the forms, that of all requests first
 */
function causesBy(
  change: Pick<Change, 'summary' | 'about' | 'whom'>,
  moved: (request: PricedRequest) => Rational | null,
  wrong: Groups,
  right: Groups,
  by: readonly Form[],
): readonly Cause[] {
  const cause = (words: string, of: Cause['of']): readonly Cause[] => {
    const summary = summaryFor(change, change.whom === undefined ? [] : movedIn(wrong, moved))
    return [{ summary: summary + words, isRounding: change.about === 'round', of }]
  }
  // Nobody knows which of several windows a wrong sum is.
  const isLoose = wrong.some(({ length }) => length > 1)
  let isGivenByAll = false
  let isGivenByForm = false
  const sumIn =
    (has: Form[1]) =>
    ({ requests }: Window) =>
      requests.flatMap((each) => (has(each) ? (moved(each) ?? []) : [])).reduce(add, zero)
  const keepsRight = (sumOf: (window: Window) => Rational) =>
    right.every((windows) => windows.some((each) => isKept(each, sumOf(each), windows)))
  // One of many forms gives a coarse sum by chance. So it counts only if the sums are fine, or right ones say that it cannot be all requests.
  const mayBeOfForm = () => isLoose || areFine(wrong.flat()) || !keepsRight(sumIn(() => true))
  for (const [words, has] of by) {
    const sumOf = sumIn(has)
    if (!wrong.every((windows) => isGivenIn(windows, (each) => isGiven(each, sumOf(each)))))
      continue
    if (words === '') isGivenByAll = true
    else if (!mayBeOfForm()) continue
    isGivenByForm = true
    if (keepsRight(sumOf))
      return isLoose
        ? cause(onlyTheseWords, whose.some)
        : cause(words, words === '' ? whose.all : whose.form)
  }
  if (isLoose && isGivenByForm) return cause(onlyTheseWords, whose.contradicted)
  if (isGivenByAll) return cause(onlyTheseWords, whose.some)
  // One of many requests gives a coarse sum by chance. A window that certainly has one request leaves no choice, so it need not be fine.
  const isNoChoice = ({ requests, slack }: Window, windows: readonly Window[]) =>
    windows.length === 1 && requests.length === 1 && isZero(slack)
  const isOne = wrong.every((windows) =>
    isGivenIn(
      windows,
      (window) =>
        (isFine(window, windows.length) || isNoChoice(window, windows)) &&
        window.requests.some((request) => {
          const more = moved(request)
          return more !== null && isGiven(window, more)
        }),
    ),
  )
  return isOne || isOfSome(wrong, moved) ? cause(onlyTheseWords, whose.oneOfEach) : []
}

/** Exact sums of so many units at most are looked at for some of their requests. */
const mostUnits = 1_000

/** Whether a change gives the sum of each lone request, and of others the sum of some of theirs: the lone ones show what happened to some. */
function isOfSome(wrong: Groups, moved: (request: PricedRequest) => Rational | null): boolean {
  const windows = wrong.flat()
  if (windows.length > wrong.length || !windows.every(({ slack }) => isZero(slack))) return false
  const lone = windows.filter(({ requests }) => requests.length === 1)
  const isMoved = (window: Window) => isGiven(window, moved(window.requests[0]!) ?? zero)
  return (
    lone.length > 0 &&
    lone.every(isMoved) &&
    windows.every((window) => window.requests.length === 1 || isSumOfSome(window, moved))
  )
}

function isSumOfSome(
  { apart, unit, requests }: Window,
  moved: (request: PricedRequest) => Rational | null,
): boolean {
  const inUnits = (amount: Rational) => {
    const { numerator, denominator } = divide(amount, unit)
    return denominator === 1n ? Number(numerator) : Number.NaN
  }
  const goal = inUnits(apart)
  if (!(Math.abs(goal) <= mostUnits)) return false
  const reached = new Set([0])
  for (const request of requests) {
    const step = inUnits(moved(request) ?? zero)
    if (Math.sign(step) !== Math.sign(goal)) continue
    for (const sum of [...reached])
      if (Math.abs(sum + step) <= Math.abs(goal)) reached.add(sum + step)
  }
  return reached.has(goal)
}

/** The requests that a change moves, each once: windows of one stretch share most of theirs. */
function movedIn(
  wrong: Groups,
  moved: (request: PricedRequest) => Rational | null,
): readonly PricedRequest[] {
  const all = new Set<PricedRequest>()
  for (const windows of wrong)
    for (const { requests } of windows) for (const each of requests) all.add(each)
  return [...all].filter((each) => moved(each) !== null)
}

export const onlyTheseWords = ` (${onlyThese})`

/**
 * Whether a right sum stays right if its requests cost so much more. A sum that is one window for certain may not move at all. A loose one
 * may also be this window if exactly so much was apart in it.
 */
const isKept = ({ apart, slack }: Window, moved: Rational, { length }: readonly Window[]) =>
  compare(absolute(length === 1 ? moved : subtract(apart, moved)), slack) <= 0

/** One request of many explains a sum by chance unless the sum is so many times finer than what is wrong with it. */
const fineness = rational(200n)

const isFine = ({ apart, unit }: Window, sets: number) =>
  compare(absolute(apart), multiply(unit, multiply(fineness, rational(BigInt(sets))))) >= 0

/** Whether sums are together so fine. */
function areFine(windows: readonly Window[]): boolean {
  let share = one
  return windows.some(({ apart, unit }) => {
    if (!isZero(apart)) share = multiply(share, divide(unit, absolute(apart)))
    return compare(multiply(share, fineness), one) <= 0
  })
}

/** Whether it is so of one of the windows that a wrong sum may be: the more there are, the finer the sum must be. */
const isGivenIn = (windows: readonly Window[], isSo: (window: Window) => boolean) =>
  windows.some((each) => (windows.length === 1 || isFine(each, windows.length)) && isSo(each))

export const isGiven = ({ apart, slack }: Window, moved: Rational) =>
  !isZero(moved) && compare(absolute(subtract(apart, moved)), slack) <= 0
