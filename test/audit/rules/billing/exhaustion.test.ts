import { expect } from 'vitest'
import { bill13, bill14, bill15 } from '../../../../src/audit/rules/billing/exhaustion.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, failed, inTurn, refused, shows, testCases } from './in-turn.ts'

const poor = {
  verdict: 'not-observed',
  requires: 'an account whose balance is known and below the price of a request',
}
const last = {
  verdict: 'not-observed',
  requires: 'an account spent to its last credit, one request at a time',
}
const burst = {
  verdict: 'not-observed',
  requires: 'a burst of 8 to 64 requests on an account with fewer credits',
}
const overdrawn = (observed: string, slot: number, observations = 1) => ({
  verdict: 'fail',
  observations,
  expected: 'account main: successes up to the balance, then 403',
  observed,
  witnesses: [{ slot, shows: observed }],
})
const served = (cost: string, balance: number, slot: number) => ({
  verdict: 'fail',
  observations: 1,
  expected: `403 for a request of ${cost} at a balance of ${balance}`,
  observed: 'a success',
  witnesses: [{ slot, shows: `served at a balance of ${balance}` }],
})
/** Six requests of a credit each, an eighth of a second apart, in flight together. */
const together = (...values: readonly number[]) =>
  values.map((value, at) => inFlight(1 + at, 1 + at / 8, 3, value))

/**
 * Enough alternating requests and reads to show that a header gives the balance after its charge.
 */
const sevenToOne = [7, 6, 5, 4, 3, 2].flatMap((balance) => [balance, shows(balance - 1)])

/** Requests of two credits each that take one, or three, from a balance that covers them. */
const tookLess = [4, ...[3, 2, 1, 0].flatMap((balance) => [dear, balance])]
const tookMore = [7, dear, 4, dear, 1]

/** One request at a time, each of which shows the balance after it: those of one credit take it, one of two credits takes one. */
const oneLess = [
  ...[8, 7, 6, 5].flatMap((balance) => [balance, shows(balance - 1)]),
  ...[4, { ...dear, ...shows(3) }],
  ...[3, 2, 1].flatMap((balance) => [balance, shows(balance - 1)]),
  ...[0, {}],
]
/** The same, where one of a credit takes two. */
const oneMore = [
  ...[9, 8, 7, 6].flatMap((balance) => [balance, shows(balance - 1)]),
  ...[5, { ...dear, ...shows(2) }],
  ...[2, shows(1), 1, refused],
]
const ofOther = (rows: ReturnType<typeof inTurn>) =>
  rows.map((row) => ({ ...row, account: 'other', slot: row.slot + 100 }))

