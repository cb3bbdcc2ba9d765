import { priceJudgements } from '../../evidence/prices/judgements.ts'
import { sumsOf } from '../../evidence/prices/sums.ts'
import { rangeOf } from '../../evidence/prices/taken-doubt.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, witnessAt } from '../../verdict.ts'

const requires = 'a cost in the answers, a log (--log) or reads of the balance'

export const price08: Rule = {
  id: 'PRICE-08',
  title: 'What is computed, stated, logged and taken adds up to one sum',
  section: 'contract: prices, evidence',
  severity: 'advice',
  explain: `Shows the sums of all places beside each other, by model and form, with the requests whose costs differ. Computed is
what the contract gives for the usage; a request that may have several right costs is left out of it. Taken is what
the balance lost, or the spend gained, between the first and the last reading; it differs if no costs that are right give it, and is
inconclusive where PRICE-06 would be: a payment may have come in between, or another amount is meant.
It is a view of what PRICE-03 to PRICE-06 judge, and decides nothing else.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const sums = found === null ? null : sumsOf(found)
    if (found === null || sums === null) return notObserved(requires)
    const { table, rows, summary, differing, wronglyTaken, doubt, compared } = sums
    const tables = rows === null ? [table] : [table, rows]
    if (doubt !== null && differing.length === 0)
      return inconclusive(compared, doubt, undefined, { tables })
    if (wronglyTaken !== null && differing.length === 0)
      return fail(compared, {
        expected: 'what is taken is the sum of the costs',
        observed: `what was taken differs from the costs, ${rangeOf(wronglyTaken, found.prices.currency.name)} by the contract: ${summary}`,
        witnesses: [witnessAt(wronglyTaken.last.request, 'the last value of the balance')],
        tables,
      })
    if (differing.length === 0) return pass(compared, { note: summary, tables })
    return fail(compared, {
      expected: 'one cost for each request at all places',
      fact: `${differing.length} of ${compared} requests have costs that differ between the places`,
      observed: `${differing.length} of ${compared} requests differ: ${summary}`,
      witnesses: differing
        .slice(0, 5)
        .map((request) => witnessAt(request, 'costs differ between the places')),
      tables,
    })
  }),
}
