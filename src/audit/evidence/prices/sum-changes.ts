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

/** A cause of all wrong sums, and how plain it is: the fewest extras come first. */
interface Cause {
  readonly summary: string
  readonly isRounding: boolean
  /** 0: all requests; 1: those of a form; 2: some of the windows, though it would change right ones, too; 3: one request of each wrong window; 4: some, of windows whose requests are not certain, though right ones contradict it. */
  readonly extras: number
}

const isSound = ({ extras }: Cause) => extras < 2

/** Whether right sums contradict these causes: none is of all requests or a form, and some would have changed all in right sums, too. */
export const areContradicted = (causes: readonly Cause[]) =>
  !causes.some(isSound) && causes.some(({ extras }) => extras === 2)

/** Causes of some windows, and those of one request in each, are as plain: nothing says which requests are meant. */
export function plainest(causes: readonly Cause[]): readonly string[] {
  const fewest = smallest(causes.map(({ extras }) => extras))
  const most = fewest === 2 ? 3 : fewest
  const plain = causes
    .filter(({ extras }) => extras <= most)
    .toSorted((a, b) => a.extras - b.extras)
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

function causesBy(
  change: Pick<Change, 'summary' | 'about' | 'whom'>,
  moved: (request: PricedRequest) => Rational | null,
  wrong: Groups,
  right: Groups,
  by: readonly Form[],
): readonly Cause[] {
  const cause = (words: string, extras: number): readonly Cause[] => {
    const summary = summaryFor(change, change.whom === undefined ? [] : movedIn(wrong, moved))
    return [{ summary: summary + words, isRounding: change.about === 'round', extras }]
  }
  const isLoose = wrong.some(({ length }) => length > 1)
  let isGivenByAll = false
  let isGivenByForm = false
  const sumIn =
    (has: Form[1]) =>
    ({ requests }: Window) =>
      requests.flatMap((each) => (has(each) ? (moved(each) ?? []) : [])).reduce(add, zero)
  const keptBy = (sumOf: (window: Window) => Rational) => (windows: readonly Window[]) =>
    windows.some((each) => isKept(each, sumOf(each), windows))
  // Some form gives a coarse sum by chance, where no right sum tells it from all requests.
  const isFormShown = () =>
    isLoose || areFine(wrong.flat()) || !right.every(keptBy(sumIn(() => true)))
  for (const [words, has] of by) {
    const sumOf = sumIn(has)
    if (!wrong.every((windows) => isGivenIn(windows, (each) => isGiven(each, sumOf(each)))))
      continue
    if (words === '') isGivenByAll = true
    else if (!isFormShown()) continue
    isGivenByForm = true
    if (right.every(keptBy(sumOf)))
      return isLoose ? cause(onlyTheseWords, 2) : cause(words, words === '' ? 0 : 1)
  }
  if (isLoose && isGivenByForm) return cause(onlyTheseWords, 4)
  if (isGivenByAll) return cause(onlyTheseWords, 2)
  const isOne = wrong.every((windows) =>
    isGivenIn(
      windows,
      (window) =>
        (isFine(window, windows.length) ||
          (windows.length === 1 && window.requests.length === 1 && isZero(window.slack))) &&
        window.requests.some((request) => {
          const more = moved(request)
          return more !== null && isGiven(window, more)
        }),
    ),
  )
  return isOne || isOfSome(wrong, moved) ? cause(onlyTheseWords, 3) : []
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

/** Whether a right window stays right with so much more: it is moved by nothing, or another of those that it may be has what is missing. */
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

/** Whether one of the windows that it may be is given: the more there are, the finer the sum must be. */
const isGivenIn = (windows: readonly Window[], isSo: (window: Window) => boolean) =>
  windows.some((each) => (windows.length === 1 || isFine(each, windows.length)) && isSo(each))

export const isGiven = ({ apart, slack }: Window, moved: Rational) =>
  !isZero(moved) && compare(absolute(subtract(apart, moved)), slack) <= 0