testCases([
  [
    'requests of a model that took their price say what the balance covers, also where another model took less',
    bill13,
    inTurn(...oneLess),
    { verdict: 'fail', observed: 'a success' },
  ],
  [
    'requests of a model that took their price say what the balance covers, also where another model took more',
    bill14,
    inTurn(...oneMore),
    { verdict: 'fail', observed: 'refused' },
  ],
  [
    'an account whose prices are known decides beside one whose prices are not',
    bill13,
    [...inTurn(...tookLess), ...ofOther(inTurn(2, shows(1), 1, shows(0), 0, {}))],
    { verdict: 'fail', observed: 'a success' },
  ],
  [
    'an account whose prices are known decides beside one whose prices are not',
    bill14,
    [...inTurn(...tookMore, refused), ...ofOther(inTurn(3, shows(2), 2, shows(1), 1, refused))],
    { verdict: 'fail', observed: 'refused' },
  ],
  [
    'requests that took less than their price leave open what the balance covers',
    bill13,
    inTurn(...tookLess),
    { verdict: 'inconclusive', why: expect.stringContaining('took less than their price') },
  ],
  [
    'requests that took less than their price overdraw nothing that is known',
    bill15,
    inTurn(...tookLess),
    { verdict: 'inconclusive', why: expect.stringContaining('took less than their price') },
  ],
  [
    'a refusal after requests that took more than their price may be right',
    bill14,
    inTurn(...tookMore, refused, 1),
    { verdict: 'inconclusive', why: expect.stringContaining('took more than their price') },
  ],
  [
    'a refused request above the balance passes',
    bill13,
    inTurn(0, refused, 0),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a served request above the balance fails',
    bill13,
    inTurn(1, dear, -1),
    served('2 credits', 1, 1),
  ],
  ['a request that costs exactly the balance is covered', bill13, inTurn(2, dear, 0), poor],
  ['a refusal for another reason decides nothing', bill13, inTurn(0, failed(429), 0), poor],
  ['an abandoned request may return what it held', bill13, inTurn(aborted, 0, shows(0)), poor],
  [
    'an abandoned request returns no more than that',
    bill13,
    inTurn(aborted, 0, shows(0, dear)),
    served('2 credits', 1, 2),
  ],
  [
    'a refused request meets the balance that the previous one left',
    bill13,
    inTurn(shows(0), refused),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a request while the balance is read meets no known balance',
    bill13,
    [inFlight(0, 0, 2, 0, { endpoint: 'credits', model: null }), inFlight(1, 2, 3, 0)],
    poor,
  ],
  ['of two requests after a balance only the first meets it', bill13, inTurn(1, {}, {}), poor],
  [
    'reads before a request do not change the balance',
    bill13,
    inTurn(0, 0, {}),
    { ...served('1 credit', 0, 2), observations: 2 },
  ],

  [
    'a refused request that costs exactly the balance fails',
    bill14,
    inTurn(2, 2, { ...refused, ...dear }, 2),
    {
      verdict: 'fail',
      observations: 2,
      expected: 'a request of 2 credits served at a balance of 2',
      observed: 'refused',
      witnesses: [{ slot: 2, shows: 'refused at a balance of 2' }],
    },
  ],
  [
    'a request above the balance may be refused',
    bill14,
    inTurn(1, { ...refused, ...dear }, 1),
    last,
  ],
  [
    'spending the last credits passes',
    bill14,
    inTurn(3, dear, 1, {}, 0),
    { verdict: 'pass', observations: 2 },
  ],
  ['a request after which its price remains is not the last', bill14, inTurn(4, dear, 2), last],
  [
    'an abandoned request may take the last credit first',
    bill14,
    inTurn(aborted, 1, refused, 1),
    last,
  ],
  [
    'an abandoned request that has paid takes nothing more',
    bill14,
    inTurn(2, aborted, 1, refused, 1),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
  [
    'one of two abandoned requests has paid: the other may take the last credit',
    bill14,
    inTurn(2, aborted, aborted, 1, refused, 1),
    last,
  ],
  [
    'an abandoned request takes no more than its price',
    bill14,
    inTurn(aborted, 2, refused, 2),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
  [
    'a concurrent request may take the last credit first',
    bill14,
    [read(0, 0, 1), inFlight(1, 1, 4, null, refused), inFlight(2, 2, 3, 0)],
    last,
  ],
  [
    'a later request does not',
    bill14,
    [read(0, 0, 1), inFlight(1, 1, 4, null, refused), inFlight(2, 4, 5, 0)],
    { verdict: 'fail', observations: 1 },
  ],
  ['a header whose meaning is unknown decides nothing', bill14, inTurn(shows(1), refused), last],

  [
    'a balance below zero is overdrawn',
    bill15,
    inTurn(1, shows(-1)),
    overdrawn('a balance of -1', 1),
  ],
  [
    "a balance of zero is not overdrawn, and a failure's balance does not count",
    bill15,
    inTurn(1, shows(0), failed(403, shows(-1))),
    burst,
  ],
  [
    'successes that cost more than the balance overdraw it',
    bill15,
    inTurn(2, {}, {}, {}),
    overdrawn('successes of 3 credits from a balance of 2', 3),
  ],
  ['successes that cost exactly the balance do not', bill15, inTurn(2, {}, {}), burst],
  ['credits that were added meanwhile may be spent', bill15, inTurn(2, {}, {}, 50, {}), burst],
  [
    'a burst that exhausted a balance passes',
    bill15,
    [read(0, 0, 3), ...together(2, 1, 0), inFlight(9, 1.5, 3, null, refused)],
    { verdict: 'pass', observations: 2 },
  ],
  ['sequential requests are not a burst', bill15, inTurn(1, {}, refused), burst],
  [
    'a burst without a refusal did not exhaust the balance',
    bill15,
    [read(0, 0, 3), ...together(2, 1, 0)],
    burst,
  ],
  [
    'credits that an abandoned request held may be spent',
    bill15,
    inTurn(aborted, 2, {}, {}, {}),
    burst,
  ],
  [
    'a first value below zero is overdrawn',
    bill15,
    inTurn(shows(-1)),
    overdrawn('a balance of -1', 0),
  ],
  ['a balance that rose by two may have been topped up', bill15, inTurn(1, {}, 3, {}), burst],
  [
    'a balance that rose by one was not topped up',
    bill15,
    inTurn(1, {}, 2, {}),
    overdrawn('successes of 2 credits from a balance of 1', 3),
  ],
  [
    'a grant that equals the cost of concurrent successes may be spent',
    bill15,
    inTurn(10, ...Array<object>(60).fill({}), 0),
    burst,
  ],
  ['spending before the first value does not count', bill15, inTurn({}, 2, {}, {}), burst],
  [
    'a request that begins as another ends is not a burst',
    bill15,
    [read(0, 0, 2), inFlight(1, 1, 2, 1), inFlight(2, 2, 3, 0), inFlight(3, 2.5, 3, null, refused)],
    burst,
  ],
  [
    'two concurrent requests that exhausted the balance are the smallest burst',
    bill15,
    [read(0, 0, 2), ...together(1, 0), inFlight(9, 1.5, 3, null, refused)],
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a package that was added between concurrent requests may be spent',
    bill15,
    [
      read(0, 0, 3),
      inFlight(1, 1, 3, 2),
      inFlight(2, 1.5, 3.5, 1),
      inFlight(3, 3.2, 6, 500),
      inFlight(4, 4.5, 6.5, 499),
    ],
    burst,
  ],

  [
    'spending a single last credit passes',
    bill14,
    inTurn(1, {}, 0),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a package that was added before a request pays for it',
    bill13,
    [read(0, 0, 0), inFlight(1, 1, 3, 499), inFlight(2, 2, 4, 498)],
    poor,
  ],
  [
    'a package that was added covers the next request',
    bill14,
    inTurn(0, 500, refused, 500),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'a request of 1 credit served at a balance of 500',
    },
  ],
  ['credits that may have expired cover nothing', bill14, inTurn(500, refused, 0), last],
  [
    'a fall that cannot be an expiry leaves the balance known',
    bill14,
    inTurn(3, refused, 2),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 3' },
  ],
  [
    'a header known to show the balance after its charge sets the next balance',
    bill14,
    inTurn(...sevenToOne, refused),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
  [
    'the meaning for plain headers does not apply to a stream',
    bill14,
    inTurn(...sevenToOne.slice(0, -1), shows(1, { streamed: 1 }), refused),
    last,
  ],
  [
    'an abandoned request past its time takes nothing',
    bill14,
    [inFlight(0, 0, 1, null, aborted), read(1, 700, 1), inFlight(2, 701, 702, null, refused)],
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
])
