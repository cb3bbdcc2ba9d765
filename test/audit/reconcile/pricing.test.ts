import { expect, test } from 'vitest'
import { pricingOf } from '../../../src/audit/reconcile/pricing.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { decimalText, powerOfTen } from '../../../src/money/rational.ts'
import { eachKind } from '../../../src/tokens/kinds.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

const contract = parseContract(
  parseYaml(`
name: gateway
extends: none
currency: USD
models: [{ id: m, price: { input: 1, cache_write: 1.25, cache_write_1h: 2, output: 2 } }]
`),
  'c.yaml',
)

test.each([
  ['for five minutes', 0, '1.25'],
  ['for an hour', 1_000_000, '2'],
])('a million cache writes %s are priced at their own price', (_, cacheWrite1h, usd) => {
  const counts = {
    ...eachKind(() => 0),
    ...{ input: 1_000_000, cacheWrite: 1_000_000, cacheWrite1h },
  }
  const at = { id: null, model: 'm', account: null, day: '2026-11-03' }
  const cost = pricingOf(contract, powerOfTen(-6)).costOf(counts, at, 1)
  expect(decimalText(cost!)).toBe(usd)
})
