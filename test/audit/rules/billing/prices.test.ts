import { bill01, bill02 } from '../../../../src/audit/rules/billing/prices.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, failed, inTurn, shows, testCases } from './in-turn.ts'

const inconclusive = (observations: number) => ({
  verdict: 'inconclusive',
  observations,
  why: 'no charge on svc-k2, svc-k2-0905, svc-k2-thinking was seen by itself, and the values are not exact; send some one at a time',
})
const threeAtOnce = [
  read(0, 0, 100),
  inFlight(1, 1, 9, 99),
  inFlight(2, 2, 8, 98),
  inFlight(3, 3, 7, 97),
]

testCases([
  [
    'a lone success that takes its price passes',
    bill01,
    inTurn(100, {}, 99, {}, 98, dear, 96),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'a lone success that takes another price fails, and the wrong ones are counted',
    bill01,
    inTurn(100, {}, 98, {}, 97, {}, 97),
    {
      verdict: 'fail',
      observations: 3,
      expected: 'svc-k2 costs 1 credit',
      observed: 'it cost 2, in 2 of 3 requests seen by themselves',
      witnesses: [{ slot: 1, shows: 'cost 2 credits' }],
    },
  ],
  [
    'a value that is off while the next is right again is no price',
    bill01,
    inTurn(100, {}, 99, shows(97), 98, {}, 97, shows(95), 96),
    {
      verdict: 'inconclusive',
      observations: 4,
      why: '2 requests seem to cost another price, beside a value of the balance that is wrong while the next is right. The value is wrong there (BILL-10, BILL-11), and the price is not known',
    },
  ],
  [
    'so it is where all that is off cancels, on a model that costs its price elsewhere',
    bill01,
    inTurn(...[100, 99, 97, 97, 96, 94, 94].map((balance) => shows(balance))),
    { verdict: 'inconclusive', observations: 6 },
  ],
  [
    'what a value is off may come back in two steps',
    bill01,
    inTurn(...[100, 99, 96, 96, 96, 95, 92, 92, 92].map((balance) => shows(balance))),
    { verdict: 'inconclusive', observations: 8 },
  ],
  [
    'where more is off than cancels, a price is wrong',
    bill01,
    inTurn(shows(100), shows(99), shows(97), shows(97), shows(96), shows(94)),
    { verdict: 'fail', observed: 'it cost 2, in 3 of 5 requests seen by themselves' },
  ],
  [
    'two wrong prices in turn are wrong prices, though their sum is right',
    bill01,
    inTurn(100, shows(98), shows(98), shows(96), shows(96), 96),
    { verdict: 'fail', observed: 'it cost 2, in 4 of 4 requests seen by themselves' },
  ],
  [
    'a price that is wrong throughout is one beside a value that is off, too',
    bill01,
    inTurn(100, {}, 98, {}, 96, shows(93), 94),
    { verdict: 'fail', observed: 'it cost 2, in 3 of 3 requests seen by themselves' },
  ],
  [
    'a model with a higher price belongs to the other rule',
    bill02,
    inTurn(100, dear, 99, {}, 96),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'svc-k2.5 costs 2 credits',
      observed: 'it cost 1, in 1 of 1 requests seen by themselves',
    },
  ],
  [
    'without a success on a model of a higher price, the rule is not observed',
    bill02,
    inTurn(100, {}, 99),
    { verdict: 'not-observed', requires: 'a success on svc-k2.5' },
  ],
  [
    'one other price that explains every stretch is reported as the price',
    bill01,
    inTurn(100, {}, {}, 96, dear, 94, {}, {}, {}, 88),
    {
      verdict: 'fail',
      observations: 5,
      expected: 'svc-k2 costs 1 credit',
      observed: 'between idle values it cost 2 throughout',
      witnesses: [{ slot: 9, shows: '3 credits off' }],
    },
  ],
  [
    'a lower price that explains every stretch is also reported',
    bill02,
    inTurn(100, dear, dear, 98, dear, dear, 96),
    { verdict: 'fail', observations: 4, observed: 'between idle values it cost 1 throughout' },
  ],
  [
    'two different prices are inconclusive',
    bill01,
    inTurn(100, {}, {}, 96, {}, {}, 90),
    inconclusive(4),
  ],
  ['half a credit each is not a price', bill01, inTurn(100, {}, {}, 97), inconclusive(2)],
  [
    'a price does not explain credits taken next to another model',
    bill01,
    inTurn(100, {}, {}, 96, dear, dear, 91),
    inconclusive(2),
  ],
  [
    'a stretch in which the balance rose does not decide the price',
    bill01,
    inTurn(100, 100, {}, {}, 96, {}, 103, {}, {}, 99),
    { verdict: 'fail', observations: 4, observed: 'between idle values it cost 2 throughout' },
  ],
  [
    'a success that costs nothing fails',
    bill01,
    inTurn(100, {}, 100),
    { verdict: 'fail', observed: 'it cost 0, in 1 of 1 requests seen by themselves' },
  ],
  [
    'a success next to a failure is not alone',
    bill01,
    inTurn(100, {}, failed(500), 99, {}, failed(500), 97),
    inconclusive(2),
  ],
  [
    'one success that is not alone leaves its price open',
    bill01,
    inTurn(100, {}, failed(500), 98),
    inconclusive(1),
  ],
  [
    'a credit too much next to a failure each time may be the cost of the failure',
    bill01,
    inTurn(100, {}, failed(500), 98, {}, failed(500), 96),
    inconclusive(2),
  ],
  [
    'another price is reported if a stretch without a failure has it, too',
    bill01,
    inTurn(100, {}, {}, 96, {}, failed(500), 94),
    { verdict: 'fail', observations: 3, observed: 'between idle values it cost 2 throughout' },
  ],
  [
    'values that fit one history prove the price of concurrent requests',
    bill01,
    [...threeAtOnce, read(4, 10, 97)],
    { verdict: 'pass', observations: 3 },
  ],
  [
    'values that an abandoned request may explain prove no price',
    bill01,
    [...threeAtOnce, inFlight(4, 4, 5, null, aborted), read(5, 10, 96)],
    inconclusive(3),
  ],
  [
    'three falls by the size of a package may be three expiries',
    bill01,
    inTurn(400, {}, 340, {}, 280, {}, 220),
    inconclusive(3),
  ],
  [
    'an expiry next to one success does not affect the others',
    bill01,
    inTurn(400, {}, 349, {}, 348),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a fall by less than fifty times the price is not an expiry',
    bill01,
    inTurn(400, {}, 350),
    { verdict: 'fail', observed: 'it cost 50, in 1 of 1 requests seen by themselves' },
  ],
])
