import { expect, test } from 'vitest'
import {
  includesOwnCharge,
  possibleMeanings,
} from '../../../../src/audit/evidence/billing/header-meaning.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const row = (effect: HistoryRow['effect'], callUs: number, value: number): HistoryRow => ({
  ...{ slot: 0, callUs, endUs: callUs + 5, effect, value },
  costCredits: effect === 'read' ? 0 : 2,
})
const [after, before] = ['after', 'before'] as const
/** So many reads, the first of 100 and each of 10 less, and behind each a charge of 2 that shows so much less. */
const votes = (count: number, value: number, more: Partial<HistoryRow> = {}, fromUs = 0) =>
  Array.from({ length: count }, (_, at) => [
    row('read', fromUs + at * 20, 100 - 10 * at),
    { ...row('charge', fromUs + at * 20 + 10, value - 10 * at), ...more },
  ]).flat()
const plain = (rows: readonly HistoryRow[]) => {
  const meanings = possibleMeanings(historyOf(rows))
  return [...new Set(meanings.map((each) => each.plain))]
}

test.each([
  ['without a vote both are possible', [], [after, before]],
  ['five votes for after decide', votes(5, 98), [after]],
  ['four do not', votes(4, 98), [after, before]],
  ['five votes for before decide', votes(5, 100), [before]],
  ['four rank it first', votes(4, 100), [before, after]],
  [
    'twenty against one do not decide for after',
    [...votes(20, 98), ...votes(1, 100, {}, 1000)],
    [after, before],
  ],
  ['twenty-one do', [...votes(21, 98), ...votes(1, 100, {}, 1000)], [after]],
  [
    'twenty against one do not decide for before',
    [...votes(20, 100), ...votes(1, 98, {}, 1000)],
    [before, after],
  ],
  ['twenty-one do, too', [...votes(21, 100), ...votes(1, 98, {}, 1000)], [before]],
  ['even votes rank after first', [...votes(1, 100), ...votes(1, 98, {}, 40)], [after, before]],
  ['a fall of another size has no vote', votes(5, 99), [after, before]],
  [
    'a charge that touches the read has none',
    votes(5, 98).map((each) =>
      each.effect === 'read' ? { ...each, endUs: each.callUs + 10 } : each,
    ),
    [after, before],
  ],
  [
    'a charge before a read shows which it is as well',
    Array.from({ length: 5 }, (_, at) => [
      row('charge', at * 40, 98),
      row('read', at * 40 + 20, 98),
    ])
      .flat()
      .map((each, at) => ({ ...each, value: each.value! - 10 * Math.floor(at / 2) })),
    [after],
  ],
  [
    'so does one that shows its balance before',
    Array.from({ length: 5 }, (_, at) => [
      row('charge', at * 40, 100 - 10 * at),
      row('read', at * 40 + 20, 98 - 10 * at),
    ]).flat(),
    [before],
  ],
  [
    'a failure shows the balance as a read does',
    votes(5, 98).map((each) =>
      each.effect === 'read' ? { ...each, effect: 'failure' as const } : each,
    ),
    [after],
  ],
  [
    'two charges have no vote',
    votes(5, 98).map((each) => ({ ...each, effect: 'charge' as const })),
    [after, before],
  ],
  [
    'an ambiguous request and one without a value come between without a vote',
    votes(5, 98).flatMap((each, at) => [
      each,
      { ...row('ambiguous', each.callUs + 6, 0), slot: at },
    ]),
    [after],
  ],
] as const)('%s', (_, rows, meanings) => {
  expect(plain(rows as readonly HistoryRow[])).toEqual(meanings)
})

test('streams have votes of their own', () => {
  const rows = [...votes(5, 98), ...votes(5, 100, { streamed: true }, 1000)]
  expect(possibleMeanings(historyOf(rows))).toEqual([{ plain: after, stream: before }])
  expect(possibleMeanings(historyOf([]))).toEqual([
    { plain: after, stream: after },
    { plain: after, stream: before },
    { plain: before, stream: after },
    { plain: before, stream: before },
  ])
})

test('whether a value includes its own charge is that of its kind', () => {
  const history = historyOf([row('charge', 0, 1), { ...row('charge', 1, 1), streamed: true }])
  const includes = (meaning: Parameters<typeof includesOwnCharge>[1]) =>
    [0, 1].map(includesOwnCharge(history, meaning))
  expect(includes({ plain: after, stream: before })).toEqual([true, false])
  expect(includes({ plain: before, stream: after })).toEqual([false, true])
})
