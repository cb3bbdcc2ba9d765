import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { UsageOptions } from '../../../src/report/usage/shape.ts'
import type { FileImported } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { type Mapping, parseMapping } from '../../../src/store/import/mapping.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { added, type sumsOf } from './samples.ts'

/** Where logs are imported to, and what its usage page sums. */
export interface Engine {
  take(file: FileImport): Promise<FileImported>
  sums(options: UsageOptions): ReturnType<typeof sumsOf>
}

const startMs = Date.UTC(2026, 10, 1)
const isoOf = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString()

interface Line {
  readonly at: string
  readonly cost: string
  readonly prompt: number
}

const costOf = (cost: bigint) =>
  added([`${cost / 10n ** 12n}.${String(cost % 10n ** 12n).padStart(12, '0')}`])!

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
        .map(({ minute, cost, prompt }) => ({ at: isoOf(minute), cost: costOf(cost), prompt })),
    )

/** Pieces of a log: from where to where, as shares of its length; some are imported twice. */
const pieces = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })),
  { maxLength: 3 },
)

/** Files that hold the whole log together: pieces of any place, and the gaps between them, in any order. */
function filesOf<T>(
  log: readonly T[],
  some: readonly (readonly [number, number])[],
  seed: number,
): readonly (readonly T[])[] {
  const at = (share: number) => Math.floor((share * log.length) / 100)
  const cuts = some.map(([a, b]) => [at(Math.min(a, b)), at(Math.max(a, b))] as const)
  const isIn = new Set(cuts.flatMap(([from, to]) => log.slice(from, to)))
  const parts = [
    ...cuts.map(([from, to]) => log.slice(from, to)),
    log.filter((line) => !isIn.has(line)),
  ].filter((part) => part.length > 0)
  const twice = parts.flatMap((part, index) => (index === seed % 3 ? [part, part] : [part]))
  return seed % 2 === 0 ? twice : twice.toReversed()
}

interface Sums {
  readonly requests: number
  readonly input: number
  readonly used: string | null
}

const sumsOfLines = (lines: readonly Line[]): Sums => ({
  requests: lines.length,
  input: lines.reduce((sum, { prompt }) => sum + prompt, 0),
  used: added(['0', ...lines.map(({ cost }) => cost)]),
})

const mappingOf = (fields: string, rest = '') => parseMapping(`${rest}\nfields: { ${fields} }`)

/** A kind of log: its lines, how they are read, and what they hold together. */
interface Kind {
  readonly mapping: Mapping
  lines(log: readonly Line[]): readonly object[]
  sums(log: readonly Line[]): Sums
}

const negative = (cost: string) => (cost === '0' ? '0' : `-${cost}`)
const isNth =
  (n: number, from = 0) =>
  (_: unknown, at: number) =>
    at % n === from

/** Of each three lines, the second refunds the first and the third is a grant. */
const ledgerSums = (log: readonly Line[]): Sums => ({
  ...sumsOfLines(log.filter(isNth(3))),
  used: added(['0', ...log.flatMap(({ cost }, at) => [[cost], [negative(cost)], []][at % 3]!)]),
})

const distinct = <T>(lines: readonly T[]) => [
  ...new Map(lines.map((line) => [JSON.stringify(line), line])).values(),
]

