import fc from 'fast-check'
import { expect } from 'vitest'
import { sqlName } from '../../../src/attempt/columns.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import type { Answers } from '../../../src/portal/api/shapes.ts'
import type { BoardData } from '../../../src/report/usage/board/data.ts'
import type { UsageEngine } from '../../../src/report/usage/engine/engine.ts'
import { fillQuarters } from '../../../src/report/usage/engine/fill-quarters.ts'
import { enterPrices } from '../../../src/report/usage/prepare.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import type { UsageOptions, UsagePage } from '../../../src/report/usage/shape.ts'
import { identifier } from '../../../src/store/literal.ts'
import { exportedSumsSql } from '../../../src/store/quarters/sums.ts'
import { limitTo } from '../../../src/store/session/account.ts'
import { openExistingStore, type Store } from '../../../src/store/session/open.ts'
import { inSession } from '../../../src/store/session/session.ts'
import {
  eachToken,
  type MappedTokens,
  mappedName,
  type ShownToken,
  shownTokens,
  tokenKinds,
} from '../../../src/tokens/kinds.ts'
import { november, oddTag, type Served, served, settingsOf, tokenOf } from '../../portal/portal.ts'
import { usageOptions, utc } from '../usage-events.ts'

/**
 * One figure has one value, wherever it stands: `usage --json`, `export sums`, the API and its CSV. The expected value is summed here from
 * the rows, in whole millionths, by code that shares nothing with Assay.
 */

export interface Line extends Readonly<Record<MappedTokens<ShownToken>, number | null>> {
  readonly atUs: number
  readonly account: string
  readonly model: string | null
  readonly keyFp: string | null
  readonly endpoint: string | null
  /** The value of the tag `oddTag`. */
  readonly tag: string | null
  readonly outcome: string
  readonly status: number | null
  readonly unit: string
  /** Millionths; null is unknown. */
  readonly micros: number | null
  /** Its cost is unknown, and the most that it can be is known: a run knows its prices. */
  readonly isBounded?: true
  readonly type: 'usage' | 'refund'
}

/** A value for each kind of tokens, by the name of its field. */
export const eachField = <Value>(of: (kind: ShownToken) => Value) =>
  Object.fromEntries(shownTokens.map((kind) => [mappedName(kind), of(kind)])) as Readonly<
    Record<MappedTokens<ShownToken>, Value>
  >

const decimal = (micros: number) => {
  const sign = micros < 0 ? '-' : ''
  const digits = String(Math.abs(micros)).padStart(7, '0')
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** The expected figures of some lines. */
function figuresOf(lines: readonly Line[]) {
  const used = lines.filter(({ type }) => type === 'usage')
  const sum = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((all, value) => all + value, 0)
  }
  const amounts = (some: readonly Line[]) =>
    Object.fromEntries(
      [...new Set(some.map(({ unit }) => unit))].sort().flatMap((unit) => {
        const total = sum(some.filter((line) => line.unit === unit).map(({ micros }) => micros))
        return total === null ? [] : [[unit, decimal(total)]]
      }),
    )
  return {
    requests: used.length,
    failed: used.filter(({ outcome }) => outcome !== 'ok').length,
    tokens: eachToken((kind) => sum(used.map((line) => line[mappedName(kind)]))),
    amounts: amounts(lines),
    refunds: amounts(lines.filter(({ type }) => type === 'refund')),
    unknownCost: used.filter(({ micros, isBounded }) => micros === null && !isBounded).length,
  }
}

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 3 })
const count = fc.integer({ min: 0, max: 5000 })
const ends = [
  ['ok', 200],
  ['http_error', 500],
  ['http_error', 429],
  ['aborted', null],
  ['timeout', null],
] as const

/** The tokens of a line that are part of all input, or of all output. */
const partsOf = (line: Pick<Line, MappedTokens<ShownToken>>, whole: 'input' | 'output') =>
  shownTokens
    .filter((kind) => tokenKinds[kind].within === whole)
    .reduce((sum, kind) => sum + (line[mappedName(kind)] ?? 0), 0)

