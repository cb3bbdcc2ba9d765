import type { BalanceTerms } from '../../../contract/prices.ts'
import { add, zero } from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { explainSums } from '../../evidence/prices/explain-sums.ts'
import type { Misfit } from '../../evidence/prices/header-states.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import type { ReadingStretch } from '../../evidence/prices/stretches.ts'
import { short } from '../../evidence/prices/taken-doubt.ts'
import { exactCost, type Window } from '../../evidence/prices/windows.ts'
import { fail, inconclusive, type Verdict, witnessAt } from '../../verdict.ts'

/** Values next to each other between which something else was taken than the requests between them cost. */
export function misfitVerdict(
  { windows, judged: count, isSure }: Misfit,
  stretches: readonly ReadingStretch[],
  { requests, prices, judge }: PriceJudgements,
  terms: BalanceTerms,
): Verdict {
  const unit = prices.currency.name
  const [first] = windows
  const witnesses = windows
    .slice(0, 5)
    .map((window) =>
      witnessAt(
        window.requests.at(-1) ?? window.last.request,
        `${window.first.text} to ${window.last.text}: ${amountsOf(window, judge, unit)}`,
      ),
    )
  const fact = amountsOf(first!, judge, unit)
  if (!isSure)
    return inconclusive(
      count,
      `${fact}; so it is if the charge is wrong, or if a value before was read before its own charge and the others after it`,
      witnesses,
    )
  return fail(count, {
    expected: `${short(dueIn(first!, judge))} ${unit}`,
    fact: `${fact}, from one value to the next`,
    observed: `${fact}, from one value to the next; ${windows.length} of ${count} are wrong${explainSums(stretches, requests, terms, judge, new Map())}`,
    witnesses,
  })
}

const dueIn = ({ requests }: Window, judge: PriceJudge) =>
  requests.map((request) => exactCost(request, judge) ?? zero).reduce(add, zero)

function amountsOf(window: Window, judge: PriceJudge, unit: string): string {
  const due = dueIn(window, judge)
  const { length } = window.requests
  return `${short(add(due, window.apart))} ${unit} taken, where ${length} ${length === 1 ? 'request costs' : 'requests cost'} ${short(due)} ${unit}`
}
