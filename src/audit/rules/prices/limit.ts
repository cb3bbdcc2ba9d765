import { valuesOf } from '../../../contract/prices.ts'
import { compare, decimalText, multiply, rational, zero } from '../../../money/rational.ts'
import { amountOf } from '../../evidence/prices/answer-json.ts'
import { priceJudgements } from '../../evidence/prices/judgements.ts'
import {
  limitAt,
  servedAtZero,
  unequalSums,
  unreadableLimit,
} from '../../evidence/prices/limits.ts'
import { readingsOf, unreadable } from '../../evidence/prices/readings.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, witnessAt } from '../../verdict.ts'
import { unreadableValues } from './balance.ts'

const requires =
  'requests up to a refusal for the balance or the limit, with a read of it before and after'

/** What a refusal says was spent. */
const namedSpend =
  /(?:current (?:cost|spend|usage)|\bspend|\bspent|\bused)\D{0,12}(\d+(?:\.\d+)?(?:e-?\d+)?)/i

/** Whether a refusal is about money: one about a rate says how many tokens or requests were used. */
const isOfMoney = (text: string) =>
  /budget|\bcosts?\b|spen[dt]|credit|quota|balance/i.test(text) &&
  !/\b[TR]P[MD]\b|rate.?limit|(?:tokens|requests) (?:per|in|this)\b/i.test(text)

export const price07: Rule = {
  id: 'PRICE-07',
  title: 'No balance falls below 0, no spend passes its limit, and what remains and is used add up',
  section: 'contract: evidence.balance',
  severity: 'must',
  needs: ['active'],
  explain: `Reads the balance or spend that evidence.balance names. A balance below 0 was overdrawn; so was one that stays at 0
while it serves requests that cost more than its last decimal. A spend above its limit
(evidence.balance.limit, or max_budget or limit beside the value) that still serves requests ignores it. A refusal that names its
counter must name the spend that the service shows. What remains and what is used (evidence.balance.also) add up to the limit; without
one, to the same on every page, and a rise of the sum may be a payment, a fall of what is used a new period. Where a value may be late, only pages without a request near them count.
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
    const overdrawn = values.flatMap(({ each, readings: own }) =>
      each.moves === 'up'
        ? []
        : own
            .filter(({ value }) => compare(value, zero) < 0)
            .map(({ text, request }) => witnessAt(request, `a balance of ${text} ${unit}`)),
    )
    const free = values.flatMap(({ each, readings: own }) =>
      servedAtZero(found, each, own, unit).map(({ shows, request }) => witnessAt(request, shows)),
    )
    const sums = unequalSums(found, terms, unit)
    const unequal = sums
      .filter(({ unless }) => unless === null)
      .map(({ shows, request }) => witnessAt(request, shows))
    const ignored = values.flatMap(({ each, readings: own }) =>
      own.flatMap((at) => {
        const limit = each.moves === 'up' ? limitAt(found, each, at) : null
        if (limit === null || compare(at.value, limit) <= 0) return []
        const after = found.requests.find(
          ({ startMs, outcomes, account }) =>
            account === at.account &&
            startMs > at.untilMs + each.withinMs &&
            outcomes[0] === 'success',
        )
        return after === undefined
          ? []
          : [
              witnessAt(
                after,
                `served at a spend of ${at.text}, above the limit of ${decimalText(limit)} ${unit}`,
              ),
            ]
      }),
    )
    const spends = values.flatMap(({ each, readings: own }) => (each.moves === 'up' ? own : []))
    const doubled = found.refusals.flatMap(({ request, text }) => {
      const amount = amountOf(isOfMoney(text) ? namedSpend.exec(text)?.[1] : undefined)
      const last = spends.findLast(({ account }) => account === request.account)
      if (amount === null || last === undefined) return []
      const most = multiply(last.value, rational(3n, 2n))
      return compare(multiply(amount.value, terms.times), most) > 0
        ? [
            witnessAt(
              request,
              `refused at a spend of ${amount.text}, where the service shows ${last.text} ${unit}`,
            ),
          ]
        : []
    })
    const witnesses = [...overdrawn, ...free, ...ignored, ...unequal, ...doubled].slice(0, 5)
    const [first] = witnesses
    const [paid] = sums
    if (first === undefined && paid !== undefined)
      return inconclusive(
        readings.length,
        `${paid.shows}: ${paid.unless}, or one of them misses a charge`,
        [witnessAt(paid.request, 'they do not add up')],
      )
    const limit = unreadableLimit(found, values)
    if (first === undefined && limit !== null)
      return inconclusive(
        readings.length,
        `the limit of the balance is no number: ${JSON.stringify(limit)}`,
      )
    if (first === undefined) return unread ?? pass(readings.length)
    return fail(readings.length, {
      expected: 'a balance of 0 or more, a spend within its limit, and values that add up',
      observed: first.shows,
      witnesses,
    })
  }),
}