/** A line in one of these units. */
export const line = (units: readonly string[]): fc.Arbitrary<Line> =>
  fc
    .record({
      minute: fc.integer({ min: 0, max: 27 * 1440 - 1 }),
      account: fc.constantFrom('a', 'b'),
      model: fc.constantFrom('large', 'small', 'constructor'),
      keyFp: fc.constantFrom('0123456789ab', 'ba9876543210'),
      endpoint: fc.constantFrom('chat', 'embeddings'),
      tag: maybe(fc.constantFrom('search', `o'brien</script>`, '__proto__')),
      end: fc.constantFrom(...ends),
      unit: fc.constantFrom(...units),
      micros: maybe(fc.integer({ min: 0, max: 9_999_999 })),
      isRefund: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      namesNothing: fc.boolean(),
      ...eachField(() => maybe(count)),
    })
    .map(({ minute, end: [outcome, status], isRefund, namesNothing, micros, ...rest }) => {
      const of = { ...rest, atUs: utc(2026, 11, 1) + minute * 60e6 }
      // A request that reports one kind of all tokens reports both: one alone has no number of requests of its own.
      const both = of.promptTokens !== null && of.completionTokens !== null
      return isRefund
        ? {
            ...{ ...of, outcome: 'ok', status: null, type: 'refund', micros: -(micros ?? 1) },
            ...eachField(() => null),
            ...(namesNothing ? { model: null, keyFp: null, endpoint: null, tag: null } : {}),
          }
        : {
            ...{ ...of, outcome, status, type: 'usage', micros },
            // A part is in its whole.
            promptTokens: both ? of.promptTokens! + partsOf(of, 'input') : null,
            completionTokens: both ? of.completionTokens! + partsOf(of, 'output') : null,
          }
    })

const dayOf = ({ atUs }: Line) => new Date(atUs / 1000).toISOString().slice(0, 10)
const hourOf = ({ atUs }: Line) =>
  `${new Date(atUs / 1000).toISOString().slice(0, 13).replace('T', ' ')}:00 +00:00`
const oddDimension = `tag:${oddTag}` as const
const dimensions = {
  day: dayOf,
  model: ({ model }: Line) => model,
  key: ({ keyFp }: Line) => keyFp,
  endpoint: ({ endpoint }: Line) => endpoint,
  [oddDimension]: ({ tag }: Line) => tag,
} as const
type Dimension = keyof typeof dimensions
/** What a file of sums has beside these. */
const fileDimensions = { ...dimensions, hour: hourOf, account: ({ account }: Line) => account }
type FileDimension = keyof typeof fileDimensions

const namesIn = (lines: readonly Line[], of: (line: Line) => string | null) =>
  [...new Set(lines.map(of))].filter((name) => name !== null).sort()

/** Credits at 0.0125 EUR, and amounts of the log, by currency; in units of 10^-10, exactly. */
function costOf(amounts: Readonly<Record<string, string>>, price: bigint | null) {
  const tenth = (text: string) => BigInt(Math.round(Number(text) * 1e6))
  const sums = new Map<string, bigint>()
  for (const [unit, text] of Object.entries(amounts)) {
    if (unit === 'credits' && price === null) continue
    const [currency, value] =
      unit === 'credits' ? ['EUR', tenth(text) * price!] : [unit, tenth(text) * 10_000n]
    sums.set(currency, (sums.get(currency) ?? 0n) + value)
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, value]) => {
      const sign = value < 0n ? '-' : ''
      const digits = String(value < 0n ? -value : value).padStart(11, '0')
      return {
        currency,
        value: `${sign}${digits.slice(0, -10)}.${digits.slice(-10)}`.replace(/\.?0+$/, ''),
      }
    })
}

