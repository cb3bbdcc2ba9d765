import { expect, test } from 'vitest'
import { filterHistory, showsBalance } from '../../../../src/audit/evidence/billing/history.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const row = (slot: number, effect: HistoryRow['effect'], value?: number): HistoryRow => ({
  ...{ slot, callUs: slot * 10, endUs: slot * 10 + 5, effect, costCredits: slot },
  ...(value === undefined ? {} : { value }),
})

test('reads and failures show the balance where they have a value, and no other request does', () => {
  const history = historyOf([
    ...[row(0, 'read', 9), row(1, 'failure', 9), row(2, 'charge', 9), row(3, 'ambiguous', 9)],
    ...[row(4, 'read'), row(5, 'failure')],
  ])
  const shown = Array.from({ length: history.size }, (_, at) => showsBalance(history, at))
  expect(shown).toEqual([true, true, false, false, false, false])
})

test('a filtered history keeps its rows whole and in order, with the runs of earlier ones', () => {
  const rows = [row(0, 'ambiguous'), row(1, 'ambiguous'), row(2, 'read', 9), row(3, 'charge', 8)]
  const history = {
    ...historyOf(rows, { lifetimeUs: 100 }),
    ...{ earlierRunIds: ['one', 'two'], spentOnReads: new Float64Array(4) },
  }
  const kept = filterHistory(history, (at) => at !== 1 && at !== 2)
  expect(kept).toEqual({
    ...historyOf([rows[0]!, rows[3]!], { lifetimeUs: 100 }),
    earlierRunIds: ['one'],
  })
})