const kinds: Readonly<Record<string, Kind>> = {
  'of requests with ids': {
    mapping: mappingOf('id: id, time: at, credits: cost, promptTokens: prompt'),
    lines: (log) => log.map((line, id) => ({ id, ...line })),
    sums: sumsOfLines,
  },
  'of requests known by their content': {
    mapping: mappingOf('time: at, credits: cost, promptTokens: prompt'),
    // Without an id, a line that equals another in another file is the same line.
    lines: distinct,
    sums: (log) => sumsOfLines(distinct(log)),
  },
  'of sums over an hour': {
    mapping: mappingOf(
      'time: at, model: model, requests: n, credits: cost, promptTokens: prompt',
      'bucket: 1h',
    ),
    lines: (log) =>
      log.map((line, at) => ({ ...line, at: isoOf(60 * at), model: `m${at % 2}`, n: 1 })),
    sums: sumsOfLines,
  },
  'of entries of a ledger': {
    mapping: mappingOf('id: id, time: at, type: kind, credits: cost, promptTokens: prompt'),
    lines: (log) =>
      log.map((line, id) => ({ id, ...line, kind: ['usage', 'refund', 'grant'][id % 3] })),
    sums: ledgerSums,
  },
  'of amounts without a type': {
    mapping: mappingOf('id: id, time: at, refersTo: request, credits: cost, promptTokens: prompt'),
    // An amount below 0 that names a request refunds it, wherever that is; another one is an adjustment.
    lines: (log) =>
      log.map(({ at, cost, prompt }, id) => ({
        ...{ id: `r${id}`, at, prompt, cost: id % 3 === 0 ? cost : negative(cost) },
        request: id % 3 === 1 ? `r${id - 1}` : '',
      })),
    sums: (log) => {
      // An amount of 0 is no refund, but a request.
      const isRequest = ({ cost }: Line, at: number) => at % 3 === 0 || cost === '0'
      return { ...sumsOfLines(log.filter(isRequest)), used: ledgerSums(log).used }
    },
  },
}

/**
 * Properties of imports that hold for each engine.
 *
 * @param runs how often each is tried
 */
