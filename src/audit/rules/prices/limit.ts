import { type BalanceTerms, valuesOf } from '../../../contract/prices.ts'
import { compare, multiply, one, rational } from '../../../money/rational.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { countWhile } from '../../../user/count-below.ts'
import { amountOf } from '../../evidence/prices/answer-json.ts'
import { type PriceJudgements, priceJudgements } from '../../evidence/prices/judgements.ts'
import {
  belowZero,
  limitAt,
  type Overrun,
  servedAboveLimit,
  servedAtZero,
  servedBeyondLimit,
  unequalSums,
  unreadableLimit,
} from '../../evidence/prices/limits.ts'
import { type Reading, readingsOf, unreadable } from '../../evidence/prices/readings.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, witnessAt } from '../../verdict.ts'
import { unreadableValues } from './balance-checks.ts'

const requires =
  'requests up to a refusal for the balance or the limit, with a read of it before and after'
const takesLimit =
  'a limit of the spend, in the contract (evidence.balance.limit) or beside the value (max_budget, limit)'

/**
 * A number that may be an amount: `12`, `12.50`, `1.4e-4`. None is one whose comma may be of thousands or decimals (`2,469.00`), a share
 * (`80%`), part of a date (`2026-11-20`) or a count (`300 tokens`). `[\d.]*` keeps a shorter part of such a number from being one.
 */
const number = String.raw`(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\d.]*(?:,\d|%|-\d|\s*(?:tokens?|requests?|calls?|cents?)\b))`

/** What a refusal says was spent: its counter, or an amount with a currency. A limit alone is none. */
function namedSpends(currency: string): readonly RegExp[] {
  const unit = currency.replaceAll(/\W/g, '\\$&')
  const spent = String.raw`\b(?:spend|spent|used)(?: is| of)?\s*[:=]?\s*`
  return [
    // Current cost: 10.00004
    String.raw`current (?:cost|spend|usage)(?: is| of| for \w+)?\W{0,4}${number}`,
    // "current_spend": "10.00004"
    String.raw`"(?:current_)?(?:spend|spent|cost)"\s*:\s*"?${number}`,
    // spent: $10.00
    String.raw`${spent}[$€£¥]\s?${number}`,
    // used 10.00 of 12 USD
    String.raw`${spent}${number}(?:\s+of\s+[\d.]+)?\s?${unit}\b`,
    // used 10.00 of your monthly budget
    String.raw`\bused\s*${number}\s+(?:out )?of\s+(?:(?:your|the) )?(?:\w+ )?budget`,
  ].map((pattern) => new RegExp(pattern, 'i'))
}

/** Whether a refusal is about money: one about a rate says how many tokens or requests were used. */
const isOfMoney = (text: string) =>
  /budget|\bcosts?\b|spen[dt]|credit|quota|balance/i.test(text) &&
  !/\b[TR]P[MD]\b|rate.?limit|(?:tokens|requests) (?:per|in|this)\b/i.test(text)

