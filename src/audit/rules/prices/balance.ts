import { type BalanceTerms, valuesOf } from '../../../contract/prices.ts'
import { settledReadings } from '../../evidence/prices/held.ts'
import {
  type PriceJudgements,
  priceJudgements,
  recordedCosts,
} from '../../evidence/prices/judgements.ts'
import { readingsOf, withoutLimit } from '../../evidence/prices/readings.ts'
import { stretchesOf } from '../../evidence/prices/stretches.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { inconclusive, notObserved, type Verdict, withNote } from '../../verdict.ts'
import { type Moves, requires, verdictOn } from './balance-checks.ts'

export const price06: Rule = {
  id: 'PRICE-06',
  title: 'The balance moves by the costs of the requests',
  section: 'contract: prices, evidence.balance',
  needs: ['quiescence'],
  explain: `Compares what a balance lost, or a spend gained, between two readings with the costs of the requests between them. A
value may be as late as evidence.balance.within says, so a request near a reading may count on either side. Costs
that are open bound nothing from above, and the rule is inconclusive where the contract does not say what an answer costs that the client left,
or where what was taken is right only if the service counted thoughts that it does not show, or a longer prompt than its text lets expect; where the contract leaves a cost between bounds, the log, or else the answer, says which it is. A wrong sum is explained by the single change that gives all of them.
A balance with d decimals shows no error below 10^-d: spend 100 x 10^-d between two readings to see 1 %. Costs that are
whole units of the currency are exact: no rounding moves them. Any other may be rounded, by one unit each.
A value that is no number, such as \`1,499\`, makes the rule inconclusive, and so do answers that show none. The value in the header of
an answer may have the charge of that answer or not. Values of one model, form and path that change from one to the other once, and
stay so, are a wrong charge (a runs test, below one in 10,000); after the first one or two values it is inconclusive. Where most values were read while other requests were in flight, and could hide more
than a twentieth, it is inconclusive, too. Money may be held back for a request that runs, or has not settled: a value with too much taken beside
one is left out where the next shows that it was given back, and inconclusive where none does. Values that are right if they may be later than the contract says
fail, and are inconclusive where it says nothing. It is inconclusive, too, if a fifth of the requests with a cost have no value before them, or after them. It takes an account without other traffic. A rise of a
balance by more than the requests between can have cost is a payment: that stretch is left out. What is left of a grant (evidence.balance.grants)
may be lost when it expires, and not before; nothing of it is lost while the value still has it, as the sum of all grants shows. Charges below the prices whose order is that of free requests a day, or of a discount for volume, are inconclusive, and so are
charges for answers that came again where the contract does not say what these cost. Each value that
evidence.balance.also names is compared likewise.`,
  ...whenPromised(['prices', 'evidence.balance'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const terms = found?.prices.evidence.balance
    if (found == null || terms == null) return notObserved(requires)
    const each = valuesOf(terms).map((value) => ({ value, verdict: judged(found, value) }))
    const worst = (['fail', 'inconclusive', 'not-observed'] as const)
      .flatMap((is) => each.find(({ verdict }) => verdict.verdict === is) ?? [])
      .at(0)
    if (each.length === 1) return each[0]!.verdict
    if (worst === undefined)
      return withNotes(each.map(({ value, verdict }) => ({ name: nameOf(value), verdict })))
    return ofValue(nameOf(worst.value), worst.verdict)
  }),
}

const nameOf = ({ value, header }: BalanceTerms) => value ?? header ?? ''

/** A pass of several values has the notes of each. */
const withNotes = (
  each: readonly { readonly name: string; readonly verdict: Verdict }[],
): Verdict =>
  each
    .map(({ name, verdict }) =>
      verdict.verdict === 'pass' && verdict.note !== undefined
        ? { ...verdict, note: `${name}: ${verdict.note}` }
        : verdict,
    )
    .reduce((all, next) => withNote(all, (next.verdict === 'pass' && next.note) || null))

/** A verdict on one of several values names it. */
function ofValue(name: string, verdict: Verdict): Verdict {
  if (verdict.verdict === 'fail') return { ...verdict, observed: `${name}: ${verdict.observed}` }
  if (verdict.verdict === 'inconclusive') return { ...verdict, why: `${name}: ${verdict.why}` }
  if (verdict.verdict === 'not-observed') return { ...verdict, requires: `${requires} (${name})` }
  return verdict
}

function judged(all: PriceJudgements, terms: BalanceTerms): Verdict {
  const unlimited = withoutLimit(all, terms)
  const [first] = unlimited
  if (first === undefined) return judgedBy(all, terms)
  if (readingsOf(all, terms).length === 0)
    return inconclusive(
      unlimited.length,
      `the balance is ${first.text} at each of ${unlimited.length} reads: a word for an account without a limit, or a balance that does not move`,
    )
  const accounts = new Set(unlimited.map(({ account }) => account))
  const requests = all.requests.filter(({ account }) => !accounts.has(account))
  return withNote(
    judgedBy({ ...all, requests }, terms),
    `left out: ${accounts.size} ${accounts.size === 1 ? 'account that shows' : 'accounts that show'} ${first.text} at each read, a word for no limit`,
  )
}

/** The verdict on accounts with a limit. */
function judgedBy(found: PriceJudgements, terms: BalanceTerms): Verdict {
  const recorded = recordedCosts(found)
  const of = [found.requests, terms, found.judge, recorded] as const
  const settled = settledReadings(readingsOf(found, terms), ...of)
  const stretches = stretchesOf(settled.readings, ...of)
  const shown = stretches.filter(({ isRight, isShown }) => isRight && isShown)
  const unit = found.prices.currency.name
  const moves: Moves = { found, terms, unit, recorded, ...settled, stretches, shown }
  return verdictOn(moves)
}
