import { type BalanceTerms, valuesOf } from '../../../contract/prices.ts'
import { compare, zero } from '../../../money/rational.ts'
import {
  type ReadingStretch,
  readingsOf,
  stretchesOf,
  unreadable,
} from '../../evidence/prices/balance.ts'
import { explainSums } from '../../evidence/prices/explain-sums.ts'
import {
  type PriceJudgements,
  priceJudgements,
  recordedCosts,
} from '../../evidence/prices/judgements.ts'
import { silenceOn, silenceText } from '../../evidence/prices/place-verdict.ts'
import { againText, asSurelyAgain, mayBeNew } from '../../evidence/prices/replays.ts'
import { doubtOfTaken, rangeOf, short } from '../../evidence/prices/taken-doubt.ts'
import { unlikeValues } from '../../evidence/prices/unlike-values.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'

const requires =
  'reads of the balance or spend that evidence.balance names, before, between and after requests with a cost'

export const price06: Rule = {
  id: 'PRICE-06',
  title: 'The balance moves by the costs of the requests',
  section: 'contract: prices, evidence.balance',
  severity: 'must',
  needs: ['quiescence'],
  explain: `Compares what a balance lost, or a spend gained, between two readings with the costs of the requests between them. A
value may be as late as evidence.balance.within says, so a request near a reading may count on either side. Costs
that are open bound nothing from above, and the rule is inconclusive where the contract does not say what an answer costs that the client left; where the contract leaves a cost between bounds, the log, or else the answer, says which it is. A wrong sum is explained by the single change that gives all of them.
A balance with d decimals shows no error below 10^-d: spend 100 x 10^-d between two readings to see 1 %. Costs that are
whole units of the currency are exact: no rounding moves them. Any other may be rounded, by one unit each.
A value that is no number, such as \`1,499\`, makes the rule inconclusive. It takes an account without other traffic. A rise of a
balance by more than the requests between can have cost is a payment: that stretch is left out. Each value that
evidence.balance.also names is compared likewise.`,
  ...whenPromised(['prices', 'evidence.balance'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    const terms = found?.prices.evidence.balance
    if (found == null || terms == null) return notObserved(requires)
    const each = valuesOf(terms).map((value) => ({ value, verdict: judged(found, value) }))
    const worst = (['fail', 'inconclusive', 'not-observed'] as const)
      .flatMap((is) => each.find(({ verdict }) => verdict.verdict === is) ?? [])
      .at(0)
    if (each.length === 1 || worst === undefined) return each[0]!.verdict
    return ofValue(worst.value.value ?? worst.value.header ?? '', worst.verdict)
  }),
}

/** A verdict on one of several values names it. */
function ofValue(name: string, verdict: Verdict): Verdict {
  if (verdict.verdict === 'fail') return { ...verdict, observed: `${name}: ${verdict.observed}` }
  if (verdict.verdict === 'inconclusive') return { ...verdict, why: `${name}: ${verdict.why}` }
  if (verdict.verdict === 'not-observed') return { ...verdict, requires: `${requires} (${name})` }
  return verdict
}

function judged(found: PriceJudgements, terms: BalanceTerms): Verdict {
  const readings = readingsOf(found, terms)
  const recorded = recordedCosts(found)
  const stretches = stretchesOf(readings, found.requests, terms, found.judge, recorded)
  const wrong = stretches.filter(({ isRight }) => !isRight)
  const shown = stretches.filter(({ isRight, isShown }) => isRight && isShown)
  const unit = found.prices.currency.name
  const [first] = wrong
  if (first !== undefined) {
    const doubt = doubtOfTaken(found, readings, terms, first)
    if (doubt !== null) return inconclusive(stretches.length, doubt, [witnessOf(first, unit)])
    const why =
      explainSums(stretches, found.requests, terms, found.judge) ||
      unlikeValues(readings, found.requests, terms, found.judge, recorded)
    const witnesses = wrong.slice(0, 5).map((stretch) => witnessOf(stretch, unit))
    return fail(stretches.length, {
      expected: rangeOf(first, unit),
      fact: `${short(first.taken)} ${unit} were taken between two readings, where ${first.count} ${first.count === 1 ? 'request costs' : 'requests cost'} ${rangeOf(first, unit)}`,
      observed: `${short(first.taken)} ${unit} between two readings; ${wrong.length} of ${stretches.length} stretches are wrong${why}`,
      witnesses: [witnesses[0]!, ...witnesses.slice(1)],
    })
  }
  const texts = unreadable(found, terms)
  const [text] = texts
  if (text !== undefined) {
    const { runId, slot, retry } = text.request
    const shows = `shows ${JSON.stringify(text.text)}`
    return inconclusive(
      readings.length + texts.length,
      `${texts.length} of ${readings.length + texts.length} values of the balance are no number: ${JSON.stringify(text.text)}`,
      [{ runId, slot, retry, shows }],
    )
  }
  const accounts = new Set(readings.map(({ account }) => account)).size
  const leftOut = readings.length - accounts - stretches.filter(({ isWhole }) => !isWhole).length
  const note = `${leftOut} ${leftOut === 1 ? 'stretch was' : 'stretches were'} left out, in which the balance was added to, or a spend began anew`
  // What is taken beyond the certain costs, where no place shows a cost, may be that of any end.
  const beyond = new Set(
    stretches
      .filter(({ high, low, taken }) => high === null && compare(taken, low) > 0)
      .flatMap(({ requests }) => requests()),
  )
  const silent = found.requests.filter((request) => {
    const shownCost = recorded.get(request)?.value ?? (beyond.has(request) ? null : zero)
    return silenceOn(request, found.judge, shownCost) !== null
  })
  if (shown.length + beyond.size > 0 && silent.length > 0)
    return inconclusive(stretches.length, silenceText(silent))
  const again = found.requests.filter((each) => mayBeNew(each, found.judge))
  const areRight = (requests: PriceJudgements['requests']) =>
    stretchesOf(readings, requests, terms, found.judge, recorded).every(({ isRight }) => isRight)
  if (again.length > 0 && !areRight(asSurelyAgain(found.requests, found.judge)))
    return inconclusive(stretches.length, againText(again.length))
  if (shown.length > 0) return pass(shown.length, leftOut === 0 ? {} : { note })
  if (readings.length < 2) return notObserved(requires)
  return inconclusive(
    readings.length,
    'the costs between the readings are open, or smaller than the place that the balance shows',
  )
}

function witnessOf(stretch: ReadingStretch, unit: string): Witness {
  const { first, last, count, taken } = stretch
  const { runId, slot, retry } = stretch.requests()[0] ?? last.request
  return {
    runId,
    slot,
    retry,
    shows: `${first.text} to ${last.text}: ${short(taken)} ${unit} for ${count} ${count === 1 ? 'request' : 'requests'}, expected ${rangeOf(stretch, unit)}`,
  }
}
