import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { type Mapping, parseMapping } from '../../../src/store/import/mapping.ts'
import { tries } from '../../nightly/tries.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { openStore, type Store } from '../opened.ts'
import { added, sumsOf } from './samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sums-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
})
afterEach(() => store.close())

const startMs = Date.UTC(2026, 10, 1)
const isoOf = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString()

let files = 0

/** Imports lines as JSON Lines, or as CSV in every other file. */
async function importLines(lines: readonly object[], mapping: Mapping): Promise<void> {
  const isCsv = files++ % 2 === 1
  const file = join(folder, `${files}.${isCsv ? 'csv' : 'jsonl'}`)
  const names = Object.keys(lines[0]!)
  const rows = lines.map((line) => (isCsv ? Object.values(line).join() : JSON.stringify(line)))
  writeFileSync(file, [...(isCsv ? [names.join()] : []), ...rows, ''].join('\n'))
  const { rejected } = await importFile(store, { file, mapping, source: 'log' })
  expect(rejected).toBe(0)
}

async function emptyStore(): Promise<void> {
  for (const table of ['events', 'statements', 'changes', 'imports', 'event_days']) {
    await store.execute(`DELETE FROM usage_${table}`)
  }
}

async function totals(change: Parameters<typeof usageOptions>[0] = {}) {
  const page = await sumsOf(store, usageOptions({ contract: null, ...change }))
  const { requests, tokens, money } = page.totals
  return {
    requests: requests.value ?? 0,
    input: tokens.input.value ?? 0,
    used: money[0]?.used ?? '0',
    days: page.days,
  }
}

interface Line {
  readonly at: string
  readonly cost: string
  readonly prompt: number
}

/** Lines in order of time, with fine costs. */
const logOf = (most: number) =>
  fc
    .array(
      fc.record({
        minute: fc.nat({ max: 4 * 1440 }),
        cost: fc.bigInt({ min: 0n, max: 10n ** 15n }),
        prompt: fc.nat({ max: 9999 }),
      }),
      { minLength: 1, maxLength: most },
    )
    .map((rows) =>
      rows
        .sort((a, b) => a.minute - b.minute)
        .map(({ minute, cost, prompt }) => ({
          at: isoOf(minute),
          cost: added([`${cost / 10n ** 12n}.${String(cost % 10n ** 12n).padStart(12, '0')}`])!,
          prompt,
        })),
    )

/** Pieces of a log: from where to where, as shares of its length; some are imported twice. */
const pieces = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })),
  {
    maxLength: 3,
  },
)

const sumsOfLines = (lines: readonly Line[]) => ({
  requests: lines.length,
  input: lines.reduce((sum, { prompt }) => sum + prompt, 0),
  used: added(['0', ...lines.map(({ cost }) => cost)]),
})

describe('a log cut into any files, in any order, with any overlap, imported again', () => {
  const byId = parseMapping(
    'fields: { id: id, time: at, credits: cost, promptTokens: prompt }',
    'map.yaml',
  )
  const byContent = parseMapping(
    'fields: { time: at, credits: cost, promptTokens: prompt }',
    'map.yaml',
  )

  /** Files that hold the whole log together: pieces of any place, and the gaps between them, in any order. */
  const filesOf = <T>(
    log: readonly T[],
    some: readonly (readonly [number, number])[],
    seed: number,
  ) => {
    const at = (share: number) => Math.floor((share * log.length) / 100)
    const cuts = some.map(([a, b]) => [at(Math.min(a, b)), at(Math.max(a, b))] as const)
    const isIn = new Set(cuts.flatMap(([from, to]) => log.slice(from, to)))
    const parts = [
      ...cuts.map(([from, to]) => log.slice(from, to)),
      log.filter((line) => !isIn.has(line)),
    ]
    return parts
      .filter((part) => part.length > 0)
      .flatMap((part, index) => (index === seed % 3 ? [part, part] : [part]))
      .sort((_, __) => (seed % 2 === 0 ? 1 : -1))
  }

  test.each([
    ['with ids', byId],
    ['known by their content', byContent],
  ])(
    '%s gives the sums of the whole',
    async (_, mapping) => {
      await fc.assert(
        fc.asyncProperty(logOf(20), pieces, fc.nat({ max: 9 }), async (log, some, seed) => {
          await emptyStore()
          // Without an id, a line that equals another in another file is the same line.
          const distinct = [...new Map(log.map((line) => [JSON.stringify(line), line])).values()]
          const whole = (mapping === byId ? log : distinct).map((line, id) => ({ ...line, id }))
          for (const part of filesOf(whole, some, seed)) {
            await importLines(
              part.map(({ id, ...line }) => (mapping === byId ? { id, ...line } : line)),
              mapping,
            )
          }
          const { days: _days, ...sums } = await totals()
          expect(sums).toEqual(sumsOfLines(whole))
        }),
        { numRuns: tries(2, 12) },
      )
    },
    240_000,
  )

  test('equal lines of a file count each, and as many times as the file that has most of them', async () => {
    const line = { at: isoOf(0), cost: '0.1', prompt: 7 }
    for (const n of [2, 3, 1]) {
      await importLines(
        Array.from({ length: n }, () => line),
        byContent,
      )
    }
    expect(await totals()).toMatchObject({ requests: 3, used: '0.3', input: 21 })
  })
})

