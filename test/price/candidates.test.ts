import { expect, test } from 'vitest'
import type { LoggedTokens } from '../../src/contract/prices.ts'
import { currency } from '../../src/money/money.ts'
import { decimalText, rational } from '../../src/money/rational.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { OtherCurrency } from '../../src/price/judge/price-judge.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** Each part at each price of its model, by the counts of the answer and of the log, explains a wrong cost. */

const price = {
  ...{ input: 4, cache_read: 0.4, cache_write: 5, cache_write_1h: 7, output: 20, reasoning: 30 },
}
const model = modelOf({ price })
const pico: Readonly<Record<string, bigint>> = {
  ...{ input: 4_000_000n, cache_read: 400_000n, cache_write: 5_000_000n },
  cache_write_1h: 7_000_000n,
  ...{ output: 20_000_000n, reasoning: 30_000_000n },
}
const usage = (counts: Readonly<Record<string, number>>) =>
  readUsage(
    {
      input_tokens: counts.input,
      cache_read_input_tokens: counts.cache_read,
      cache_creation: {
        ephemeral_5m_input_tokens: counts.cache_write,
        ephemeral_1h_input_tokens: counts.cache_write_1h,
      },
      cache_creation_input_tokens: counts.cache_write! + counts.cache_write_1h!,
      output_tokens: counts.output! + counts.reasoning!,
      output_tokens_details: { thinking_tokens: counts.reasoning },
    },
    'anthropic',
  )
const answers = [
  {
    input: 101,
    cache_read: 2_003,
    cache_write: 307,
    cache_write_1h: 89,
    output: 53,
    reasoning: 211,
  },
  {
    input: 1_009,
    cache_read: 503,
    cache_write: 41,
    cache_write_1h: 733,
    output: 307,
    reasoning: 17,
  },
]
const text = (units: bigint) => decimalText(rational(units, 10n ** 12n))
/** What is told of these costs, of which the log has these counts. */
const told = (
  costs: readonly bigint[],
  logged?: readonly Readonly<Record<string, number>>[],
  others: readonly OtherCurrency[] = [],
) => {
  const requests = answers.map((counts, slot) => request({ slot, usage: usage(counts) }))
  const loggedOf = ({ slot }: { readonly slot: number }): LoggedTokens | null => {
    const counts = logged?.[slot]
    return counts === undefined
      ? null
      : {
          prompt: ['input', 'cache_read', 'cache_write', 'cache_write_1h']
            .map((name) => counts[name]!)
            .reduce((a, b) => a + b),
          completion: counts.output! + counts.reasoning!,
          ...{ cache_read: null, cache_write: null, cache_write_1h: null, reasoning: null },
        }
  }
  const judged = judgePlace(
    requests.map((each, at) => ({ request: each, statement: statement(text(costs[at]!)) })),
    {
      ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
      ...{ twinOf: () => null, loggedOf },
    },
  )
  return explain(judged, { priceOf: () => model, loggedOf, others }).explanations.map(
    ({ summary }) => summary,
  )
}
const costs = (
  all: readonly Readonly<Record<string, number>>[],
  at: Readonly<Record<string, string>> = {},
) =>
  all.map((counts) =>
    Object.entries(counts)
      .map(([part, count]) => BigInt(count) * pico[at[part] ?? part]!)
      .reduce((a, b) => a + b, 0n),
  )

const names = Object.keys(price)
test.each(
  names.flatMap((part) => names.filter((name) => name !== part).map((name) => [part, name])),
)('%s at the price of %s is told by these words alone', (part, name) => {
  const [first, ...others] = told(costs(answers, { [part]: name }))
  const shown = part === 'input' || part === 'output' ? part : part
  expect(first).toBe(`${shown} at the price of ${name}`)
  expect(others.length).toBeLessThan(2)
})

test("a cost by the log's own counts is told, with the right prices and with a wrong one", () => {
  const logged = answers.map((counts) => ({ ...counts, input: counts.input + 37 }))
  expect(told(costs(logged), logged)).toContain(
    'the counts of the log, which are not those of the answer',
  )
  expect(told(costs(logged, { input: 'cache_read' }), logged)).toContain(
    'input at the price of cache_read, by the counts of the log',
  )
})

test('no finding names more than two causes', () => {
  const right = costs(answers)
  const both = [[0n, 0n], right.map((cost) => 2n * cost), right.map((cost) => cost * 1000n)]
  for (const wrong of both) expect([1, 2]).toContain(told(wrong).length)
  // Of one wrong cost and one that is right, many changes in some requests give the wrong one.
  expect(told([0n, right[1]!]).length).toBeLessThanOrEqual(2)
})

test.each([
  ['up', 2],
  ['up', 0],
  ['down', 4],
] as const)(
  'amounts that are rounded %s to %i decimals of another currency are told',
  (mode, digits) => {
    // One yuan is 0.14 USD: 140,000,000,000 of 10^-12.
    const yuan = 140_000_000_000n
    const unit = yuan / 10n ** BigInt(digits)
    const wrong = costs(answers).map((cost) =>
      mode === 'up' ? ((cost + unit - 1n) / unit) * unit : (cost / unit) * unit,
    )
    const others = [{ name: 'CNY', rate: rational(14n, 100n) }]
    expect(told(wrong, undefined, others)[0]).toBe(
      `the request rounded to ${digits} decimals of CNY, ${mode}`,
    )
    expect(told(wrong)).not.toContain(`the request rounded to ${digits} decimals of CNY, ${mode}`)
  },
)
