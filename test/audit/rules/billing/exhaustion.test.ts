import { bill13, bill14, bill15 } from '../../../../src/audit/rules/billing/exhaustion.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, failed, inTurn, refused, shows, testCases } from './in-turn.ts'

const poor = {
  verdict: 'not-observed',
  takes: 'an account whose balance is known and below the price of a request',
}
const last = {
  verdict: 'not-observed',
  takes: 'an account spent to its last credit, one request at a time',
}
const burst = {
  verdict: 'not-observed',
  takes: 'a burst of 8 to 64 requests on an account with fewer credits',
}
const overdrawn = (came: string, slot: number, observations = 1) => ({
  verdict: 'fail',
  observations,
  expected: 'account main: successes up to the balance, then 403',
  came,
  witnesses: [{ slot, shows: came }],
})
const served = (cost: string, balance: number, slot: number) => ({
  verdict: 'fail',
  observations: 1,
  expected: `403 for a request of ${cost} at a balance of ${balance}`,
  came: 'a success',
  witnesses: [{ slot, shows: `served at a balance of ${balance}` }],
})
/** Six requests of a credit each, an eighth of a second apart, in flight together. */
const together = (...values: readonly number[]) =>
  values.map((value, at) => inFlight(1 + at, 1 + at / 8, 3, value))

/** Enough of requests and reads in turn to tell that a header shows the balance after its own charge. */
const sevenToOne = [7, 6, 5, 4, 3, 2].flatMap((balance) => [balance, shows(balance - 1)])