describe('a later statement replaces an earlier', () => {
  test('of a line with a version, in any order of imports', async () => {
    const mapping = parseMapping(
      'fields: { id: id, time: at, version: changed, credits: cost, promptTokens: prompt }',
      'map.yaml',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.record({ id: fc.nat({ max: 3 }), version: fc.nat({ max: 5 }), prompt: fc.nat(99) }),
          { minLength: 1, maxLength: 10, selector: ({ id, version }) => `${id} ${version}` },
        ),
        fc.integer({ min: 1, max: 4 }),
        async (statements, size) => {
          await emptyStore()
          for (let from = 0; from < statements.length; from += size) {
            await importLines(
              statements.slice(from, from + size).map(({ id, version, prompt }) => ({
                ...{ id, at: isoOf(id), changed: isoOf(version), cost: version, prompt },
              })),
              mapping,
            )
          }
          const newest = [...Map.groupBy(statements, ({ id }) => id).values()].map((of) =>
            of.reduce((best, each) => (each.version > best.version ? each : best)),
          )
          const { days: _, ...sums } = await totals()
          expect(sums).toEqual({
            requests: newest.length,
            input: newest.reduce((sum, { prompt }) => sum + prompt, 0),
            used: String(newest.reduce((sum, { version }) => sum + version, 0)),
          })
        },
      ),
      { numRuns: tries(2, 12) },
    )
  }, 240_000)

  test('of a sum over an interval: the newest import of each interval and model counts alone', async () => {
    const mapping = parseMapping(
      'bucket: 1d\nfields: { time: day, model: model, requests: n, credits: cost, promptTokens: prompt }',
      'map.yaml',
    )
    const statement = fc.record({
      day: fc.nat({ max: 3 }),
      model: fc.constantFrom('a', 'b'),
      n: fc.integer({ min: 1, max: 99 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.uniqueArray(statement, {
            ...{ minLength: 1, maxLength: 5 },
            selector: ({ day, model }) => `${day} ${model}`,
          }),
          { minLength: 1, maxLength: 4 },
        ),
        async (exports) => {
          await emptyStore()
          const counts = new Map<string, number>()
          for (const each of exports) {
            await importLines(
              each.map(({ day, model, n }) => ({
                ...{ day: isoOf(day * 1440), model, n, cost: `0.${n}`, prompt: 10 * n },
              })),
              mapping,
            )
            for (const { day, model, n } of each) counts.set(`${day} ${model}`, n)
          }
          const { days: _, ...sums } = await totals()
          expect(sums).toEqual({
            requests: [...counts.values()].reduce((sum, n) => sum + n, 0),
            input: [...counts.values()].reduce((sum, n) => sum + 10 * n, 0),
            used: added([...counts.values()].map((n) => `0.${n}`)),
          })
        },
      ),
      { numRuns: tries(2, 12) },
    )
  }, 240_000)
})

