import { expect } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { bill11 } from '../../../../src/audit/rules/billing/concurrent-history.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, failed, inTurn, testCases } from './in-turn.ts'

const expected =
  'account main: a history in which every charge applies once, to the balance after the charge before it'
const others = 'Traffic of others on this account would look the same.'
const none = {
  verdict: 'not-observed',
  requires: 'requests of one account in flight at the same time, and two values of its balance',
}
const exact = 'Every value is exact: the header shows the balance at each charge.'

/** Six reads between five charges of 1, then two charges at once: all values by one meaning. */
function inOneMeaning(account: string, own: 'after' | 'before', charged: Partial<AttemptRow> = {}) {
  const first = account === 'main' ? 0 : 100
  const shown = (left: number) => (own === 'after' ? left : left + 1)
  const turns = Array.from({ length: 5 }, (_, at) => [
    read(first + 2 * at, 4 * at, 100 - at),
    inFlight(first + 2 * at + 1, 4 * at + 1, 4 * at + 2, shown(99 - at), charged),
  ]).flat()
  const last = [
    read(first + 20, 30, 95),
    inFlight(first + 21, 31, 34, shown(94), charged),
    inFlight(first + 22, 32, 35, shown(93), charged),
  ]
  return [...turns, ...last].map((row) => ({ ...row, account }))
}

