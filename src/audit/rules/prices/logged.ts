import { priceJudgements } from '../../evidence/prices/judgements.ts'
import { placeVerdict } from '../../evidence/prices/place-verdict.ts'
import { unlessUnreadable } from '../../evidence/prices/unreadable.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { inconclusive, notObserved, type Verdict } from '../../verdict.ts'
import { chargedOf, rowsVerdict } from './rows-verdict.ts'

const requires = "the service's own log of these requests: assay audit --log FILE"

export const price04: Rule = {
  id: 'PRICE-04',
  title: 'The log charges the cost that the usage has by the contract',
  section: 'contract: prices, evidence.log',
  explain: `Joins each request with its rows in the service's own log (--log), by the id of the response, a header, or uniquely by
model, tokens and time. The sum of its rows must be the cost that the contract gives. It is judged and explained
as a stated cost is (PRICE-03). Where the contract does not say what an answer costs that the client left, it is inconclusive. An answer that the client left must cost between its input and what it was sent.
A cost that is no number makes it inconclusive, and so does a row without one.
It cannot judge requests without a row, or rows without a request, which PRICE-05 reports.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    if (found === null || found.join === null) return notObserved(requires)
    const { verdict } = placeVerdict(found.logged, found.prices, found.judge, requires)
    const unreadable = found.join.pairs.flatMap(({ request, rows }) =>
      rows.flatMap(({ unreadable: text }) =>
        text === null ? [] : [{ request, place: 'the log', text }],
      ),
    )
    if (verdict.verdict === 'pass') {
      const silent = chargedOf(
        found.join.pairs.flatMap(({ request, rows }) =>
          rows.some(({ cost, unreadable: text }) => cost === null && text === null)
            ? [request]
            : [],
        ),
        found,
      )
      if (silent.length > 0)
        return inconclusive(
          found.logged.length,
          `${silent.length} of ${silent.length + found.logged.length} requests with a cost have a row that states none, which is not 0`,
        )
    }
    return unlessUnreadable(verdict, unreadable, found.logged.length)
  }),
}

export const price05: Rule = {
  id: 'PRICE-05',
  title: 'The log has one row for each request, with its tokens, model, time and stated cost',
  section: 'contract: evidence.log',
  explain: `Compares each request with its rows in the log: charges without a request, requests with a cost and without a row, two
rows with output for one request, a charge for an attempt without output beside them, other tokens, another model, another time, and another cost than the answer
states. A charge before the first request, or after the last, may be of another use of the key: within a minute it is inconclusive by itself, and
further away it is no charge of the run, unless rows of requests are as early or as late. If only some of them are, it is inconclusive. In a log whose
rows are more than a second apart from their requests, as in batches, a charge is surely of the run only between two rows of requests.
A count, a time or the cost of a row without a request that nobody can read makes it inconclusive, and so does a log that ends more than a minute before a request with a
cost. A time is right by the client's clock, or by the service's own, as the Date of the answer shows it. Times without a zone are those
of the clock on earth that most of them fit, also one that changes with summer time. Where the log was read by the ids of answers, an answer
without an id is not missing in it. Rows of other keys are not those of these requests. A row that gives a charge back may repeat its counts,
and may have an id of its own.
It cannot find a row that is missing at the end of a log that is late; evidence.log.within says how late it may be.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    if (found === null || found.join === null) return notObserved(requires)
    return rowsVerdict(found, found.join)
  }),
}
