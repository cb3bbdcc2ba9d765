import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { bill16, bill20 } from '../../../../src/audit/rules/billing/accounts.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { read } from '../../in-flight.ts'
import { failed, inTurn, type Step, testCases, testStored } from './in-turn.ts'

/** Reads of one account by two keys in turn. */
const byTurns = (...balances: readonly number[]) =>
  balances.map((balance, at) => read(at, at, balance, { keyFp: `key-${at % 2}` }))
/** A request that was refused for its rate at first, and made again. */
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
    'one key shows nothing of a shared balance',
    bill16,
    someBalance,
    { verdict: 'not-observed', takes: 'two keys of one account (keys: … account: …)' },
  ],
  [
    'two keys that each keep a balance of their own fail',
    bill16,
    byTurns(100, 70, 100, 70, 100, 70),
    {
      verdict: 'fail',
      observations: 6,
      expected: 'one balance for the keys of account main',
      came: '2 balances, one for each key',
      witnesses: [
        { slot: 0, shows: 'shows 100' },
        { slot: 1, shows: 'shows 70 with another key' },
      ],
    },
  ],
  [
    'keys of which each alone is wrong, too, are another rule’s',
    bill16,
    byTurns(100, 71, 93, 64, 86, 57, 79),
    { verdict: 'not-observed' },
  ],
  [
    'one change from key to key is no balance for each',
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
    'prices that are rounded pass, too',
    bill20,
    someBalance,
    { verdict: 'pass', observations: 2 },
    packages([2, 0.0067], [1, 0.0033]),
  ],
  [
    'one that is rounded and one that is cut off are inconsistent',
    bill20,
    someBalance,
    {
      verdict: 'inconclusive',
      observations: 3,
      why: 'p0 0.00667 is listed as 0.0067 (rounded); p1 0.00667 is listed as 0.0066 (cut off); p2 0.00333 is listed as 0.0033 (rounded or cut off)',
    },
    packages([2, 0.0067], [2, 0.0066], [1, 0.0033]),
  ],
  [
    'a price that is neither is named',
    bill20,
    someBalance,
    { verdict: 'inconclusive', why: 'p0 0.00667 is listed as 0.007 (neither)' },
    packages([2, 0.007]),
  ],
  [
    'a contract without packages lists no price',
    bill20,
    someBalance,
    { verdict: 'not-observed', takes: 'a contract with packages' },
    packages(),
  ],
])

testStored('BILL-17', [
  [
    'a request that was tried again and paid once passes',
    retried([100, 99, 98]),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'a failed attempt that was paid as well fails',
    retried([100, 99, 97]),
    {
      verdict: 'fail',
      observations: 2,
      expected: '1 credit for 1 successes and their failed attempts',
      came: '2 credits',
      witnesses: [{ slot: 4, retry: 1, shows: 'an attempt that was tried again' }],
    },
  ],
  [
    'requests that were not tried again show nothing',
    someBalance,
    {
      verdict: 'not-observed',
      takes: 'a retry after a 429 between two idle values (retries: specification)',
    },
  ],
  [
    'a request under the key of one before may cost its price once more',
    inTurn(100, one, 99, one, 98, one, 98),
    { verdict: 'pass', observations: 2 },
    keys,
  ],
  [
    'one such request is enough',
    inTurn(100, one, 99, one, 98),
    { verdict: 'pass', observations: 1 },
    keys,
  ],
  [
    'it may cost no more than that',
    inTurn(100, one, 99, one, 96),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'at most the price for a request that was sent before under its Idempotency-Key',
      came: '2 credits more',
      witnesses: [{ slot: 4, shows: '2 credits too low' }],
    },
    keys,
  ],
  [
    'requests under keys of their own repeat nothing',
    inTurn(100, one, 99, two, 98),
    { verdict: 'not-observed' },
    keys,
  ],
])
