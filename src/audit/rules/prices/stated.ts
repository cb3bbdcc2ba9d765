import { type PriceJudgements, priceJudgements } from '../../evidence/prices/judgements.ts'
import { partFindings } from '../../evidence/prices/part-findings.ts'
import { placeVerdict } from '../../evidence/prices/place-verdict.ts'
import { unlessUnreadable } from '../../evidence/prices/unreadable.ts'
import { hasPromises, type Rule, whenPromised } from '../../rule.ts'
import { notesOf, notObserved, type Verdict } from '../../verdict.ts'

const requires =
  'an answer that states its cost where evidence.cost says, stored whole (capture: all)'

/** Answers that state no cost, where others do; undefined without any. */
function unstated(requests: PriceJudgements['requests']): string | undefined {
  const answers = requests.filter(({ outcomes, hasHead }) => outcomes[0] === 'success' && hasHead)
  const silent = answers.filter(({ stated }) => stated.length === 0)
  const streams = silent.filter(({ isStream }) => isStream).length
  return silent.length === 0
    ? undefined
    : `${silent.length} of ${answers.length} answers state no cost${streams === 0 ? '' : `, ${streams} of them streams`}`
}

export const price03: Rule = {
  id: 'PRICE-03',
  title: 'An answer states the cost that its usage has by the contract',
  section: 'contract: prices, evidence.cost',
  explain: `Computes the exact cost of each usage, and compares it with the cost in the header or body that the contract names.
A cost may be off by the place that it shows, and by 10^-12, since floats are no fault. Where the contract leaves
something open (an outcome, an edge of hours, a part that is not reported), every cost that it allows is right.
A wrong cost is explained by the single change that gives it exactly, or by two that both do, with the money at stake. A change that
would also move costs that are right is named only where no other gives the wrong ones. Without a
promise of rounding, different costs that are all above the exact one, or far more often too high than too low by more than half of
the last place, are rounded up, and fail (a sign test; of all, of one form or of one model). A few are inconclusive. So are
costs below the prices in the order of free requests a day (allowance: none says that there are none), or of a discount for what was used before, and
charges for answers that the client left where nothing bounds their tokens, and those that are right only if the service counted thoughts
that it does not show, or a longer prompt than its text lets expect.
Each part of a price that the traffic shows is a promise of its own. If every request that costs 0 repeats an earlier
one with its answer, a cache of the gateway may have answered: without charged.gateway_cache, that decides nothing.
A cost that is no number, such as \`$0.002\`, makes the rule inconclusive. A pass says how many answers state none.
It cannot detect wrong counts that the cost agrees with.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    if (found === null) return notObserved(requires)
    const results = [...found.stated].map(([, judged]) =>
      placeVerdict(judged, found.prices, found.judge, requires),
    )
    const worst = ['fail', 'inconclusive', 'pass'].flatMap((kind) =>
      results.filter(({ verdict }) => verdict.verdict === kind),
    )
    const readable = [...found.stated.values()].flat().length
    const verdict = unlessUnreadable(
      worst[0]?.verdict ?? notObserved(requires),
      found.unreadable,
      readable,
    )
    return verdict.verdict === 'pass'
      ? { ...verdict, ...notesOf(verdict.note, unstated(found.requests)) }
      : verdict
  }),
  async findings(evidence) {
    if (!hasPromises(evidence, ['prices'])) return []
    const found = await priceJudgements(evidence)
    const judged = found === null ? [] : [...found.stated.values()].flat()
    // Without stated costs, the log shows the parts.
    const shown = found !== null && judged.length === 0 ? found.logged : judged
    if (found === null || shown.length === 0) return []
    const result = placeVerdict(shown, found.prices, found.judge, requires)
    return partFindings('PRICE-03', 'must', shown, result, found)
  },
}
