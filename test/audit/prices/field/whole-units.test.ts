import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseContract } from '../../../../src/contract/load.ts'
import { firstContract } from '../../../../src/price/first/first-contract.ts'
import { completed } from '../../../../src/service/money/complete.ts'
import { gateway, user } from '../../../service/money/gateway.ts'
import { RecordedClient } from './recorded-client.ts'

/** The contract that `contract init credits` writes: 1 credit for `small`, 5 for `large`. */
const written = parse(firstContract('credits', null)) as { readonly models: readonly object[] }
const [small, large] = written.models
const contractOf = (change: object = {}) =>
  completed(parseContract({ ...written, ...change }, 'credits.yaml'))

interface Played {
  /** What the service keeps, if it is not the audited contract. */
  readonly kept?: object
  readonly promised?: object
  readonly faults?: readonly string[]
  /** Requests, one after the other. */
  readonly count?: number
}

/** Requests of a service with whole credits, audited by the rules that read its balance. */
async function verdictsOf({ kept = {}, promised = {}, faults = [], count = 40 }: Played) {
  const target = await gateway({ contract: contractOf(kept), faults })
  const client = new RecordedClient(target.baseUrl, target.key)
  for (let nth = 0; nth < count; nth++)
    await client.ask({ messages: user(`Hello ${nth}`), model: 'small' })
  const findings = await client.audit(contractOf(promised), null)
  const told = (rule: string) => {
    const { verdict } = findings.find((each) => each.rule === rule)!
    return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
  }
  return { balance: told('PRICE-06'), sums: told('PRICE-08') }
}

test('a service that keeps whole credits passes', { tags: 'whole' }, async () => {
  expect(await verdictsOf({})).toEqual({ balance: 'pass', sums: 'pass' })
})

test('two credits for each request at a price of one fail', { tags: 'whole' }, async () => {
  const kept = { models: [{ ...small, price: { request: 2 } }, large] }
  expect(await verdictsOf({ kept })).toEqual({
    balance: expect.stringMatching(/^78 credits between two readings/),
    sums: expect.stringMatching(/computed 40 credits, taken 78 credits/),
  })
})

test('a few double charges among eighty requests of one credit fail', {
  tags: 'whole',
}, async () => {
  const { balance, sums } = await verdictsOf({ faults: ['reservation-kept=0.06'], count: 80 })
  expect(balance).toMatch(/^8[2-9] credits between two readings/)
  expect(sums).toMatch(/computed 80 credits, taken 8[2-9] credits/)
})

test('a cost that is no whole credit may be rounded in any way, each by one credit', {
  tags: 'whole',
}, async () => {
  const promised = { models: [{ ...small, price: { request: '0.6' } }, large] }
  const up = { ...promised, round: { at: 'request', digits: 0, mode: 'up' } }
  expect((await verdictsOf({ kept: up, promised })).balance).not.toMatch(/credits/)
  // Promised, the rounding is part of the cost.
  expect((await verdictsOf({ kept: up, promised: up })).balance).toBe('pass')
  const down = { ...promised, round: { at: 'request', digits: 0, mode: 'down' } }
  expect((await verdictsOf({ kept: up, promised: down })).balance).toMatch(
    /between two readings; 40 of 40 stretches/,
  )
})

test('a balance in another unit shows as much as its last place is worth', {
  tags: 'whole',
}, async () => {
  const cents = { header: 'x-credits-remaining', moves: 'down', times: '1/100' }
  const inDollars = {
    ...{ currency: 'USD', digits: 4, evidence: { balance: cents } },
    models: [{ ...small, price: { request: '0.01' } }, large],
  }
  const kept = { models: [{ ...small, price: { request: 2 } }, large] }
  expect((await verdictsOf({ promised: inDollars })).balance).toBe('pass')
  expect((await verdictsOf({ promised: inDollars, kept })).balance).toMatch(/^0\.78 USD/)
})

test('values of a balance that are no number are named, and never a pass', async () => {
  const target = await gateway({ contract: contractOf() })
  const client = new RecordedClient(target.baseUrl, target.key, (head) =>
    head.replace(/^(x-credits-remaining: \d+)(\d{3})$/im, '$1,$2'),
  )
  for (let nth = 0; nth < 4; nth++) {
    await client.ask({ messages: user('Hello'), model: 'small' })
  }
  const findings = await client.audit(contractOf(), null)
  expect(findings.find(({ rule }) => rule === 'PRICE-06')!.verdict).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringMatching(/^4 of 4 values of the balance are no number: "\d+,\d{3}"$/),
  })
})
