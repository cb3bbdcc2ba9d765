import { expect, test } from 'vitest'
import { contractWith, gateway, long } from '../../../service/money/gateway.ts'
import { RecordedClient } from './recorded-client.ts'

/** An account with 100 units of a currency, in which each request costs a few. */
const dear = (evidence?: object) =>
  contractWith(evidence === undefined ? {} : { evidence }, {
    ...{ price: { input: 1500, output: 8000 }, tiers: undefined, hours: [], changes: [] },
  })
/** The balance itself is shown, not the spend. */
const falling = {
  cost: [{ body: 'usage.cost' }],
  balance: { get: '/key/info', value: 'info.left' },
  log: { get: '/spend/logs', id: 'request_id', cost: 'spend' },
}
const bands = [
  {
    ...{ name: 'all', minBalance: 0, maxBalance: null },
    requests: { minute: 1e6, hour: 1e6, day: 1e6 },
  },
]

/** Bursts of requests past the end of a balance, with reads of it before and after. */
async function spentTo(fault: string | null, evidence?: object) {
  const contract = { ...dear(evidence), bands }
  const target = await gateway({ contract, ...(fault === null ? {} : { faults: [fault] }) })
  const client = new RecordedClient(target.baseUrl, target.key)
  const key = target.poorKey
  await client.read('/key/info', key)
  for (let nth = 0; nth < 2; nth++) {
    const body = { messages: long(4000, 'a'), max_tokens: 8192 }
    await Promise.all(Array.from({ length: 20 }, () => client.ask(body, { key })))
    await client.read('/key/info', key)
  }
  const findings = await client.audit(contract, null)
  const { verdict } = findings.find(({ rule }) => rule === 'PRICE-07')!
  return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
}

test('PRICE-07 tells a balance below 0, and a counter that refuses by twice the spend', async () => {
  expect(await spentTo(null, falling)).toBe('pass')
  // Nothing states a limit of the spend.
  expect(await spentTo(null)).toBe('not-observed')
  expect(await spentTo('overdraft', falling)).toMatch(/^a balance of -/)
  expect(await spentTo('budget-ignored', falling)).toMatch(/^a balance of -/)
  expect(await spentTo('counter-doubled')).toMatch(
    /^refused at a spend of .*, where the service shows/,
  )
}, 240_000)