export const price07: Rule = {
  id: 'PRICE-07',
  title: 'No balance falls below 0, no spend passes its limit, and what remains and is used add up',
  section: 'contract: evidence.balance',
  needs: ['active'],
  explain: `Reads the balance or spend that evidence.balance names. A balance below 0, or below evidence.balance.lowest, was overdrawn; so was one that stays at 0
while it serves requests that cost more than its last decimal. A spend above its limit
(evidence.balance.limit, or max_budget or limit beside the value) that still serves requests ignores it, unless it began anew; so does one that
the costs of the requests before had brought above it, which is inconclusive where the contract does not say how late a spend may be. A refusal that names its
counter must name the spend that the service shows before or after it. A number with commas, which may be thousands or decimals, is not compared. What remains and what is used (evidence.balance.also) add up to the limit; without
one, to the same on every page, and a rise of the sum may be a payment, a fall of what is used a new period. Only pages without a request near them count. A pass says what was compared; a spend without a limit is not.
A limit that is no number, such as \`1,000\`, makes it inconclusive; one below 0 is none.
It cannot know a limit that neither the contract nor the service states.`,
  ...whenPromised(['prices', 'evidence.balance'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const terms = found?.prices.evidence.balance
    if (found == null || terms == null) return notObserved(requires)
    const values = valuesOf(terms).map((each) => ({ each, readings: readingsOf(found, each) }))
    const readings = values.flatMap((each) => each.readings)
    const unread = unreadableValues(
      values.flatMap(({ each }) => unreadable(found, each)),
      readings.length,
    )
    if (readings.length === 0) return unread ?? notObserved(requires)
    const unit = found.prices.currency.name
    const sums = unequalSums(found, terms, unit)
    const refusals = spendsOfRefusals(found, values)
    const beyond = values.flatMap(({ each, readings: own }) =>
      servedBeyondLimit(found, each, own, unit).map((overrun) => ({ overrun, each })),
    )
    const witnesses = [
      ...beyond.flatMap(({ overrun, each }) => (each.isWithinPromised ? [overrun] : [])),
      ...values.flatMap(({ each, readings: own }) => belowZero(each, own, unit)),
      ...values.flatMap(({ each, readings: own }) => servedAtZero(found, each, own, unit)),
      ...values.flatMap(({ each, readings: own }) => servedAboveLimit(found, each, own, unit)),
      ...sums.unequal.filter(({ unless }) => unless === null),
      ...refusals.filter(({ isOther }) => isOther),
    ]
      .slice(0, 5)
      .map(witnessOf)
    const [first] = witnesses
    if (first !== undefined)
      return fail(readings.length, {
        expected: 'a balance of 0 or more, a spend within its limit, and values that add up',
        observed: first.shows,
        witnesses,
      })
    const [late] = beyond
    if (late !== undefined)
      return inconclusive(
        readings.length,
        `a request was ${late.overrun.shows}: the limit is ignored, or its spend is late, of which the contract says nothing (evidence.balance.within)`,
        [witnessOf(late.overrun)],
      )
    const [paid] = sums.unequal
    if (paid !== undefined)
      return inconclusive(
        readings.length,
        `${paid.shows}: ${paid.unless}, or one of them misses a charge`,
        [witnessOf({ ...paid, shows: 'they do not add up' })],
      )
    const limit = unreadableLimit(found, values)
    if (limit !== null)
      return inconclusive(
        readings.length,
        `the limit of the balance is no number: ${JSON.stringify(limit)}`,
      )
    if (unread !== null) return unread
    const left = values
      .filter(({ each }) => each.moves === 'down' && each.lowest !== null)
      .flatMap((each) => each.readings)
    const lowest = terms.lowest?.numerator === 0n ? '0' : 'what it may fall to'
    const spent = spendsOf(found, values)
    const compared = left.length + spent.limited.length + refusals.length + sums.compared
    if (compared === 0) return notObserved(takesLimit)
    const isUsedUp =
      refusals.length > 0 ||
      left.some(({ value, lastUnit }) => compare(value, lastUnit) <= 0) ||
      spent.limited.some(({ reading, limit: most }) => compare(reading.value, most) >= 0)
    const parts = [
      counted(left.length, `balance with ${lowest}`, `balances with ${lowest}`),
      counted(spent.limited.length, 'spend with its limit', 'spends with their limit'),
      counted(
        sums.compared,
        'sum of what remains and what is used',
        'sums of what remains and what is used',
      ),
      counted(
        refusals.length,
        'spend that a refusal names with the one shown',
        'spends that refusals name with the one shown',
      ),
    ].flatMap((part) => part ?? [])
    return pass(compared, {
      note: [
        `compared: ${parts.join(', ')}`,
        ...(spent.others === 0 ? [] : [`without a limit: ${spent.others}`]),
        ...(isUsedUp ? [] : ['not tested: a request when it is used up']),
      ].join('; '),
    })
  }),
}

const counted = (count: number, one: string, several: string) =>
  count === 0 ? null : `${count} ${count === 1 ? one : several}`

const witnessOf = ({ shows, request }: Overrun) => witnessAt(request, shows)

interface Value {
  readonly each: BalanceTerms
  readonly readings: readonly Reading[]
}

/** Spends with their limit, and how many have none. */
function spendsOf(found: PriceJudgements, values: readonly Value[]) {
  const spends = values.flatMap(({ each, readings }) =>
    each.moves === 'up'
      ? readings.map((reading) => ({ reading, limit: limitAt(found, each, reading) }))
      : [],
  )
  const limited = spends.flatMap(({ reading, limit }) =>
    limit === null ? [] : [{ reading, limit }],
  )
  return { limited, others: spends.length - limited.length }
}

/** The last reading before a request and the first after it: later ones may be of a new period. */
function besides(
  readings: ReadonlyMap<string, readonly Reading[]>,
  { account, startMs }: PricedRequest,
) {
  const own = readings.get(account) ?? []
  const before = countWhile(own.length, (at) => own[at]!.untilMs <= startMs)
  return own.slice(Math.max(0, before - 1), before + 1)
}

/** A named spend may be ahead of a page that is late, but not by more than half of what the page shows. */
const mostAhead = rational(3n, 2n)

/** What refusals say was spent, beside the highest spend that the service shows right before or after; `isOther` if they name much more. */
function spendsOfRefusals(
  { refusals, prices: { currency, evidence } }: PriceJudgements,
  values: readonly Value[],
): readonly (Overrun & { readonly isOther: boolean })[] {
  const spends = values.flatMap(({ each, readings }) =>
    each.moves === 'up' ? Map.groupBy(readings, ({ account }) => account) : [],
  )
  const times = evidence.balance?.times ?? one
  const patterns = namedSpends(currency.name)
  return refusals.flatMap(({ request, text }) => {
    if (!isOfMoney(text)) return []
    const [firstNamed] = patterns.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])
    const named = amountOf(firstNamed)
    const near = spends.flatMap((each) => besides(each, request))
    const [shown] = near.toSorted((a, b) => compare(b.value, a.value))
    if (named === null || shown === undefined) return []
    return [
      {
        request,
        shows: `refused at a spend of ${named.text}, where the service shows ${shown.text} ${currency.name}`,
        isOther: compare(multiply(named.value, times), multiply(shown.value, mostAhead)) > 0,
      },
    ]
  })
}