testCases([
  ['sequential requests are not concurrent', bill11, inTurn(100, {}, 99, {}, 98), none],
  [
    'a request that begins as another ends is not concurrent with it',
    bill11,
    [inFlight(0, 0, 1, 99), inFlight(1, 1, 2, 98)],
    none,
  ],
  [
    'reads and failures do not count as concurrent charges',
    bill11,
    [inFlight(0, 0, 5, 99), read(1, 1, 100), inFlight(2, 2, 3, null, failed(500))],
    none,
  ],
  [
    'a short request within a long one is also concurrent with the next',
    bill11,
    [inFlight(0, 0, 9, 97), inFlight(1, 1, 2, 99), inFlight(2, 3, 4, 98)],
    { verdict: 'pass', observations: 3, note: exact },
  ],
  [
    'values of two accounts are counted together',
    bill11,
    [
      inFlight(0, 0, 5, 99),
      inFlight(1, 1, 5, 98),
      ...[inFlight(2, 0, 5, 49), inFlight(3, 1, 5, 48)].map((row) => ({
        ...row,
        account: 'other',
      })),
    ],
    { verdict: 'pass', observations: 4 },
  ],
  [
    'a header that shows the own charge for one account and not for another is inconclusive',
    bill11,
    [...inOneMeaning('main', 'after'), ...inOneMeaning('other', 'before')],
    {
      verdict: 'inconclusive',
      observations: 26,
      why: 'no meaning of the header explains all accounts: account main shows the balance after its own charge on plain answers, after it on streams; account other shows the balance before its own charge on plain answers, after it on streams. Either the header of one lags, or it means something else for each.',
    },
  ],
  [
    'a header that shows the balance before the own charge for both accounts passes',
    bill11,
    [...inOneMeaning('main', 'before'), ...inOneMeaning('other', 'before')],
    { verdict: 'pass', observations: 26 },
  ],
  [
    'a header before the own charge passes if one account has only streams and the other only plain answers',
    bill11,
    [...inOneMeaning('main', 'before', { streamed: 1 }), ...inOneMeaning('other', 'before')],
    { verdict: 'pass', observations: 26 },
  ],
  [
    'credits taken by an abandoned request are noted',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 5, 99),
      inFlight(2, 2, 3, null, aborted),
      inFlight(3, 4, 7, 97),
      read(4, 9, 97),
    ],
    { verdict: 'pass', observations: 4, note: '1 credit went to ambiguous attempts.' },
  ],
  [
    'a package that was added meanwhile is noted',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 3, 99),
      inFlight(2, 1.5, 3.5, 98),
      inFlight(3, 4, 6, 597),
      inFlight(4, 4.5, 6.5, 596),
      read(5, 7, 596),
    ],
    { verdict: 'pass', note: '500 credits came in meanwhile; both sides are decided.' },
  ],
  [
    'a balance gap is reported with its place and all requests in flight',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 4, 99),
      inFlight(2, 2, 5, 98),
      inFlight(3, 4.5, 8, 95),
      inFlight(4, 6, 9, 94),
      read(5, 10, 94),
    ],
    {
      verdict: 'fail',
      observations: 6,
      expected,
      observed:
        '2 credits missing between 98 and 95 without a request that explains it, between 2.000000 s and 8.000000 s of the run with 4 in flight',
      note: others,
      witnesses: [
        { slot: 3, shows: 'the first to show the credits gone' },
        { slot: 2, shows: 'in flight then' },
        { slot: 1, shows: 'in flight then' },
        { slot: 4, shows: 'in flight then' },
      ],
    },
  ],
  [
    'of two balance gaps the first is reported, with the number of balance gaps',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 4, 99),
      inFlight(2, 2, 5, 97),
      inFlight(3, 6, 8, 96),
      inFlight(4, 7, 9, 94),
      read(5, 10, 94),
    ],
    {
      verdict: 'fail',
      observed: expect.stringContaining('1 credit missing between 99 and 97'),
      note: `2 such places; the first is shown. ${others}`,
    },
  ],
  [
    'two charges that show the same balance lost one of them',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 5, 98, dear),
      inFlight(2, 2, 6, 98, dear),
      inFlight(3, 7, 8, 96, dear),
      read(4, 9, 96),
    ],
    {
      verdict: 'fail',
      observed: '2 charges that cost 4 together lowered the balance by 2: 2 credits lost',
      witnesses: [
        { slot: 2, shows: 'shows 98' },
        { slot: 1, shows: 'shows 98' },
      ],
    },
  ],
  [
    'a balance above an earlier one is reported with both',
    bill11,
    [inFlight(1, 1, 5, 97), inFlight(2, 2, 3, 98), inFlight(3, 6, 7, 101)],
    {
      verdict: 'fail',
      observed: 'a balance 5 credits above one that had been reached before',
      witnesses: [
        { slot: 3, shows: 'shows 101' },
        { slot: 1, shows: 'had shown 97 before it was called' },
      ],
    },
  ],
  [
    'a header that lags one request is reported as such',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 4, 99),
      inFlight(2, 2, 5, 99),
      inFlight(3, 6, 8, 97),
      inFlight(4, 7, 9, 96),
      read(5, 10, 96),
    ],
    {
      verdict: 'fail',
      observed:
        'a header that is one request behind: 99 where the balance was 98; no credit is missing after it',
      witnesses: [
        { slot: 2, shows: 'shows 99' },
        { slot: 1, shows: 'showed 99 before' },
      ],
    },
  ],
  [
    'a loss of fifty credits per charge may be an expiry',
    bill11,
    [
      read(0, 0, 1000),
      inFlight(1, 1, 4, 999),
      inFlight(2, 2, 5, 998),
      inFlight(3, 6, 8, 997),
      read(4, 10, 847),
    ],
    {
      verdict: 'inconclusive',
      why: expect.stringContaining('account main: 150 credits missing between 997 and 847 without'),
    },
  ],
  [
    'a smaller loss than fifty credits per charge beside it cannot be an expiry',
    bill11,
    [
      read(0, 0, 1000),
      inFlight(1, 1, 4, 999),
      inFlight(2, 2, 5, 998),
      inFlight(3, 6, 8, 997),
      read(4, 10, 960),
    ],
    {
      verdict: 'fail',
      observed: expect.stringContaining('37 credits missing between 997 and 960'),
    },
  ],
  [
    'values that are read a moment late pass with a note',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 5, 98),
      inFlight(2, 2, 6, 98),
      inFlight(3, 7, 9, 96),
      inFlight(4, 8, 10, 96),
      inFlight(5, 11, 13, 94),
      inFlight(6, 12, 14, 94),
      read(7, 15, 94),
    ],
    {
      verdict: 'pass',
      note: 'The header is not an exact balance: it is read a moment after its charge, or shows credits that are held and given back. Decided by tiers 1 and 2.',
    },
  ],
  [
    'one late value among exact ones is inconclusive',
    bill11,
    [read(0, 0, 100), inFlight(1, 1, 5, 98), inFlight(2, 2, 6, 98), read(3, 7, 98)],
    {
      verdict: 'inconclusive',
      observations: 4,
      why: expect.stringContaining(
        'once among 4 values that are exact otherwise. A header read a moment late explains it',
      ),
    },
  ],
  [
    'one late value passes if a failure may have held credits',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 5, 98),
      inFlight(2, 2, 6, 98),
      inFlight(4, 2, 6, null, failed(500)),
      read(3, 7, 98),
    ],
    { verdict: 'pass', observations: 4 },
  ],
  [
    'charges that settle late are reported with their delay',
    bill11,
    [
      read(0, 0, 100),
      inFlight(1, 1, 2, 100),
      inFlight(2, 1.5, 2.5, 100),
      inFlight(3, 3, 4, 99),
      inFlight(4, 3.2, 4.2, 99),
      read(5, 60, 96),
    ],
    {
      verdict: 'inconclusive',
      observations: 6,
      why: 'account main: the values fit only if charges settle up to 1 s after their response; the final balance is right',
    },
  ],
])