/** Amounts in millionths by unit, of lines of a file, which has refunds apart. */
const mapOf = (amounts: string | number | null | undefined) => {
  const sums = new Map<string, number>()
  const lines = JSON.parse(String(amounts ?? '[]')) as { unit: string; amount: string }[]
  for (const { unit, amount } of lines) {
    sums.set(unit, (sums.get(unit) ?? 0) + Math.round(Number(amount) * 1e6))
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
}
const amountsIn = (amounts: Readonly<Record<string, string>>) =>
  Object.entries(amounts)
    .map(([unit, text]): [string, number] => [unit, Math.round(Number(text) * 1e6)])
    .sort(([a], [b]) => (a < b ? -1 : 1))

export const csvOf = (text: string) => {
  const [head, ...rows] = text
    .trim()
    .split('\n')
    .map((row) => row.split(','))
  return rows.map((row) => Object.fromEntries(head!.map((name, at) => [name, row[at]!])))
}

/** The page of an account in November. @param read reads it of an engine */
export async function expectPage(
  read: (options: UsageOptions) => Promise<UsagePage>,
  mine: readonly Line[],
): Promise<void> {
  const expected = figuresOf(mine)
  const page = await read(
    usageOptions({
      ...{ account: mine[0]!.account, fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1) },
      ...{ by: 'endpoint', contract: null },
    }),
  )
  const { totals } = page
  expect(totals.requests.value ?? 0).toBe(expected.requests)
  for (const kind of shownTokens) {
    expect([kind, totals.tokens[kind].value]).toEqual([kind, expected.tokens[kind]])
  }
  expect(Object.fromEntries(totals.money.map(({ unit, used }) => [unit, used]))).toEqual(
    expected.amounts,
  )
  for (const { unit, refunds } of totals.money) {
    expect(refunds).toBe(expected.refunds[unit] ?? '0')
  }
  expect(totals.unknownCost).toBe(expected.unknownCost)
  for (const points of [page.days, page.hours]) {
    const added = (name: 'failed' | 'requests') =>
      points.reduce((all, point) => all + (point[name] ?? 0), 0)
    expect([added('requests'), added('failed')]).toEqual([...[expected.requests, expected.failed]])
    for (const [unit, text] of Object.entries(expected.amounts)) {
      const micros = points.map(({ money }) => Math.round(Number(money[unit] ?? 0) * 1e6))
      expect([unit, decimal(micros.reduce((all, each) => all + each, 0))]).toEqual([unit, text])
    }
  }
}

/** `export sums` of an account, from the store or another engine. */
export async function expectSums(
  store: Store,
  mine: readonly Line[],
  engine: UsageEngine | null = null,
): Promise<void> {
  const { account } = mine[0]!
  const sums = await inSession(store, {}, async (session) => {
    await enterPrices(session, defaultContract)
    const scope = { account, keys: null }
    if (engine === null) await limitTo(session, scope)
    const quarters = engine === null ? undefined : await fillQuarters(session, engine, scope, [])
    return Promise.all(
      (Object.keys(fileDimensions) as readonly FileDimension[]).map(async (by) => ({
        by,
        rows: await session.rows<Record<string, number | string | null>>(
          `SELECT ${identifier(by)} AS name, sum(requests)::INTEGER AS requests, sum(failed)::INTEGER AS failed, 
             ${shownTokens.map((kind) => `sum(${sqlName(kind)}_tokens)::INTEGER AS "${kind}"`).join(', ')},
             sum(amount_unknown)::INTEGER AS unknown,
             list({unit: unit, amount: amount::VARCHAR}) FILTER (WHERE amount IS NOT NULL)::JSON::VARCHAR AS amounts
           FROM (${exportedSumsSql([by], { timezone: 'UTC', fromUs: null, toUs: null }, quarters)}) GROUP BY 1 ORDER BY 1`,
        ),
      })),
    )
  })
  for (const { by, rows } of sums) {
    const nameOf = fileDimensions[by]
    const named = rows.filter(({ name }) => name !== null)
    expect(named.map(({ name }) => name)).toEqual(namesIn(mine, nameOf))
    for (const row of rows) {
      const own = figuresOf(mine.filter((each) => nameOf(each) === row.name))
      expect([by, row.name, mapOf(row.amounts)]).toEqual([by, row.name, amountsIn(own.amounts)])
      expect([by, row.name, row.requests ?? 0, row.failed, row.unknown]).toEqual([
        ...[by, row.name, own.requests, own.failed, own.unknownCost],
      ])
      expect(eachToken((kind) => row[kind])).toEqual(own.tokens)
    }
  }
}

