import { bill10 } from '../../../../src/audit/rules/billing/conservation.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, inTurn, shows, testCases } from './in-turn.ts'

const fails = (expected: string, observed: string, more: object = {}) => ({
  verdict: 'fail',
  expected: `account main: ${expected}`,
  observed,
  ...more,
})
const open = (why: string, more: object = {}) => ({
  verdict: 'inconclusive',
  why: `account main: ${why}`,
  ...more,
})
const expired = 'Credits that expired would look the same.'
const gift = (credits: number) => `A package or grant of ${credits} credits would look the same.`

testCases([
  [
    'a balance that falls by the cost of the successes passes',
    bill10,
    inTurn(100, {}, 99, {}, dear, 96),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'a single value is no evidence',
    bill10,
    inTurn(100, {}),
    {
      verdict: 'not-observed',
      requires:
        'two values of the balance with nothing in flight: GET /user/credits before and after, or one request at a time',
    },
  ],
  [
    'a balance that falls by more fails',
    bill10,
    inTurn(100, {}, dear, 95),
    fails('a fall by 3 for 2 successes', 'a fall by 5: 2 credits too much', {
      observations: 1,
      note: 'Traffic of others on this account would look the same.',
      witnesses: [
        { slot: 3, shows: 'the balance fell by 5 since the idle balance before' },
        { slot: 0, shows: 'the idle balance before' },
      ],
    }),
  ],
  [
    'a balance that falls by less fails, and other traffic cannot explain it',
    bill10,
    inTurn(100, dear, 99),
    { ...fails('a fall by 2 for 1 success', 'a fall by 1: 1 credit too little') },
  ],
  [
    'a balance that falls without a success fails',
    bill10,
    inTurn(100, 98),
    fails('no fall, since nothing succeeded', 'a fall by 2: 2 credits too much'),
  ],
  [
    'an abandoned request may cost its price',
    bill10,
    inTurn(100, {}, aborted, 96),
    fails('a fall by 1 to 2 (ambiguous attempts) for 1 success', 'a fall by 4: 2 credits too much'),
  ],
  [
    'an abandoned request alone may explain a fall by its price',
    bill10,
    inTurn(100, aborted, 97),
    fails(
      'a fall by 0 to 1 (ambiguous attempts) for 0 successes',
      'a fall by 3: 2 credits too much',
    ),
  ],
  [
    'the place with the fewest successes is shown',
    bill10,
    inTurn(100, {}, {}, 97, {}, 95, {}, {}, {}, 91),
    fails('a fall by 1 for 1 success', 'a fall by 2: 1 credit too much', {
      observations: 3,
      witnesses: [{ slot: 5 }, { slot: 3 }],
    }),
  ],
  [
    'a rise that is not a grant fails as a rise',
    bill10,
    inTurn(100, {}, 103),
    fails('a fall by 1 for 1 success', 'a rise by 3: 4 credits too little', {
      witnesses: [{ slot: 2, shows: 'the balance rose by 3 since the idle balance before' }, {}],
    }),
  ],
  [
    'one rise of a size that a customer buys may be added credits; the fall beside it is none',
    bill10,
    inTurn(100, 877, {}, 874),
    fails('a fall by 1 for 1 success', 'a fall by 3: 2 credits too much', {
      witnesses: [{ slot: 3 }, { slot: 1 }],
    }),
  ],
  [
    'one such rise beside nothing wrong is inconclusive',
    bill10,
    inTurn(100, 877, 877),
    open(
      'the balance rose by 777 since the idle balance before, where 0 successes cost 0. Credits that somebody added would look the same.',
    ),
  ],
  [
    'a rise by a grant is inconclusive',
    bill10,
    inTurn(100, {}, 149),
    open(
      `the balance rose by 49 since the idle balance before, where 1 success cost 1. ${gift(50)}`,
      {
        observations: 1,
        witnesses: [
          { slot: 2, shows: 'the balance rose by 49 since the idle balance before' },
          { slot: 0, shows: 'the idle balance before' },
        ],
      },
    ),
  ],
  [
    'a grant minus the price of an abandoned request is inconclusive',
    bill10,
    inTurn(100, aborted, 149),
    open(
      `the balance rose by 49 since the idle balance before, where 0 successes cost 0. ${gift(49)}`,
    ),
  ],
  [
    'an abandoned request explains no more than its price',
    bill10,
    inTurn(100, aborted, 148),
    fails(
      'a fall by 0 to 1 (ambiguous attempts) for 0 successes',
      'a rise by 48: 48 credits too little',
    ),
  ],
  [
    'a fall of fifty times the price may be an expiry',
    bill10,
    inTurn(400, {}, 349),
    open(
      `the balance fell by 51 since the idle balance before, where 1 success cost 1. ${expired}`,
    ),
  ],
  [
    'a smaller fall cannot be an expiry',
    bill10,
    inTurn(400, dear, 299),
    fails('a fall by 2 for 1 success', 'a fall by 101: 99 credits too much'),
  ],
  [
    'a fall of fifty credits without a success may also be an expiry',
    bill10,
    inTurn(400, 350),
    open(
      `the balance fell by 50 since the idle balance before, where 0 successes cost 0. ${expired}`,
    ),
  ],
  [
    'the price of abandoned requests counts in that comparison',
    bill10,
    inTurn(400, {}, aborted, 300),
    fails(
      'a fall by 1 to 2 (ambiguous attempts) for 1 success',
      'a fall by 100: 98 credits too much',
    ),
  ],
  [
    'a failure that an expiry cannot explain is shown first',
    bill10,
    inTurn(400, 350, {}, {}, 347),
    fails('a fall by 2 for 2 successes', 'a fall by 3: 1 credit too much', { observations: 2 }),
  ],
  [
    'a narrower place with a possible expiry does not hide it',
    bill10,
    inTurn(400, {}, {}, 397, 347),
    fails('a fall by 2 for 2 successes', 'a fall by 3: 1 credit too much'),
  ],
  [
    'charges that settle late are right in total',
    bill10,
    [
      read(0, 0, 100),
      inFlight(1, 1, 2, 100),
      inFlight(2, 1.5, 2.5, 100),
      inFlight(3, 3, 4, 99),
      inFlight(4, 3.2, 4.2, 99),
      read(5, 60, 96),
    ],
    { verdict: 'pass', observations: 1 },
  ],
  [
    'credits that an abandoned request held may be returned once',
    bill10,
    inTurn(100, aborted, 99, 100, 100),
    { verdict: 'pass', observations: 3 },
  ],
  [
    'no more is returned than was held',
    bill10,
    inTurn(100, aborted, 99, 101),
    fails(
      'a fall by 0 to 1 (ambiguous attempts) for 0 successes',
      'a rise by 2: 1 credit too little',
    ),
  ],
  [
    'sequential requests that show the balance must fall by their price',
    bill10,
    inTurn(shows(99), shows(98), shows(95)),
    fails('a fall by 1 for 1 success', 'a fall by 3: 2 credits too much', {
      observations: 2,
      witnesses: [{ slot: 2 }, { slot: 1 }],
    }),
  ],
  [
    'of two equal places the first is shown',
    bill10,
    inTurn(100, {}, 98, {}, 96),
    fails('a fall by 1 for 1 success', 'a fall by 2: 1 credit too much', {
      note: 'Traffic of others on this account would look the same.',
      witnesses: [{ slot: 2 }, { slot: 0 }],
    }),
  ],
  [
    'a balance that does not fall fails after a success',
    bill10,
    inTurn(100, {}, 100),
    fails('a fall by 1 for 1 success', 'a fall by 0: 1 credit too little', {
      witnesses: [{ slot: 2, shows: 'the balance fell by 0 since the idle balance before' }, {}],
    }),
  ],
  [
    'without packages that expire there is no expiry',
    bill10,
    inTurn(400, 350),
    fails('no fall, since nothing succeeded', 'a fall by 50: 50 credits too much'),
    { ...defaultContract, packages: defaultContract.packages.slice(0, 1) },
  ],
])
