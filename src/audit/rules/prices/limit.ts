import { compare, decimalText, multiply, rational, zero } from '../../../money/rational.ts'
import { amountOf, atPlace } from '../../evidence/prices/answer-json.ts'
import { readingsOf } from '../../evidence/prices/balance.ts'
import { priceJudgements } from '../../evidence/prices/judgements.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import type { Verdict, Witness } from '../../verdict.ts'

const requires =
  'requests up to a refusal for the balance or the limit, with a read of it before and after'

export const price07: Rule = {
  id: 'PRICE-07',
  title: 'No balance falls below 0, and no spend passes its limit',
  section: 'contract: evidence.balance',
  severity: 'must',
  needs: ['active'],
  explain: `Reads the balance or spend that evidence.balance names. A balance below 0 was overdrawn. A spend above its limit
(evidence.balance.limit, or max_budget or limit beside the value) that still serves requests ignores it. A refusal that names its
counter must name the spend that the service shows.
It cannot know a limit that the service does not show.`,
  ...whenPromised(['prices', 'evidence.balance'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const terms = found?.prices.evidence.balance
    if (found == null || terms == null) return { verdict: 'not-observed', requires }
    const readings = readingsOf(found, terms)
    if (readings.length === 0) return { verdict: 'not-observed', requires }
    const unit = found.prices.currency.name
    const witness = (shows: string, { runId, slot, retry }: Omit<Witness, 'shows'>): Witness => ({
      runId,
      slot,
      retry,
      shows,
    })
    const overdrawn =
      terms.moves === 'up'
        ? []
        : readings
            .filter(({ value }) => compare(value, zero) < 0)
            .map(({ text, request }) => witness(`a balance of ${text} ${unit}`, request))
    const limits = found.pages.flatMap((page) => {
      const place = terms.value?.split('.').slice(0, -1).join('.') ?? ''
      const beside = ['max_budget', 'limit', 'hard_limit_usd'].map((name) =>
        atPlace(page.body, place === '' ? name : `${place}.${name}`),
      )
      const limit = beside.map(amountOf).find((each) => each !== null)
      return limit === undefined || limit === null
        ? []
        : [{ page, limit: multiply(limit.value, terms.times) }]
    })
    const ignored = limits.flatMap(({ page, limit }) => {
      const at = readings.find(({ request }) => request === page.request)
      if (at === undefined || terms.moves !== 'up' || compare(at.value, limit) <= 0) return []
      const after = found.requests.find(
        ({ startMs, outcomes, account }) =>
          account === page.account &&
          startMs > page.untilMs + terms.withinMs &&
          outcomes[0] === 'success',
      )
      return after === undefined
        ? []
        : [
            witness(
              `served at a spend of ${at.text}, above the limit of ${decimalText(limit)} ${unit}`,
              after,
            ),
          ]
    })
    const doubled = found.refusals.flatMap(({ request, text }) => {
      const named =
        /(?:current (?:cost|spend|usage)|\bspend|\bspent|\bused)\D{0,12}(\d+(?:\.\d+)?(?:e-?\d+)?)/i.exec(
          text,
        )
      const amount = amountOf(named?.[1])
      const last = readings.findLast(({ account }) => account === request.account)
      if (amount === null || last === undefined || terms.moves !== 'up') return []
      const most = multiply(last.value, rational(3n, 2n))
      return compare(multiply(amount.value, terms.times), most) > 0
        ? [
            witness(
              `refused at a spend of ${amount.text}, where the service shows ${last.text} ${unit}`,
              request,
            ),
          ]
        : []
    })
    const [first, ...rest] = [...overdrawn, ...ignored, ...doubled].slice(0, 5)
    if (first === undefined) return { verdict: 'pass', observations: readings.length }
    return {
      verdict: 'fail',
      observations: readings.length,
      expected: 'a balance of 0 or more, and a spend within its limit',
      observed: first.shows,
      witnesses: [first, ...rest],
    }
  }),
}