export function keepsSums(name: string, engine: () => Engine, runs: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'assay-cuts-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let [files, sources] = [0, 0]

  /** Imports lines as JSON Lines, or as CSV in every other file. A file's name is never an identity. */
  async function importLines(
    lines: readonly object[],
    mapping: Mapping,
    source: string,
  ): Promise<void> {
    const isCsv = files++ % 2 === 1
    const file = join(folder, `${files}.${isCsv ? 'csv' : 'jsonl'}`)
    const names = Object.keys(lines[0]!)
    const rows = lines.map((line) => (isCsv ? Object.values(line).join() : JSON.stringify(line)))
    writeFileSync(file, [...(isCsv ? [names.join()] : []), ...rows, ''].join('\n'))
    const { rejected } = await engine().take({ file, mapping: { ...mapping, source } })
    expect(rejected).toBe(0)
  }

  async function totals(source: string, change: Parameters<typeof usageOptions>[0] = {}) {
    const page = await engine().sums(usageOptions({ contract: null, sources: [source], ...change }))
    const { requests, tokens, money } = page.totals
    return {
      requests: requests.value ?? 0,
      input: tokens.input.value ?? 0,
      used: money[0]?.used ?? '0',
      days: page.days,
    }
  }

  const newSource = () => `s${sources++}`

  describe(`${name}: a log cut into any files, in any order, with any overlap, imported again`, {
    tags: 'whole',
  }, () => {
    test.each(Object.entries(kinds))(
      '%s gives the sums of the whole',
      async (_, { mapping, lines, sums }) => {
        await fc.assert(
          fc.asyncProperty(logOf(20), pieces, fc.nat({ max: 9 }), async (log, some, seed) => {
            const source = newSource()
            for (const part of filesOf(lines(log), some, seed)) {
              await importLines(part, mapping, source)
            }
            const { days: _days, ...found } = await totals(source)
            expect(found).toEqual(sums(log))
          }),
          { numRuns: runs },
        )
      },
      240_000,
    )
  })

  describe(`${name}: a later statement replaces an earlier`, { tags: 'whole' }, () => {
    test.each(['usage', 'refund'] as const)(
      'of a %s with a version, in any order of imports',
      async (type) => {
        const mapping = mappingOf(
          'id: id, time: at, version: changed, type: kind, credits: cost, promptTokens: prompt',
        )
        await fc.assert(
          fc.asyncProperty(
            fc.uniqueArray(
              fc.record({
                id: fc.nat({ max: 3 }),
                version: fc.nat({ max: 5 }),
                prompt: fc.nat(99),
              }),
              {
                ...{ minLength: 1, maxLength: 10 },
                selector: ({ id, version }) => `${id} ${version}`,
              },
            ),
            fc.integer({ min: 1, max: 4 }),
            async (statements, size) => {
              const source = newSource()
              for (let from = 0; from < statements.length; from += size) {
                await importLines(
                  statements.slice(from, from + size).map(({ id, version, prompt }) => ({
                    ...{ id, at: isoOf(id), changed: isoOf(version), kind: type },
                    ...{ cost: version, prompt },
                  })),
                  mapping,
                  source,
                )
              }
              const newest = [...Map.groupBy(statements, ({ id }) => id).values()].map((of) =>
                of.reduce((best, each) => (each.version > best.version ? each : best)),
              )
              const sum = newest.reduce((all, { version }) => all + version, 0)
              const { days: _, ...sums } = await totals(source)
              expect(sums).toEqual(
                type === 'refund'
                  ? { requests: 0, input: 0, used: sum === 0 ? '0' : `-${sum}` }
                  : {
                      requests: newest.length,
                      input: newest.reduce((all, { prompt }) => all + prompt, 0),
                      used: String(sum),
                    },
              )
            },
          ),
          { numRuns: runs },
        )
      },
      240_000,
    )

    test('of a sum over an interval: the newest import of each interval and model counts alone', async () => {
      const mapping = mappingOf(
        'time: day, model: model, requests: n, credits: cost, promptTokens: prompt',
        'bucket: 1d',
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
            const source = newSource()
            const counts = new Map<string, number>()
            for (const each of exports) {
              await importLines(
                each.map(({ day, model, n }) => ({
                  ...{ day: isoOf(day * 1440), model, n, cost: `0.${n}`, prompt: 10 * n },
                })),
                mapping,
                source,
              )
              for (const { day, model, n } of each) counts.set(`${day} ${model}`, n)
            }
            const { days: _, ...sums } = await totals(source)
            expect(sums).toEqual({
              requests: [...counts.values()].reduce((sum, n) => sum + n, 0),
              input: [...counts.values()].reduce((sum, n) => sum + 10 * n, 0),
              used: added([...counts.values()].map((n) => `0.${n}`)),
            })
          },
        ),
        { numRuns: runs },
      )
    }, 240_000)
  })

  describe(`${name}: sums over any partition of the days`, { tags: 'whole' }, () => {
    const events = kinds['of requests with ids']!
    const over = (width: number): Kind => ({
      mapping: mappingOf('time: at, end: end, credits: cost, promptTokens: prompt, requests: n'),
      lines: (log) =>
        log.map((line) => {
          const start = Math.floor((Date.parse(line.at) - startMs) / 60_000 / width) * width
          return { ...line, at: isoOf(start), end: isoOf(start + width), n: 1 }
        }),
      sums: sumsOfLines,
    })

    test.each([
      ['of requests', events],
      ['of entries of a ledger', kinds['of entries of a ledger']!],
      ['of sums over an hour', over(60)],
      ['of sums over a day', over(1440)],
    ])(
      '%s equal those of the period',
      async (_, { mapping, lines, sums }) => {
        await fc.assert(
          fc.asyncProperty(
            logOf(12),
            fc.uniqueArray(fc.integer({ min: 1, max: 5 * 96 - 1 }), { maxLength: 3 }),
            fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu'),
            async (log, cuts, timezone) => {
              const source = newSource()
              await importLines(lines(log), mapping, source)
              const quarterUs = 900e6
              const from = startMs * 1000 - 96 * quarterUs
              const edges = [
                from,
                ...cuts.sort((a, b) => a - b).map((at) => from + at * quarterUs),
                from + 7 * 96 * quarterUs,
              ]
              const parts = []
              for (const [at, toUs] of edges.slice(1).entries()) {
                parts.push(await totals(source, { timezone, fromUs: edges[at]!, toUs }))
              }
              const whole = await totals(source, { timezone, fromUs: from, toUs: edges.at(-1)! })
              for (const each of [...parts, whole]) {
                expect(added(['0', ...each.days.map(({ money }) => money.credits ?? '0')])).toBe(
                  each.used,
                )
              }
              expect(whole).toMatchObject(sums(log))
              expect({
                requests: parts.reduce((sum, { requests }) => sum + requests, 0),
                input: parts.reduce((sum, { input }) => sum + input, 0),
                used: added(parts.map(({ used }) => used)),
              }).toEqual(sums(log))
            },
          ),
          { numRuns: runs },
        )
      },
      240_000,
    )
  })
}
