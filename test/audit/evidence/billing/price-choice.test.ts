import { expect, test } from 'vitest'
import { chosenPrices } from '../../../../src/audit/evidence/billing/price-choice.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const request = (slot: number, effect: 'read' | 'charge', value: number): HistoryRow => ({
  ...{ slot, callUs: slot * 1e6, endUs: slot * 1e6 + 50, effect, value },
  costCredits: effect === 'read' ? 0 : 1,
})
/** A read of 100, and a charge after which so many credits too many are gone: so many are astray, in one balance gap. */
const missing = (credits: number) => [request(0, 'read', 100), request(1, 'charge', 99 - credits)]
/** Two charges that only the last value shows. */
const late = [
  ...[request(0, 'read', 100), request(1, 'charge', 100), request(2, 'charge', 100)],
  request(100, 'read', 98),
]
const left = (slot: number): HistoryRow => ({
  ...{ slot, callUs: slot * 1e6, endUs: slot * 1e6 + 50, effect: 'ambiguous', costCredits: 1 },
  abandonment: 'aborted',
})
/** One of two attempts that were left was charged, by no policy: the values fit in doubt. */
const doubtful = [
  ...[request(0, 'read', 100), left(1), request(2, 'read', 99), left(3), request(4, 'read', 99)],
]

/** Which of some assumptions is chosen, each of one or more histories. */
function choice(...all: readonly (readonly (readonly HistoryRow[])[])[]) {
  const [first, ...others] = all.map((histories, nth) => () => ({
    prices: { reads: { models: nth, credits: 0 }, openReads: [], emptyIsFree: null },
    histories: histories.map((rows) => historyOf(rows)),
    pricedReads: 0,
  }))
  return chosenPrices([first!, ...others], []).prices.reads.models
}

test('the first prices that leave nothing unexplained are chosen, and none after them is tried', () => {
  const never = [null as never]
  expect(choice([missing(0)], never)).toBe(0)
  expect(choice([missing(2)], [missing(0)], never)).toBe(1)
})

test.each([
  ['fewer credits astray are better', [[missing(2)], [missing(1)], [missing(3)]], 1],
  ['of prices as good the first are chosen', [[missing(2)], [missing(1)], [missing(1)]], 1],
  ['what several histories leave adds up', [[missing(1), missing(1)], [missing(2)]], 1],
  ['late charges are better than a credit astray in its balanceGap', [[missing(1)], [late]], 1],
  ['but not than nothing unexplained', [[late], [missing(0)]], 1],
  ['nor do they hide what another history leaves', [[late, missing(1)], [missing(1)]], 1],
  ['values that fit in doubt are as good as late charges', [[doubtful], [late]], 0],
  ['and late charges as they', [[late], [doubtful]], 0],
  ['but worse than values that fit', [[doubtful], [missing(0)]], 1],
] as const)('%s', (_, assumptions, chosen) => {
  expect(choice(...assumptions)).toBe(chosen)
})

test.each([
  [0, 0, null],
  [0, 1, /only if one read cost a credit each/],
  [0, 2, /only if 2 reads cost a credit each/],
  [0, 3, null],
  [1, 1, null],
] as const)(
  'with %i credits missing and %i priced reads the doubt is %s',
  (credits, pricedReads, doubt) => {
    const { readings } = chosenPrices(
      [
        () => ({
          prices: { reads: { models: 1, credits: 0 }, openReads: [], emptyIsFree: null },
          ...{ histories: [historyOf(missing(credits))], pricedReads },
        }),
      ],
      [],
    )
    if (doubt === null) expect(readings[0]!.doubt).toBeNull()
    else expect(readings[0]!.doubt).toMatch(doubt)
  },
)
