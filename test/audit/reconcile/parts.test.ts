import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { BillLine, LogLine, Pricing } from '../../../src/audit/reconcile/lines.ts'
import { Parts } from '../../../src/audit/reconcile/parts.ts'
import { reconcile, reconcileParts } from '../../../src/audit/reconcile/reconcile.ts'
import { rational } from '../../../src/money/rational.ts'
import { eachKind } from '../../../src/tokens/kinds.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-parts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pricing: Pricing = {
  costOf: ({ output }) => rational(BigInt(output ?? 0), 3n),
  explain: () => null,
  keepRight() {},
  unit: rational(1n, 1_000_000n),
}

const line = fc.record({
  // Names as a service may choose them, with line breaks and letters beyond ASCII.
  id: fc.option(fc.oneof(fc.constantFrom('a', 'b\n', 'ü', '__proto__'), fc.string()), {
    nil: null,
  }),
  day: fc.constantFrom('2026-11-09', '2026-11-10'),
  model: fc.constantFrom('large', 'small'),
  account: fc.constantFrom(null, 'one', 'two'),
  output: fc.integer({ min: 0, max: 9 }),
})

const countsOf = (output: number) => ({
  ...eachKind(() => null),
  ...{ input: 1, cached: 0, output },
})

test('lines in parts on disk give the same cells as lines in memory', () => {
  let nth = 0
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (billed, logged) => {
      const bill = billed.map(
        ({ output, ...rest }): BillLine => ({
          ...{
            ...rest,
            type: output === 9 ? 'tax' : 'usage',
            amount: rational(BigInt(output), 3n),
          },
          ...{ requests: 1, counts: countsOf(output) },
        }),
      )
      const log = logged.map(
        ({ output, ...rest }): LogLine => ({
          ...{ ...rest, logged: null, counts: countsOf(output) },
          expected: output === 8 ? null : rational(BigInt(output), 7n),
        }),
      )
      // A part has the names of its files, so each world has its own.
      const parts = new Parts(mkdtempSync(join(folder, `${nth++}-`)), 5)
      for (const each of bill) parts.add('bill', each)
      for (const each of log) parts.add('log', each)
      const cellsOf = ({ cells, joinedBy }: ReturnType<typeof reconcile>) => [
        joinedBy,
        ...cells
          // Notes name the first requests of each part; cells of one day and model have no order.
          .map(({ notes: _, ...cell }) =>
            JSON.stringify(cell, (_name, value) =>
              typeof value === 'bigint' ? `${value}` : value,
            ),
          )
          .toSorted(),
      ]
      expect(cellsOf(reconcileParts(parts, pricing))).toEqual(
        cellsOf(reconcile(bill, log, pricing)),
      )
    }),
    { numRuns: 100, seed: 58 },
  )
})
