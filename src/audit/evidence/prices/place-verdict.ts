import type { ChargedOutcome, PriceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  compare,
  decimalText,
  isEqual,
  type Rational,
  readNumber,
  roundTo,
  subtract,
} from '../../../money/rational.ts'
import { formulaText } from '../../../price/formula-text.ts'
import { endings } from '../../../price/judge/ended-words.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { type Explanation, explain } from '../../../price/judge/explain.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest, StatedCost } from '../../../price/judge/request.ts'
import { beyondSeen, isSeen, unseenText } from '../../../price/judge/unseen.ts'
import { grouped } from '../../../user/grouped.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'
import { evidenceOfUsage } from '../service-side.ts'
import { lessInOrder } from './charged-less.ts'
import { cacheText } from './free-repeats.ts'
import { isUnrounded, roundedUpSomewhere } from './one-sided.ts'
import { againText, chargedAgain } from './replays.ts'
import { differenceOf, stakeOf } from './stake.ts'

export interface PlaceResult {
  readonly verdict: Verdict
  readonly explanations: readonly Explanation[]
}

/**
 * The verdict over amounts of one place: a wrong one fails, and is explained. Open ones alone are inconclusive.
 *
 * @param requires the traffic that shows an amount
 * @param of how many there are and what is at stake, where `judged` are some of them
 */
export function placeVerdict(
  judged: readonly Judged[],
  prices: PriceTerms,
  judge: PriceJudge,
  requires: string,
  of?: {
    readonly wrong: number
    /** Wrong ones that are not below the contract's. */
    readonly above: number
    readonly open: number
    readonly all: number
    readonly stake: string
  },
): PlaceResult {
  const unit = prices.currency.name
  const wrong = judged.filter(({ is }) => is === 'wrong')
  const [first] = wrong
  if (first === undefined)
    return { explanations: [], verdict: withoutWrong(judged, judge, unit, requires, of) }
  const { explanations, isWhole } = explain(judged, judge)
  const some = of?.wrong ?? wrong.length
  const all = of?.all ?? judged.length
  // The first of many wrong ones show the order in which an allowance may be, and no chance.
  const isKept = some === wrong.length || prices.allowance === 'open'
  const mayBeLess = isKept && (of?.above ?? 0) === 0
  const less = mayBeLess ? lessInOrder(judged, { explanations, isWhole }, prices.allowance) : null
  if (less !== null)
    return {
      explanations: [],
      verdict: inconclusive(
        judged.length,
        `${some} of ${all} costs ${placeWords(first)} are below those of the contract: ${less}`,
        wrong.slice(0, 3).map((each) => witnessOf(each, unit)),
      ),
    }
  const why = explained(explanations, isWhole, wrong.length)
  const stake = of?.stake ?? stakeOf(judged, unit)
  return {
    explanations,
    verdict: fail(all, {
      expected: `${expectedText(first)} ${unit} ${placeWords(first)}`,
      fact: factOf(first, some, all, stake),
      observed: `${saidText(first.statement)} ${unit}; ${some} of ${all} costs are wrong: ${why}. ${stake}`,
      witnesses: wrong.slice(0, 5).map((each) => witnessOf(each, unit)),
    }),
  }
}

