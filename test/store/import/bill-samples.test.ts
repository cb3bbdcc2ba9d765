import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { eachToken } from '../../../src/tokens/kinds.ts'

import { openStore } from '../opened.ts'
import { openmeter, type Read, readSample, type Sums, type Tokens, zones } from './read-sample.ts'
import { added } from './samples.ts'

/**
 * Files of bills and of agents' sessions with invented values, and their sums as an independent reader computes them
 * (`bill-samples/expected.json`).
 */
const folder = join(import.meta.dirname, 'bill-samples')

interface Stated extends Sums {
  readonly days: Readonly<Record<string, Readonly<Record<string, Sums>>>>
}

const stated = Object.entries(
  JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<string, Stated>,
)
const none = eachToken(() => null)
const importOf = (file: string) => ({
  file,
  ...(file.includes('openmeter') ? { mapping: openmeter } : {}),
})

async function imported(files: readonly string[], timezone = 'UTC'): Promise<Read> {
  const store = await openStore(':memory:')
  try {
    for (const file of files)
      expect(await importFile(store, importOf(file))).toMatchObject({ rejected: 0 })
    return await readSample(store, timezone)
  } finally {
    store.close()
  }
}

const totalsOf = ({ requests, tokens, cost }: Sums) => ({
  requests,
  tokens: { ...none, ...tokens },
  cost,
})

test.each(stated)(
  '%s: each sum is that of an independent reader, in five zones',
  { tags: 'whole', timeout: 60_000 },
  async (name, expected) => {
    const files = name.split(' + ').map((file) => join(folder, file))
    const isEvents = expected.requests !== null
    const store = await openStore(':memory:')
    onTestFinished(() => store.close())
    for (const file of files) await importFile(store, importOf(file))
    for (const timezone of zones) {
      const said = await readSample(store, timezone)
      expect([timezone, totalsOf(said)]).toEqual([timezone, totalsOf(expected)])
      const used = Object.values(said.days).flatMap((models) =>
        Object.values(models).map((each) => each.used),
      )
      const refunds = Object.values(said.ledger).map(({ refund }) => refund ?? null)
      // Of a bill by UTC day, a refund has no bar in a zone whose days are others.
      const isPlaced = timezone === 'UTC' || refunds.every((each) => each === null)
      if (expected.cost !== null && isPlaced) {
        expect([timezone, added(used)]).toEqual([
          timezone,
          added([Object.values(expected.cost)[0]!.used, ...refunds]),
        ])
      }
      if (timezone !== 'UTC') continue
      for (const [day, models] of Object.entries(expected.days)) {
        for (const [model, sums] of Object.entries(models)) {
          const cost = sums.cost === null ? null : Object.values(sums.cost)[0]!
          // Entries of a ledger are no use of a day.
          if (!isEvents && cost?.used === '0' && cost.adjustments !== undefined) continue
          const seen = said.days[day]?.[model]
          expect([day, model, seen]).toEqual([
            day,
            model,
            {
              tokens: expect.objectContaining(knownOf(sums.tokens)),
              used: cost === null ? seen?.used : added([cost.used]),
            },
          ])
        }
      }
    }
  },
)

/** Tokens that the source states; a day without a line of a kind has 0 or none of it. */
const knownOf = (tokens: Tokens | null) =>
  Object.fromEntries(
    Object.entries(tokens ?? {}).filter(([, value]) => value !== null && value !== 0),
  )

let made = 0
function written(name: string, lines: readonly string[]): string {
  const path = join(tmpdir(), `assay-bills-${process.pid}-${made++}-${name}`)
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

/** The header of a table, and its lines. */
function linesOf(name: string): {
  readonly head: readonly string[]
  readonly body: readonly string[]
} {
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
  return name.endsWith('.csv')
    ? { head: lines.slice(0, 1), body: lines.slice(1) }
    : { head: [], body: lines }
}

const shuffled = <T>(list: readonly T[], seed: number): readonly T[] => {
  const order = [...list]
  let state = seed * 2654435761 + 1
  for (let at = order.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = state % (at + 1)
    ;[order[at], order[other]] = [order[other]!, order[at]!]
  }
  return order
}

const files = stated.filter(([name]) => !name.includes(' + '))
/** Lines of sessions stand in their order: a total is that of the lines before it, and the last line of an id counts. */
const unordered = files.filter(([name]) => !/codex|gemini/.test(name))
const bills = files.filter(([, { requests, cost }]) => requests === null && cost !== null)

test.each(unordered)(
  '%s: the order of its lines changes nothing',
  { tags: 'whole', timeout: 60_000 },
  async (name, expected) => {
    const { head, body } = linesOf(name)
    for (const seed of process.env.NIGHTLY === undefined ? [1] : [1, 2, 3, 4, 5]) {
      const file = written(name, [...head, ...shuffled(body, seed)])
      expect([seed, totalsOf(await imported([file]))]).toEqual([seed, totalsOf(expected)])
    }
  },
)

test.each(files)(
  '%s counts once, however often it is imported',
  { tags: 'whole', timeout: 60_000 },
  async (name, expected) => {
    const file = join(folder, name)
    expect(totalsOf(await imported([file, file]))).toEqual(totalsOf(expected))
  },
)

test.each(unordered)(
  '%s loses nothing where it is cut in two files',
  { tags: 'whole', timeout: 120_000 },
  async (name, expected) => {
    const { head, body } = linesOf(name)
    // Equal lines of two files are one: no file says that they are two.
    const repeats = body.map((line) => body.indexOf(line) !== body.lastIndexOf(line))
    for (let at = 1; at < body.length; at += process.env.NIGHTLY === undefined ? 5 : 1) {
      if (repeats[at - 1] && body[at - 1] === body[at]) continue
      const parts = [body.slice(0, at), body.slice(at)]
      if (
        name.endsWith('.jsonl') &&
        !parts.every((part) => part.some((line) => /usage|specversion/.test(line)))
      )
        continue
      const said = await imported(parts.map((part) => written(name, [...head, ...part])))
      expect([at, totalsOf(said)]).toEqual([at, totalsOf(expected)])
    }
  },
)

test.each(bills)(
  '%s: a monthly tax displaces no charge',
  { tags: 'whole', timeout: 60_000 },
  async (name, expected) => {
    const { head, body } = linesOf(name)
    const cells = head[0]!.split(',')
    const month: Readonly<Record<string, string>> = {
      ...{
        line_item_line_item_type: 'Tax',
        line_item_currency_code: 'USD',
        line_item_unblended_cost: '7',
      },
      ...{
        line_item_usage_start_date: '2026-11-01T00:00:00Z',
        line_item_usage_end_date: '2026-12-01T00:00:00Z',
      },
      ...{ ChargeCategory: 'Tax', BillingCurrency: 'USD', BilledCost: '7' },
      ...{ ChargePeriodStart: '2026-11-01T00:00:00Z', ChargePeriodEnd: '2026-12-01T00:00:00Z' },
      ...{
        date: '11/01/2026',
        chargeType: 'Tax',
        billingCurrency: 'EUR',
        costInBillingCurrency: '7',
      },
    }
    if (name.startsWith('copilot')) return
    const tax = cells.map((cell) => month[cell] ?? '').join(',')
    const said = await imported([written(name, [...head, tax, ...body])])
    const [unit, cost] = Object.entries(expected.cost!)[0]!
    expect(said.cost![unit]!.used).toBe(cost.used)
    expect(said.ledger[unit]!.tax).toBe(added([cost.adjustments?.tax ?? null, '7']))
  },
)
