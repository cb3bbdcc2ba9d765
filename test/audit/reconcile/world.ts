import fc from 'fast-check'
import { expect } from 'vitest'
import type {
  BillLine,
  Cause,
  LogLine,
  Reconciliation,
} from '../../../src/audit/reconcile/lines.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { add, decimalText, type Rational, rational, zero } from '../../../src/money/rational.ts'
import { eachKind } from '../../../src/tokens/kinds.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

/** Random months whose bill differs from the log by causes that are known. */

export const contract = parseContract(
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

export const world = fc.record({
  requests: fc.array(asked, { minLength: 1, maxLength: 30 }),
  isRounded: fc.boolean(),
  tax: fc.bigInt({ min: 0n, max: 10_000n }),
  credit: fc.bigInt({ min: 0n, max: 10_000n }),
})

export const dayText = (day: number) => `2026-11-${String(day).padStart(2, '0')}`

export type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

export interface Sides {
  readonly log: readonly LogLine[]
  readonly bill: readonly BillLine[]
  /** The amount of each cause, as the world was made. */
  readonly right: ReadonlyMap<Cause, bigint>
  /** Whether a request is on both sides: else nothing joins them. */
  readonly isJoined: boolean
}

export function sidesOf({ requests, isRounded, tax, credit }: World): Sides {
  const log: LogLine[] = []
  const bill: BillLine[] = []
  const right = new Map<Cause, bigint>()
  const give = (cause: Cause, amount: bigint) => right.set(cause, (right.get(cause) ?? 0n) + amount)
  const shown = (exact: bigint) => (isRounded ? ((exact + 5n) / 10n) * 10n : exact)
  for (const [nth, each] of requests.entries()) {
    const { model, day, input, cached, output, fault } = each
    const id = `r-${nth}`
    const exact = costOf(each, input, cached, output)
    const counts = { ...eachKind(() => null), input, cached, output }
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
  return { log, bill, right, isJoined: requests.some(({ fault }) => fault !== 'lost') }
}

/** The causes add up to each difference, and are those that the world was made with, to the last digit. */
export function expectCauses({ cells }: Reconciliation, { right, isJoined }: Sides): void {
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
  if (isJoined)
    expect(text(found)).toEqual(text([...right].map(([cause, amount]) => [cause, tenths(amount)])))
}