/** The API, its CSV and the customer's page of an account. */
export async function expectApi(
  service: Pick<Served, 'ask'>,
  mine: readonly Line[],
): Promise<void> {
  const { account } = mine[0]!
  const expected = figuresOf(mine)
  const token = await tokenOf(account)
  // A customer's keys have names by their first use.
  const keys = [...mine]
    .sort((a, b) => a.atUs - b.atUs || ((a.keyFp ?? '') < (b.keyFp ?? '') ? -1 : 1))
    .flatMap(({ keyFp }) => keyFp ?? [])
  const shown = {
    ...dimensions,
    key: ({ keyFp }: Line) => keyFp && `key ${[...new Set(keys)].indexOf(keyFp) + 1}`,
  }
  const read = async <T>(path: string): Promise<T> => {
    const answer = await service.ask(path, token)
    expect([path, answer.status]).toEqual([path, 200])
    return (await answer.json()) as T
  }
  const price = 125n
  const summary = await read<Answers['summary']>(`/v1/usage/summary?${november}`)
  expect(summary.requests.value).toBe(String(expected.requests))
  expect(summary.credits?.value ?? null).toBe(
    expected.amounts.credits ?? (expected.requests === 0 ? '0' : null),
  )
  expect(summary.cost.map(({ currency, value }) => ({ currency, value }))).toEqual(
    costOf(expected.amounts, price),
  )
  for (const kind of shownTokens) {
    const value = expected.tokens[kind]
    expect(summary.tokens[kind].value).toBe(
      value === null ? (expected.requests === 0 ? '0' : null) : String(value),
    )
  }
  for (const by of Object.keys(dimensions) as readonly Dimension[]) {
    const { rows, refunds, total } = await read<Answers['breakdown']>(
      `/v1/usage/breakdown?${november}&by=${encodeURIComponent(by)}&sort=name`,
    )
    const named = rows.flatMap(({ name }) => name ?? [])
    expect(named.sort()).toEqual(namesIn(mine, shown[by]))
    const apart = figuresOf(mine.filter((each) => shown[by](each) === null))
    expect(refunds).toEqual({
      credits: apart.refunds.credits ?? null,
      cost: costOf(apart.refunds, price),
    })
    for (const row of rows) {
      const some = mine.filter((each) => shown[by](each) === row.name)
      // What names nothing is use without refunds, which stand apart.
      const own = figuresOf(some.filter(({ type }) => row.name !== null || type === 'usage'))
      expect([by, row.name, row.requests, row.failed, row.input, row.credits]).toEqual([
        ...[by, row.name, own.requests, own.failed, own.tokens.input],
        own.amounts.credits ?? null,
      ])
      expect(row.cost).toEqual(costOf(own.amounts, price))
    }
    expect([total.requests, total.failed]).toEqual([expected.requests, expected.failed])
    expect(total.cost).toEqual(costOf(expected.amounts, price))
  }
  const failed = await read<Answers['summary']>(`/v1/usage/summary?${november}&outcome=failed`)
  expect(failed.requests.value ?? '0').toBe(String(expected.failed))
  for (const { currency } of summary.cost) {
    const { unit, series } = await read<Answers['series']>(
      `/v1/usage/series?${november}&bucket=day&metric=cost&unit=${currency}`,
    )
    expect(unit).toBe(currency)
    const days = [...new Set(mine.map(dayOf))].sort()
    for (const day of days) {
      const own = figuresOf(mine.filter((each) => dayOf(each) === day))
      const cost = costOf(own.amounts, price).find((each) => each.currency === currency)
      expect([day, series[0]!.values[Number(day.slice(8)) - 1]]).toEqual([day, cost?.value ?? null])
    }
  }
  const html = await (await service.ask(`/page?${november}`, token)).text()
  const { cells, names, unit } = JSON.parse(
    /id="board-data">(.*?)<\/script>/s.exec(html)![1]!,
  ) as BoardData
  const micros = (value: number | null | undefined) => Math.round((value ?? 0) * 1e6)
  const cellsOf = (is: (at: number) => boolean) => {
    const some = cells.hour.map((_, at) => at).filter(is)
    const sum = (values: readonly (number | null)[]) =>
      some.reduce((all, at) => all + micros(values[at]), 0) / 1e6
    return {
      ...{ requests: sum(cells.requests), failed: sum(cells.failed) },
      ...{ input: sum(cells.input), output: sum(cells.output) },
      credits: micros(sum(cells.credits)),
    }
  }
  const onPage = (some: readonly Line[]) => {
    const own = figuresOf(some)
    return {
      ...{ requests: own.requests, failed: own.failed },
      ...{ input: own.tokens.input ?? 0, output: own.tokens.output ?? 0 },
      credits: micros(Number(own.amounts[unit] ?? 0)),
    }
  }
  expect(cellsOf(() => true)).toEqual(onPage(mine))
  for (const by of ['model', 'key', 'endpoint'] as const) {
    for (const [place, name] of names[by].entries()) {
      const own = mine.filter(
        (each) => (each.type === 'refund' ? 'Refunds' : shown[by](each)) === name,
      )
      expect([by, name, cellsOf((at) => cells[by][at] === place)]).toEqual([
        ...[by, name, onPage(own)],
      ])
    }
  }
  const csv = csvOf(await (await service.ask(`/v1/export?${november}`, token)).text())
  const inUnit = (unit: string) =>
    csv
      .filter((row) => row.unit === unit && row.amount !== '')
      .reduce((all, row) => all + Math.round(Number(row.amount) * 1e6), 0)
  expect(csv.reduce((all, row) => all + Number(row.requests || 0), 0)).toBe(expected.requests)
  expect(new Set(csv.map(({ key }) => key).filter((key) => key !== ''))).toEqual(
    new Set(namesIn(mine, shown.key)),
  )
  for (const tag of namesIn(mine, (each) => each.tag)) {
    const own = mine.filter((each) => each.tag === tag)
    const asked = encodeURIComponent(`${oddTag}:${tag}`)
    const path = `?${november}&tag=${asked}`
    const some = await read<Answers['summary']>(`/v1/usage/summary${path}`)
    expect([tag, some.requests.value]).toEqual([tag, String(figuresOf(own).requests)])
    const exported = csvOf(await (await service.ask(`/v1/export${path}`, token)).text())
    expect(exported.every((row) => Object.values(row).includes(tag))).toBe(true)
    const { requests } = await read<Answers['requests']>(
      `/v1/usage/requests?from=2026-11-01&to=2026-11-30&tag=${asked}`,
    )
    expect(requests.map(({ tags }) => tags)).toEqual(
      own.filter(({ type }) => type === 'usage').map(() => [{ name: oddTag, value: tag }]),
    )
  }
  for (const [unit, text] of Object.entries(expected.amounts)) {
    expect([unit, decimal(inUnit(unit))]).toEqual([unit, text])
  }
  expect(csv.every(({ amount }) => !/\.\d*0$/.test(amount!))).toBe(true)
}