describe('sums over any partition of the days', () => {
  const mapping = parseMapping(
    'fields: { id: id, time: at, end: end, credits: cost, promptTokens: prompt, requests: n }',
    'map.yaml',
  )
  const events = parseMapping(
    'fields: { id: id, time: at, credits: cost, promptTokens: prompt }',
    'map.yaml',
  )

  test.each([
    ['of requests', 0],
    ['of sums over an hour', 60],
    ['of sums over a day', 1440],
  ])(
    '%s equal those of the period',
    async (_, width) => {
      await fc.assert(
        fc.asyncProperty(
          logOf(12),
          fc.uniqueArray(fc.integer({ min: 1, max: 5 * 96 - 1 }), { maxLength: 3 }),
          fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu'),
          async (log, cuts, timezone) => {
            await emptyStore()
            const lines = log.map((line, id) => {
              if (width === 0) return { id, ...line }
              const start = Math.floor((Date.parse(line.at) - startMs) / 60_000 / width) * width
              return { ...line, id, at: isoOf(start), end: isoOf(start + width), n: 1 }
            })
            await importLines(lines, width === 0 ? events : mapping)
            const quarterUs = 900e6
            const from = startMs * 1000 - 96 * quarterUs
            const edges = [
              from,
              ...cuts.sort((a, b) => a - b).map((at) => from + at * quarterUs),
              from + 7 * 96 * quarterUs,
            ]
            const parts = []
            for (const [at, toUs] of edges.slice(1).entries()) {
              parts.push(await totals({ timezone, fromUs: edges[at]!, toUs }))
            }
            const whole = await totals({ timezone, fromUs: from, toUs: edges.at(-1)! })
            for (const each of [...parts, whole]) {
              expect(added(['0', ...each.days.map(({ money }) => money.credits ?? '0')])).toBe(
                each.used,
              )
            }
            expect(whole).toMatchObject(sumsOfLines(log))
            expect({
              requests: parts.reduce((sum, { requests }) => sum + requests, 0),
              input: parts.reduce((sum, { input }) => sum + input, 0),
              used: added(parts.map(({ used }) => used)),
            }).toEqual(sumsOfLines(log))
          },
        ),
        { numRuns: tries(2, 12) },
      )
    },
    240_000,
  )
})

test.each([
  ['jsonl', (lines: readonly string[]) => lines.join('\n')],
  ['json', (lines: readonly string[]) => `[${lines.join(',\n')}]`],
] as const)(
  'a JSON number in .%s keeps every digit, also past those of a double',
  async (name, of) => {
    const file = join(folder, `digits.${name}`)
    const lines = [
      '{"time":"2026-11-01T10:00:00Z","id":"a","credits":0.123456789012345678,"note":"x: 12345678901234567, y"}',
      '{"time":"2026-11-01T10:00:01Z","id":"b","credits":12345678901234567.123456}',
      '{"time":"2026-11-01T10:00:02Z","id":"c","credits": 3.06e-05,"trace":[1234567890123456789]}',
      '{"time":"2026-11-01T10:00:03Z","id":"d","credits":-0.000000000000000001,"trace":[ 1234567890123456789]}',
    ]
    writeFileSync(file, `${of(lines)}\n`)
    await importFile(store, { file })
    const rows = await store.rows(
      'SELECT id, credits::VARCHAR AS credits FROM usage_events ORDER BY id',
    )
    expect(rows.map(({ id, credits }) => `${id} ${credits}`)).toEqual([
      'a 0.123456789012345678',
      'b 12345678901234567.123456000000000000',
      'c 0.000030600000000000',
      'd -0.000000000000000001',
    ])
  },
)

test('a check counts a line once that repeats another of the file, and none whose id has other content', async () => {
  const file = join(folder, 'check.csv')
  const row = '2026-11-01T10:00:00Z,a,1,10'
  writeFileSync(file, `time,id,credits,promptTokens\n${row}\n${row}\n2026-11-01T10:00:00Z,a,2,10\n`)
  const checked = await importFile(store, { file, check: true })
  expect(checked).toMatchObject({ lines: 3, accepted: 1, duplicates: 1, rejected: 1 })
  expect(checked).toMatchObject({
    summary: { requests: 1, tokens: { input: 10 }, cost: { credits: '1' } },
  })
})
