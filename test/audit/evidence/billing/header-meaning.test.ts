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
/**
 * This many reads from 100 down by 10, each followed by a charge of 2 that shows this much less.
 */
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
  ['without a vote both meanings are possible', [], [after, before]],
  ['five votes for "after" decide', votes(5, 98), [after]],
  ['four votes for "after" do not decide', votes(4, 98), [after, before]],
  ['five votes for "before" decide', votes(5, 100), [before]],
  ['four votes for "before" rank it first', votes(4, 100), [before, after]],
  [
    '20 votes to one for "after" do not decide',
    [...votes(20, 98), ...votes(1, 100, {}, 1000)],
    [after, before],
  ],
  ['21 votes to one for "after" decide', [...votes(21, 98), ...votes(1, 100, {}, 1000)], [after]],
  [
    '20 votes to one for "before" do not decide',
    [...votes(20, 100), ...votes(1, 98, {}, 1000)],
    [before, after],
  ],
  ['21 votes to one for "before" decide', [...votes(21, 100), ...votes(1, 98, {}, 1000)], [before]],
  ['at a tie "after" ranks first', [...votes(1, 100), ...votes(1, 98, {}, 40)], [after, before]],
  [
    'a charge between two equal reads was free, and is no vote',
    Array.from({ length: 10 }, (_, at) =>
      row(at % 2 === 0 ? 'read' : 'charge', at * 20, 100),
    ).concat(row('read', 200, 100)),
    [after, before],
  ],
  ['a fall by another size is not a vote', votes(5, 99), [after, before]],
  [
    'a charge of a model that costs nothing is not a vote',
    Array.from({ length: 20 }, (_, at) => ({
      ...row(at % 2 === 0 ? 'charge' : 'read', at * 20, 100),
      costCredits: 0,
    })),
    [after, before],
  ],
  [
    'a charge that touches the read is not a vote',
    votes(5, 98).map((each) =>
      each.effect === 'read' ? { ...each, endUs: each.callUs + 10 } : each,
    ),
    [after, before],
  ],
  [
    'a charge before a read is also a vote',
    Array.from({ length: 5 }, (_, at) => [
      row('charge', at * 40, 98),
      row('read', at * 40 + 20, 98),
    ])
      .flat()
      .map((each, at) => ({ ...each, value: each.value! - 10 * Math.floor(at / 2) })),
    [after],
  ],
  [
    'a charge before a read that shows the earlier balance is a vote for "before"',
    Array.from({ length: 5 }, (_, at) => [
      row('charge', at * 40, 100 - 10 * at),
      row('read', at * 40 + 20, 98 - 10 * at),
    ]).flat(),
    [before],
  ],
  [
    'a failure shows the balance like a read',
    votes(5, 98).map((each) =>
      each.effect === 'read' ? { ...each, effect: 'failure' as const } : each,
    ),
    [after],
  ],
  [
    'two charges are not a vote',
    votes(5, 98).map((each) => ({ ...each, effect: 'charge' as const })),
    [after, before],
  ],
  [
    'ambiguous requests and requests without a value in between do not matter',
    votes(5, 98).flatMap((each, at) => [
      each,
      { ...row('ambiguous', each.callUs + 6, 0), slot: at },
    ]),
    [after],
  ],
] as const)('%s', (_, rows, meanings) => {
  expect(plain(rows as readonly HistoryRow[])).toEqual(meanings)
})

test('plain answers and streams are voted on separately', () => {
  const rows = [...votes(5, 98), ...votes(5, 100, { streamed: true }, 1000)]
  expect(possibleMeanings(historyOf(rows))).toEqual([{ plain: after, stream: before }])
  expect(possibleMeanings(historyOf([]))).toEqual([
    { plain: after, stream: after },
    { plain: after, stream: before },
    { plain: before, stream: after },
    { plain: before, stream: before },
  ])
})

test('beside another charge, a request does not rank the meanings', () => {
  // A stream that costs nothing is shown 98 before a charge that was called earlier takes 2.
  const beside = [
    { ...row('charge', 0, 96), endUs: 30 },
    { ...row('charge', 10, 98), streamed: true },
    row('read', 40, 96),
  ]
  const ranked = (rows: readonly HistoryRow[]) =>
    possibleMeanings(historyOf(rows)).map(({ stream }) => stream)
  expect(ranked(beside)).toEqual([after, before, after, before])
  expect(ranked(beside.slice(1))).toEqual([before, after, before, after])
})

test('a value includes its own charge if the meaning for its kind is "after"', () => {
  const history = historyOf([row('charge', 0, 1), { ...row('charge', 1, 1), streamed: true }])
  const includes = (meaning: Parameters<typeof includesOwnCharge>[1]) =>
    [0, 1].map(includesOwnCharge(history, meaning))
  expect(includes({ plain: after, stream: before })).toEqual([true, false])
  expect(includes({ plain: before, stream: after })).toEqual([false, true])
})