/** The lines of each account. */
export const byAccount = (lines: readonly Line[]) =>
  [...new Set(lines.map(({ account }) => account))].map((account) =>
    lines.filter((each) => each.account === account),
  )

/** Everything that shows the figures of an account says the same. */
export async function expectOneMeaning(
  fill: Parameters<typeof served>[2],
  lines: readonly Line[],
): Promise<void> {
  const service = await served([], settingsOf(), fill)
  try {
    const store = await openExistingStore(service.file)
    try {
      for (const mine of byAccount(lines)) {
        await expectPage((options) => readUsage(store, options), mine)
        await expectSums(store, mine)
      }
    } finally {
      store.close()
    }
    for (const mine of byAccount(lines)) await expectApi(service, mine)
  } finally {
    await service.close()
  }
}

/** These lines as events of a log. */
export const eventsOf = (lines: readonly Line[]) =>
  lines.map(({ micros, tag, ...rest }) => ({
    ...rest,
    tags: tag === null ? null : JSON.stringify(Object.fromEntries([[oddTag, tag]])),
    credits: micros === null ? null : decimal(micros),
    requests: rest.type === 'refund' ? 0 : 1,
  }))

export const threeUnits = ['USD', 'EUR', 'credits']

/** Always the same lines of three units, with refunds in each. */
export const someLines = (): readonly Line[] =>
  fc.sample(fc.array(line(threeUnits), { minLength: 40, maxLength: 40 }), {
    ...{ seed: 31, numRuns: 1 },
  })[0]!
