import { bill05, bill06 } from '../../../../src/audit/rules/billing/failures.ts'
import { inFlight, read } from '../../in-flight.ts'
import { dear, failed, inTurn, testCases } from './in-turn.ts'

const mixed = (credits: string, successes: number, observations: number) => ({
  verdict: 'inconclusive',
  observations,
  why: `account main: ${credits} too much in a stretch that holds failures and ${successes} successes; either may have been charged wrongly`,
})

testCases([
  [
    'a failure alone that lowers the balance was charged',
    bill05,
    inTurn(100, 100, failed(400), 99),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'account main: nothing charged for failures (1 with 400)',
      observed: '1 credit charged',
      witnesses: [{ slot: 2, shows: 'failed, and the balance fell' }],
    },
  ],
  [
    'at most five failures of a stretch are witnesses',
    bill05,
    inTurn(100, ...Array.from({ length: 6 }, () => failed(429)), 94),
    {
      verdict: 'fail',
      observations: 6,
      observed: '6 credits charged',
      witnesses: [1, 2, 3, 4, 5].map((slot) => ({ slot })),
    },
  ],
  [
    'failures that cost nothing pass, and each counts',
    bill06,
    inTurn(100, failed(500), failed(599), 100, failed(499), 100, {}, 98),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'a 5xx is no evidence about a 4xx',
    bill05,
    inTurn(100, failed(500), 99),
    { verdict: 'not-observed', requires: 'a 4xx between two idle values of the balance' },
  ],
  [
    'a 4xx is no evidence about a 5xx',
    bill06,
    inTurn(100, failed(499), 99),
    {
      verdict: 'not-observed',
      requires: 'a 5xx between two idle values; a service that never fails shows none',
    },
  ],
  [
    'a failure may have cost the price of its model',
    bill05,
    inTurn(100, failed(400, dear), 98),
    { verdict: 'fail', observed: '2 credits charged' },
  ],
  [
    'credits beyond the possible cost of a failure have another cause',
    bill05,
    inTurn(100, failed(400, dear), 97),
    mixed('3 credits', 0, 1),
  ],
  [
    'with two kinds of failures either may have been charged',
    bill05,
    inTurn(100, 100, failed(400), failed(500), 99),
    mixed('1 credit', 0, 1),
  ],
  [
    'a failure next to a success, once, is inconclusive',
    bill06,
    inTurn(100, failed(500), failed(500), {}, 97),
    mixed('2 credits', 1, 2),
  ],
  [
    'two falls that match the number of failures are charged to them',
    bill06,
    inTurn(100, failed(503), failed(503), {}, 97, failed(503), {}, {}, 94),
    {
      verdict: 'fail',
      observations: 3,
      expected: 'account main: nothing charged for failures (2 with 503)',
      observed: '2 credits charged',
    },
  ],
  [
    'two falls that match the price of failures are charged to them',
    bill06,
    inTurn(100, failed(503, dear), {}, 97, failed(503, dear), {}, {}, 93),
    { verdict: 'fail', observations: 2, observed: '2 credits charged' },
  ],
  [
    'failures with other statuses do not count for the rule',
    bill05,
    inTurn(100, failed(503), {}, 98, failed(503), {}, 96, failed(400), 96),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'if some failures cost nothing, not all are charged',
    bill06,
    inTurn(100, failed(503), {}, 98, failed(503), {}, 97),
    mixed('1 credit', 1, 2),
  ],
  [
    'values that fit one history prove its failures free',
    bill05,
    [
      read(0, 0, 100),
      inFlight(1, 1, 4, 99),
      inFlight(2, 2, 5, null, failed(400)),
      inFlight(3, 2, 5, null, failed(400)),
      inFlight(4, 2, 5, null, failed(500)),
      read(5, 6, 99),
    ],
    { verdict: 'pass', observations: 2 },
  ],
  [
    'they are also proven free without an idle balance',
    bill05,
    [
      read(0, 0, 100),
      inFlight(1, 1, 4, 99),
      inFlight(2, 2, 5, null, failed(400)),
      inFlight(3, 2, 5, null, failed(400)),
      inFlight(4, 4, 9, 98),
      inFlight(5, 5, 9, 97),
    ],
    { verdict: 'pass', observations: 2 },
  ],
])