testCases([
  [
    'a request above the balance that is refused passes',
    bill13,
    inTurn(0, refused, 0),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a request above the balance that is served fails',
    bill13,
    inTurn(1, dear, -1),
    served('2 credits', 1, 1),
  ],
  ['a request of just the balance is covered', bill13, inTurn(2, dear, 0), poor],
  ['a refusal for another reason decides nothing', bill13, inTurn(0, failed(429), 0), poor],
  ['an abandoned request may give back what it held', bill13, inTurn(aborted, 0, shows(0)), poor],
  [
    'it gives back no more than that',
    bill13,
    inTurn(aborted, 0, shows(0, dear)),
    served('2 credits', 1, 2),
  ],
  [
    'a refused request meets the balance that the one before it left',
    bill13,
    inTurn(shows(0), refused),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a request while the balance is read meets no known one',
    bill13,
    [inFlight(0, 0, 2, 0, { endpoint: 'credits', model: null }), inFlight(1, 2, 3, 0)],
    poor,
  ],
  ['of two requests after a balance only the first meets it', bill13, inTurn(1, {}, {}), poor],
  [
    'reads before a request leave the balance as it is',
    bill13,
    inTurn(0, 0, {}),
    { ...served('1 credit', 0, 2), observations: 2 },
  ],

  [
    'a request of just the balance that is refused fails',
    bill14,
    inTurn(2, 2, { ...refused, ...dear }, 2),
    {
      verdict: 'fail',
      observations: 2,
      expected: 'a request of 2 credits served at a balance of 2',
      came: 'refused',
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
    'the last credits that are spent pass',
    bill14,
    inTurn(3, dear, 1, {}, 0),
    { verdict: 'pass', observations: 2 },
  ],
  ['a request that leaves its price is not the last', bill14, inTurn(4, dear, 2), last],
  [
    'an abandoned request may take the last credit first',
    bill14,
    inTurn(aborted, 1, refused, 1),
    last,
  ],
  [
    'it takes no more than that',
    bill14,
    inTurn(aborted, 2, refused, 2),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
  [
    'a request beside it may take the last credit first',
    bill14,
    [read(0, 0, 1), inFlight(1, 1, 4, null, refused), inFlight(2, 2, 3, 0)],
    last,
  ],
  [
    'a request after it takes nothing from it',
    bill14,
    [read(0, 0, 1), inFlight(1, 1, 4, null, refused), inFlight(2, 4, 5, 0)],
    { verdict: 'fail', observations: 1 },
  ],
  [
    'a header may show the balance before its charge or after it, which decides nothing',
    bill14,
    inTurn(shows(1), refused),
    last,
  ],

  [
    'a balance below zero is overdrawn',
    bill15,
    inTurn(1, shows(-1)),
    overdrawn('a balance of -1', 1),
  ],
  [
    'a balance of zero is not, nor one that a failure shows',
    bill15,
    inTurn(1, shows(0), failed(403, shows(-1))),
    burst,
  ],
  [
    'successes of more than the balance overdraw it',
    bill15,
    inTurn(2, {}, {}, {}),
    overdrawn('successes of 3 credits from a balance of 2', 3),
  ],
  ['successes of all of the balance do not', bill15, inTurn(2, {}, {}), burst],
  ['credits that came in meanwhile may be spent', bill15, inTurn(2, {}, {}, 50, {}), burst],
  [
    'a burst that reached the end of a balance passes',
    bill15,
    [read(0, 0, 3), ...together(2, 1, 0), inFlight(9, 1.5, 3, null, refused)],
    { verdict: 'pass', observations: 2 },
  ],
  ['requests in turn are no burst', bill15, inTurn(1, {}, refused), burst],
  [
    'a burst that nobody was refused in shows no end',
    bill15,
    [read(0, 0, 3), ...together(2, 1, 0)],
    burst,
  ],
  ['what an abandoned request held may be spent', bill15, inTurn(aborted, 2, {}, {}, {}), burst],
  [
    'a first value below zero is overdrawn',
    bill15,
    inTurn(shows(-1)),
    overdrawn('a balance of -1', 0),
  ],
  ['a balance that rose by two may have been topped up', bill15, inTurn(1, {}, 3, {}), burst],
  [
    'one that rose by one was not',
    bill15,
    inTurn(1, {}, 2, {}),
    overdrawn('successes of 2 credits from a balance of 1', 3),
  ],
  [
    'a grant beside as many successes may be spent',
    bill15,
    inTurn(10, ...Array<object>(60).fill({}), 0),
    burst,
  ],
  [
    'what was spent before the first value was is no part of it',
    bill15,
    inTurn({}, 2, {}, {}),
    burst,
  ],
  [
    'a request that begins as another ends is no burst',
    bill15,
    [read(0, 0, 2), inFlight(1, 1, 2, 1), inFlight(2, 2, 3, 0), inFlight(3, 2.5, 3, null, refused)],
    burst,
  ],
  [
    'two at once that reached the end are the least burst',
    bill15,
    [read(0, 0, 2), ...together(1, 0), inFlight(9, 1.5, 3, null, refused)],
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a package that came in between requests in flight may be spent',
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
    'the last credit that is spent passes by itself',
    bill14,
    inTurn(1, {}, 0),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a package that comes in before a request pays for it',
    bill13,
    [read(0, 0, 0), inFlight(1, 1, 3, 499), inFlight(2, 2, 4, 498)],
    poor,
  ],
  [
    'a package that has come in covers what is asked next',
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
    'a fall that is no expiry leaves them known',
    bill14,
    inTurn(3, refused, 2),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 3' },
  ],
  [
    'a header that is known to show the balance after its charge tells the next',
    bill14,
    inTurn(...sevenToOne, refused),
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
  [
    'what plain headers show decides no stream',
    bill14,
    inTurn(...sevenToOne.slice(0, -1), shows(1, { streamed: 1 }), refused),
    last,
  ],
  [
    'an abandoned request whose time is over takes nothing any more',
    bill14,
    [inFlight(0, 0, 1, null, aborted), read(1, 700, 1), inFlight(2, 701, 702, null, refused)],
    { verdict: 'fail', expected: 'a request of 1 credit served at a balance of 1' },
  ],
])
