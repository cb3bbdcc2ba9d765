import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pricingOf } from '../../../src/audit/reconcile/pricing.ts'
import {
  type BillLine,
  type Cause,
  type LogLine,
  reconcile,
} from '../../../src/audit/reconcile/reconcile.ts'
import { parseContract } from '../../../src/contract/load.ts'
import {
  add,
  decimalText,
  powerOfTen,
  type Rational,
  rational,
  zero,
} from '../../../src/money/rational.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

const contract = parseContract(
  parseYaml(`
name: our-gateway
extends: none
currency: USD
charged: { success: full, refused: none }
models:
  - id: large
    price: { input: 4, cache_read: 0.4, output: 20 }
    changes: [{ from: "2026-11-10T00:00:00Z", price: { input: 3, cache_read: 0.3, output: 15 } }]
  - id: tiered
    price: { input: 1, output: 2 }
    tiers: { steps: [{ above: 1000, price: { input: 2, output: 4 } }] }
`),
  'contract.yaml',
)

/** Costs are whole tenths of a microdollar: this arithmetic shares nothing with that of prices. */
const tenths = (n: bigint): Rational => rational(n, 10_000_000n)

interface Asked {
  readonly model: 'large' | 'tiered'
  readonly day: 9 | 10
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly fault: 'none' | 'lost' | 'doubled' | 'late' | 'tokens' | 'price'
}

function costOf({ model, day }: Asked, input: number, cached: number, output: number): bigint {
  const [i, c, o] = [BigInt(input), BigInt(cached), BigInt(output)]
  if (model === 'tiered') return input > 1000 ? i * 20n + o * 40n : i * 10n + o * 20n
  return day === 9 ? (i - c) * 40n + c * 4n + o * 200n : (i - c) * 30n + c * 3n + o * 150n
}

const asked = fc
  .record({
    model: fc.constantFrom('large' as const, 'tiered' as const),
    day: fc.constantFrom(9 as const, 10 as const),
    input: fc.integer({ min: 300, max: 1900 }),
    cached: fc.integer({ min: 100, max: 300 }),
    output: fc.integer({ min: 1, max: 500 }),
    fault: fc.constantFrom(
      ...(['none', 'none', 'lost', 'doubled', 'late', 'tokens', 'price'] as const),
    ),
  })
  .map((each): Asked => {
    if (each.model === 'large') return each
    return { ...each, cached: 0, fault: each.fault === 'price' ? 'none' : each.fault }
  })

const world = fc.record({
  requests: fc.array(asked, { minLength: 1, maxLength: 30 }),
  isRounded: fc.boolean(),
  tax: fc.bigInt({ min: 0n, max: 10_000n }),
  credit: fc.bigInt({ min: 0n, max: 10_000n }),
})

const dayText = (day: number) => `2026-11-${String(day).padStart(2, '0')}`

test('each cause of a difference has its exact amount in 200 random worlds', () => {
  fc.assert(
    fc.property(world, ({ requests, isRounded, tax, credit }) => {
      const log: LogLine[] = []
      const bill: BillLine[] = []
      const right = new Map<Cause, bigint>()
      const give = (cause: Cause, amount: bigint) =>
        right.set(cause, (right.get(cause) ?? 0n) + amount)
      const shown = (exact: bigint) => (isRounded ? ((exact + 5n) / 10n) * 10n : exact)
      for (const [nth, each] of requests.entries()) {
        const { model, day, input, cached, output, fault } = each
        const id = `r-${nth}`
        const exact = costOf(each, input, cached, output)
        const counts = { input, cached, cacheWrite: null, output, reasoning: null }
        const line = { id, day: dayText(day), model, account: null }
        log.push({ ...line, counts, logged: null, expected: tenths(exact) })
        const charge = (amount: bigint, change: Partial<BillLine> = {}) =>
          bill.push({
            ...line,
            type: 'usage',
            amount: tenths(amount),
            requests: 1,
            counts,
            ...change,
          })
        if (fault === 'lost') {
          give('missing', -exact)
          continue
        }
        if (fault === 'price') {
          const wrong = shown(costOf(each, input, 0, output))
          charge(wrong)
          give('price', wrong - exact)
          continue
        }
        if (fault === 'tokens') {
          const other = costOf(each, input, cached, output + 7)
          charge(shown(other), { counts: { ...counts, output: output + 7 } })
          give('tokens', other - exact)
          give('rounding', shown(other) - other)
          continue
        }
        charge(shown(exact), fault === 'late' ? { day: dayText(day + 1) } : {})
        give('rounding', shown(exact) - exact)
        if (fault === 'doubled') {
          charge(shown(exact))
          give('missing', shown(exact))
        }
      }
      const beside = {
        id: null,
        day: '2026-11-01',
        model: '',
        account: null,
        requests: null,
        counts: null,
      }
      if (tax > 0n) bill.push({ ...beside, type: 'tax', amount: tenths(tax) })
      if (credit > 0n) bill.push({ ...beside, type: 'credit', amount: tenths(-credit) })
      give('tax', tax)
      give('credit', -credit)

      const { cells } = reconcile(bill, log, pricingOf(contract, powerOfTen(isRounded ? -6 : -7)))
      const found = new Map<string, Rational>()
      for (const cell of cells) {
        const sum = Object.values(cell.causes).reduce(add, zero)
        expect(decimalText(sum)).toBe(decimalText(cell.difference))
        for (const [cause, amount] of Object.entries(cell.causes)) {
          found.set(cause, add(found.get(cause) ?? zero, amount))
        }
      }
      const text = (sums: Iterable<readonly [string, Rational]>) =>
        Object.fromEntries(
          [...sums]
            .map(([cause, amount]) => [cause, decimalText(amount)] as const)
            .filter(([, amount]) => amount !== '0'),
        )
      const joined = requests.some(({ fault }) => fault !== 'lost')
      if (joined)
        expect(text(found)).toEqual(
          text([...right].map(([cause, amount]) => [cause, tenths(amount)])),
        )
    }),
    { numRuns: 200, seed: 58 },
  )
})

test('use of a day that a bill without ids books on the next is late, and nothing else', () => {
  const counts = { input: 1000, cached: 0, cacheWrite: null, output: 100, reasoning: null }
  const log = [9, 10].map((day): LogLine => {
    return {
      id: `r-${day}`,
      day: dayText(day),
      model: 'large',
      account: null,
      counts,
      logged: null,
      expected: rational(1n),
    }
  })
  const bill = [
    { day: 9, amount: rational(1n, 4n) },
    { day: 10, amount: rational(7n, 4n) },
  ].map(({ day, amount }): BillLine => {
    return {
      id: null,
      day: dayText(day),
      model: 'large',
      account: null,
      type: 'usage',
      amount,
      requests: null,
      counts: null,
    }
  })
  const { cells, joinedBy } = reconcile(bill, log, pricingOf(contract, powerOfTen(-6)))
  expect(joinedBy).toBe('day and model')
  expect(
    cells.map(({ causes }) =>
      Object.entries(causes).map(([cause, amount]) => [cause, decimalText(amount)]),
    ),
  ).toEqual([[['late', '-0.75']], [['late', '0.75']]])
})
