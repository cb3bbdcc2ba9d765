import { decimalText, isEqual, type Rational, roundTo } from '../../../money/rational.ts'
import { priceJudgements } from '../../evidence/prices/judgements.ts'
import type { ReadingStretch } from '../../evidence/prices/stretches.ts'
import { sumsOf } from '../../evidence/prices/sums.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, notObserved, pass, type Verdict, witnessAt } from '../../verdict.ts'

const requires = 'a cost in the answers, a log (--log) or reads of the balance'

export const price08: Rule = {
  id: 'PRICE-08',
  title: 'What is computed, stated, logged and taken adds up to one sum',
  section: 'contract: prices, evidence',
  severity: 'advice',
  needs: ['passive'],
  explain: `Shows the sums of all places beside each other, by model and form, with the requests whose costs differ. Computed is
what the contract gives for the usage; a request that may have several right costs is left out of it. Taken is what
the balance lost, or the spend gained, between the first and the last reading; it differs if no costs that are right give it.
It is a view of what PRICE-03 to PRICE-06 judge, and decides nothing else.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const sums = found === null ? null : sumsOf(found)
    if (sums === null) return notObserved(requires)
    const { table, rows, summary, differing, wronglyTaken, doubt, compared } = sums
    const tables = rows === null ? [table] : [table, rows]
    if (doubt !== null && differing.length === 0)
      return { verdict: 'inconclusive', observations: compared, why: doubt, tables }
    if (wronglyTaken !== null && differing.length === 0)
      return fail(compared, {
        expected: 'what is taken is the sum of the costs',
        observed: `what was taken differs from the costs, ${boundsText(wronglyTaken)} by the contract: ${summary}`,
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

/** `0.1 to 0.3`, `0.2`, `0.1 or more`. */
function boundsText({ low, high }: ReadingStretch): string {
  if (high === null) return `${amountText(low)} or more`
  return isEqual(low, high) ? amountText(low) : `${amountText(low)} to ${amountText(high)}`
}

const amountText = (value: Rational) => decimalText(roundTo(value, 12, 'half_even'))