/** The verdict over amounts of which none is wrong by itself. */
function withoutWrong(
  judged: readonly Judged[],
  judge: PriceJudge,
  unit: string,
  requires: string,
  of?: { readonly open: number; readonly all: number },
): Verdict {
  const all = judged.length
  if (all === 0) return notObserved(requires)
  const open = judged.filter(({ is }) => is === 'open')
  const shown = (some: readonly Judged[]) => some.map((each) => witnessOf(each, unit))
  const undecided = (some: readonly Judged[], why: string) =>
    inconclusive(all, why, shown(some.slice(0, 3)))
  const repeated = open.filter(({ request }) => request.isFreeRepeat)
  if (repeated.length > 0)
    return undecided(
      repeated,
      cacheText(`${repeated.length} of ${all} requests cost 0, and each repeats`),
    )
  const cached = open.filter(({ expected, statement, unit: place }) =>
    expected.ifCached.some(
      (cost) => compare(absolute(subtract(cost, statement.value)), place) <= 0,
    ),
  )
  if (cached.length > 0)
    return undecided(cached, unreadCacheText(`${cached.length} of ${all} costs are`))
  const again = chargedAgain(judged, judge)
  if (again.length > 0) return inconclusive(all, againText(again.length))
  const oneSided = roundedUpSomewhere(judged)
  if (oneSided !== null && !oneSided.isSure)
    return undecided(
      oneSided.shown,
      `${oneSided.summary}, and the contract promises no rounding (round)`,
    )
  if (oneSided !== null)
    return fail(all, {
      expected:
        'costs as often below the exact one as above it, since no rounding is promised (round)',
      observed: oneSided.summary,
      witnesses: shown([oneSided.first, ...oneSided.shown.slice(1, 5)]),
    })
  const bias = biasOf(judged)
  if (bias !== null) return inconclusive(all, `${bias}: the contract promises no rounding (round)`)
  if (open.length === all) return undecided(open, openText(open))
  const unseen = beyondSeen(open, judge)
  if (unseen.length > 0)
    return undecided(unseen, unseenText(`${unseen.length} of ${all} costs are`))
  const unbounded = open.filter((each) => isUnbounded(each) && !isSeen(each, judge))
  if (unbounded.length > 0)
    return undecided(
      unbounded,
      `${unbounded.length} of ${all} costs are of answers that the client left, and nothing bounds them: ${openText(unbounded)}`,
    )
  const silent = open.filter(
    ({ request, statement }) => silenceOn(request, judge, statement.value) !== null,
  )
  if (silent.length > 0) return undecided(silent, silenceText(silent.map(({ request }) => request)))
  const counts = of ?? { open: open.length, all }
  const note = `${grouped(counts.open)} more of ${grouped(counts.all)} are open: ${openText(open)}`
  return pass(counts.all - counts.open, open.length === 0 ? {} : { note })
}

/** What was taken for an answer that the client left, where any cost would be as right. */
const isUnbounded = ({ request, statement, expected: { between, costs, open } }: Judged) =>
  request.outcomes[0] === 'abort' &&
  statement.value.numerator > 0n &&
  between === null &&
  costs.length === 0 &&
  !open.includes('charged.abort')

const placeWords = ({ statement }: Judged) =>
  statement.place === 'log' ? 'in the log' : 'in the answers'

/** `2 of 4 costs in the log are wrong: 0.0047 USD too much in these requests`. */
function factOf(judged: Judged, wrong: number, all: number, stake: string): string {
  const are = `${wrong} of ${all} costs ${placeWords(judged)} ${wrong === 1 ? 'is' : 'are'} wrong`
  return stake === '' ? are : `${are}: ${stake}`
}

function explained(explanations: readonly Explanation[], isWhole: boolean, wrong: number): string {
  if (explanations.length === 0) return 'no single change gives them'
  const named = explanations.map(({ summary, scope, fits }) => {
    const where = scope === '' ? '' : ` (${scope})`
    return isWhole ? `${summary}${where}` : `${summary}${where} in ${fits}`
  })
  return isWhole ? named.join(', or ') : `${named.join('; ')} of ${wrong} that were compared`
}

function expectedText({ expected, nearest, statement }: Judged): string {
  const costs = expected.costs.length > 0 ? expected.costs : (expected.between ?? [])
  if (costs.length === 0) return nearest === null ? 'no known cost' : decimalText(nearest)
  const shown = costs.slice(0, 3).map((cost) => amount(cost, statement.decimals))
  return expected.costs.length > 0 ? shown.join(' or ') : shown.join(' to ')
}

/** What a place says, in the currency of the contract: as it is written, unless it is in another unit or has an exponent. */
function saidText({ text, value, decimals }: StatedCost): string {
  const written = /e/i.test(text) ? null : readNumber(text)
  return written !== null && isEqual(written, value) ? text : amount(value, decimals)
}

/** An exact amount, or one with a few more decimals than the place shows. */
function amount(cost: Rational, decimals: number): string {
  const text = decimalText(cost)
  return text.length <= 18 && !text.includes('/')
    ? text
    : decimalText(roundTo(cost, Math.max(decimals, 8) + 4, 'half_even'))
}

