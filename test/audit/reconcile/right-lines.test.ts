import { expect, test } from 'vitest'
import type { BillLine, LogLine } from '../../../src/audit/reconcile/lines.ts'
import { pricingOf } from '../../../src/audit/reconcile/pricing.ts'
import { reconcile } from '../../../src/audit/reconcile/reconcile.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { powerOfTen, rational } from '../../../src/money/rational.ts'
import { eachKind } from '../../../src/tokens/kinds.ts'

const models = [{ id: 'm', price: { input: 4, cache_read: 0.4, output: 20 } }]
const contract = parseContract({ extends: 'none', name: 'g', currency: 'USD', models }, 'c.yaml')

interface Used {
  readonly input: number
  readonly cached: number
  readonly output: number
  /** Millionths of a dollar that the bill has beyond its cost. */
  readonly more?: number
}

/** The notes on a bill of these requests. */
function notesOn(used: readonly Used[]): readonly string[] {
  const lines = used.map(({ input, cached, output, more = 0 }, at) => {
    const expected = 4 * (input - cached) + 0.4 * cached + 20 * output
    const line = { id: `r-${at}`, day: '2026-11-03', model: 'm', account: null }
    const counts = { ...eachKind(() => 0), input, cached, output }
    const micro = (of: number) => rational(BigInt(Math.round(of)), 1_000_000n)
    const bill: BillLine = {
      ...{ ...line, type: 'usage', requests: 1, counts },
      amount: micro(expected + more),
    }
    const log: LogLine = { ...line, counts, logged: null, expected: micro(expected) }
    return { bill, log }
  })
  const { cells } = reconcile(
    lines.map(({ bill }) => bill),
    lines.map(({ log }) => log),
    pricingOf(contract, powerOfTen(-6)),
  )
  return cells.flatMap(({ notes }) => notes)
}

/** 0.0036 too much: cached tokens at the full price, or the output twice. */
const wrong = { input: 2_000, cached: 1_000, output: 180, more: 3_600 }

test('a line of a bill that two changes give is told by the first, if no right line contradicts it', () => {
  expect(notesOn([{ input: 1_500, cached: 0, output: 90 }, wrong])).toEqual([
    'cache_read at the price of input',
  ])
})

test('a change that would have moved a right line of the bill is not told where another one explains the wrong line', () => {
  expect(notesOn([{ input: 1_500, cached: 500, output: 0 }, wrong])).toEqual([
    'output counted twice',
  ])
})
