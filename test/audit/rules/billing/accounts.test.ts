import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { bill16, bill20 } from '../../../../src/audit/rules/billing/accounts.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { read } from '../../in-flight.ts'
import { failed, inTurn, type Step, shows, testCases, testStored } from './in-turn.ts'

/** Reads of one account, alternating between two keys. */
const byTurns = (...balances: readonly number[]) =>
  balances.map((balance, at) => read(at, at, balance, { keyFp: `key-${at % 2}` }))
/** A request that was first rejected by the rate limit, and its retry. */
const retried = (balances: readonly number[]): readonly AttemptRow[] => {
  const steps: Step[] = balances.flatMap((balance, at) =>
    at === 0 ? [balance] : [failed(429), { retry: 1 }, balance],
  )
  return inTurn(...steps).map((row) => (row.retry > 0 ? { ...row, slot: row.slot - 1 } : row))
}
const keyed = (nth: number, key: string) => ({
  ...{ runId: 'a', template: nth, step: 's', method: 'POST', path: '/v1/chat/completions' },
  ...{ headers: JSON.stringify({ 'idempotency-key': key }), body: '{}' },
  ...{ maxTokens: null, n: null, promptHash: null },
})
const [one, two] = [{ template: 1 }, { template: 2 }]
const keys = { templates: [keyed(0, ''), keyed(1, 'k'), keyed(2, 'other')] }

const packages = (...prices: readonly (readonly [cents: number, listed: number])[]) => ({
  ...defaultContract,
  packages: prices.map(([priceUsdCents, listedUsdPerCredit], at) => ({
    ...{ name: `p${at}`, credits: 3, validMonths: null },
    ...{ priceUsdCents, listedUsdPerCredit },
  })),
})
const someBalance = inTurn(100, {}, 99)

testCases([
  [
    'two keys of one account that share its balance pass',
    bill16,
    byTurns(100, 100, 100),
    { verdict: 'pass', observations: 3 },
  ],
  [
    'one key is no evidence of a shared balance',
    bill16,
    someBalance,
    { verdict: 'not-observed', requires: 'two keys of one account (keys: … account: …)' },
  ],
  [
    'two keys with separate balances fail',
    bill16,
    byTurns(100, 70, 100, 70, 100, 70),
    {
      verdict: 'fail',
      observations: 6,
      expected: 'one balance for the keys of account main',
      observed: '2 balances, one for each key',
      witnesses: [
        { slot: 0, shows: 'shows 100' },
        { slot: 1, shows: 'shows 70 with another key' },
      ],
    },
  ],
  [
    'keys that are each wrong on their own belong to another rule',
    bill16,
    byTurns(100, 71, 93, 64, 86, 57, 79),
    { verdict: 'not-observed' },
  ],
  [
    'one difference between keys does not mean separate balances',
    bill16,
    byTurns(100, 70, 70, 70),
    { verdict: 'not-observed' },
  ],
  [
    'prices that are all rounded or all cut off pass',
    bill20,
    someBalance,
    { verdict: 'pass', observations: 2 },
    packages([2, 0.0066], [1, 0.0033]),
  ],
  [
    'prices that are all rounded pass',
    bill20,
    someBalance,
    { verdict: 'pass', observations: 2 },
    packages([2, 0.0067], [1, 0.0033]),
  ],
])

testStored('BILL-17', [
  [
    'a retried request that was paid once passes',
    retried([100, 99, 98]),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'a failed attempt that was also paid fails',
    retried([100, 99, 97]),
    {
      verdict: 'fail',
      observations: 2,
      expected: '1 credit for 1 successes and their failed attempts',
      observed: '2 credits',
      witnesses: [{ slot: 4, retry: 1, shows: 'an attempt that was tried again' }],
    },
  ],
  [
    'retries are not accused of what requests without them cost too much as well',
    inTurn(100, {}, 98, failed(429), { retry: 1 }, 96).map((row) =>
      row.retry > 0 ? { ...row, slot: row.slot - 1 } : row,
    ),
    {
      verdict: 'inconclusive',
      observations: 1,
      why: 'stretches without a retry cost too much as well, so retries need not be the cause',
      witnesses: [{ slot: 2, shows: '1 credit too low, no retry' }],
    },
  ],
  [
    'what a failure charges after its value is not the cost of the success that follows',
    inTurn(
      100,
      failed(503, { creditsRemaining: 100 }),
      { retry: 1 },
      98,
      failed(503, shows(98)),
      shows(96),
    ).map((row) => (row.retry > 0 ? { ...row, slot: row.slot - 1 } : row)),
    { verdict: 'fail', observed: '2 credits' },
  ],
  [
    'requests without retries are no evidence',
    someBalance,
    {
      verdict: 'not-observed',
      requires: 'a retry after a 429 between two idle values (retries: specification)',
    },
  ],
  [
    'a request that repeats an Idempotency-Key may cost its price again',
    inTurn(100, one, 99, one, 98, one, 98),
    { verdict: 'pass', observations: 2 },
    keys,
  ],
  [
    'one repeated request is enough',
    inTurn(100, one, 99, one, 98),
    { verdict: 'pass', observations: 1 },
    keys,
  ],
  [
    'a repeated request may not cost more than that',
    inTurn(100, one, 99, one, 96),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'at most the price for a request that was sent before under its Idempotency-Key',
      observed: '2 credits more',
      witnesses: [{ slot: 4, shows: '2 credits too low' }],
    },
    keys,
  ],
  [
    'a repeated request is not accused of what every request costs too much',
    inTurn(100, two, 97, one, 96, one, 93),
    { verdict: 'inconclusive', observations: 1, witnesses: [{ slot: 2 }] },
    keys,
  ],
  [
    'requests with different Idempotency-Keys are not repeated',
    inTurn(100, one, 99, two, 98),
    { verdict: 'not-observed' },
    keys,
  ],
])