function witnessOf(judged: Judged, unit: string): Witness {
  const { request, statement, expected } = judged
  const lines = (expected.calculation?.lines ?? []).map(
    ({ name, count, price, per }) =>
      `${name} ${decimalText(count)} x ${decimalText(price)}${per.numerator === 1n ? '' : ` / ${decimalText(per)}`}`,
  )
  return {
    runId: request.runId,
    slot: request.slot,
    retry: request.retry,
    shows: `${request.requestedModel}${request.isStream ? ' stream' : ''}: ${statement.place} ${statement.text}, expected ${expectedText(judged)} ${unit}${lines.length === 0 ? '' : ` = ${lines.join(' + ')}`}`,
    service: {
      at: null,
      ids: [],
      endpoint: null,
      status: null,
      asked: null,
      model: request.requestedModel,
      usage: evidenceOfUsage(request.usage),
      unit,
      answered: statement.place === 'log' ? null : statement.text,
      logged: statement.place === 'log' ? statement.text : null,
      expected: expectedText(judged),
      ...differenceOf(judged),
      formula: expected.calculation === null ? null : formulaText(expected.calculation, unit),
    },
  }
}

/** @param what `3 of 5 costs are` */
export const unreadCacheText = (what: string) =>
  `${what} right only if a cache of the gateway answered, and no head was stored that would say so (capture: all)`

/** What a client left may be charged or not, the others hardly for nothing. An answer that came again has no end of its own. */
const isEnding = (outcome: ChargedOutcome) =>
  outcome !== 'gateway_cache' && endings[outcome] !== undefined

/**
 * How a request ended, if the contract does not say what such an end costs. One that cost nothing says enough, unless its client
 * left it.
 *
 * @param taken what it cost, as far as a place shows it
 */
export function silenceOn(
  request: PricedRequest,
  judge: PriceJudge,
  taken: Rational | null,
): ChargedOutcome | null {
  const silent = request.outcomes.find(
    (outcome) =>
      isEnding(outcome) && expectedCosts(request, judge).open.includes(`charged.${outcome}`),
  )
  const isFree = silent !== 'abort' && taken?.numerator === 0n
  return silent === undefined || isFree ? null : silent
}

export function silenceText(silent: readonly PricedRequest[]): string {
  const byEnd = Map.groupBy(silent, ({ outcomes }) => outcomes.find(isEnding) ?? '')
  const texts = [...byEnd].map(
    ([outcome, { length }]) =>
      `${length === 1 ? 'an answer costs' : `${length} answers cost`} ${endings[outcome as ChargedOutcome]} (charged.${outcome}: none, received or full)`,
  )
  return `the contract does not say what ${texts.join(', and what ')}`
}

function openText(open: readonly Judged[]): string {
  const reasons = new Set(
    open.flatMap(({ expected }) =>
      expected.open.length > 0
        ? expected.open.map((each) => `the contract, or the answer, leaves ${each} open`)
        : expected.between === null
          ? []
          : ['counts that the answers do not report leave the cost between two bounds'],
    ),
  )
  return [...reasons].slice(0, 3).join('; ')
}

/** Many amounts that are off to one side by more than half a unit on average. */
function biasOf(judged: readonly Judged[]): string | null {
  const exact = judged.filter(isUnrounded)
  if (exact.length < leastForBias) return null
  const first = exact[0]!
  const offs = exact.map(({ statement, expected }) => {
    const off = subtract(statement.value, expected.costs[0]!)
    return Number(decimalText(roundTo(off, 18, 'half_even')))
  })
  const sum = offs.reduce((total, off) => total + off, 0)
  const unit = Number(decimalText(first.unit))
  const mean = sum / exact.length / unit
  return Math.abs(mean) > 0.5 - 1e-9 && Math.abs(mean) > 1.9 / Math.sqrt(12 * exact.length)
    ? `costs are ${Math.abs(mean).toFixed(2)} units of ${decimalText(first.unit)} too ${mean > 0 ? 'high' : 'low'} on average`
    : null
}

const leastForBias = 10
