import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeEngine, type UsageEngine } from '../../../src/report/usage/engine/engine.ts'
import { prepareUsage } from '../../../src/report/usage/prepare.ts'
import type { UsageOptions, UsagePage } from '../../../src/report/usage/shape.ts'
import { readSeries, readTotals } from '../../../src/report/usage/totals.ts'
import type { FileImported } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import type { Session } from '../../../src/store/session/session.ts'
import { eachToken, type ShownToken } from '../../../src/tokens/kinds.ts'

/**
 * Files of real formats with invented numbers, and the value of each of their figures (`expected.json`). Those of the
 * first folder are read in several zones, those of the second are further shapes of the same formats.
 */
const [folder, moreFolder] = ['usage-samples', 'usage-samples/more'].map((name) =>
  join(import.meta.dirname, name),
) as [string, string]

type Tokens = Readonly<Record<ShownToken, number | null>>

export interface Expected {
  readonly kind: string
  readonly requests: number | null
  readonly tokens: Tokens
  readonly cost: Readonly<Record<string, string>>
  readonly days: Readonly<Record<string, readonly [number | null, string | null]>>
  /** The zone of the days. */
  readonly daysIn: string
  readonly unknown: { readonly tokens: number; readonly cost: number }
}

interface Stated {
  readonly refused?: boolean
  readonly kind: string
  readonly requests: number | null
  readonly tokens: Tokens | null
  readonly cost: Readonly<Record<string, string>> | null
  readonly days: Readonly<
    Record<string, { readonly requests: number | null; readonly cost: string | null }>
  >
  readonly daysIn?: string
  readonly unknown?: { readonly tokens?: number; readonly cost?: number }
}

/** A kind that a sample does not name is unknown. */
const unknownTokens = eachToken(() => null)

const spreadsheet = parseMapping(
  'fields: { id: id, time: { column: time, timezone: Europe/Berlin }, credits: credits }',
  'map.yaml',
)

export interface Sample {
  readonly name: string
  readonly imports: readonly FileImport[]
  readonly expected: Expected
}

const statedIn = (from: string) =>
  Object.entries(
    JSON.parse(readFileSync(join(from, 'expected.json'), 'utf8')) as Record<string, Stated>,
  )
const stated = statedIn(folder)

const samplesIn = (from: string): readonly Sample[] =>
  statedIn(from)
    .filter(([, { refused }]) => refused !== true)
    .map(([name, { kind, requests, tokens, cost, days, daysIn = 'UTC', unknown = {} }]) => ({
      name,
      imports: name.split(' + ').map((file) => ({
        file: join(from, file),
        ...(file === 'spreadsheet-de.csv' ? { mapping: spreadsheet } : {}),
      })),
      expected: {
        ...{ kind, requests, daysIn, tokens: { ...unknownTokens, ...tokens }, cost: cost ?? {} },
        days: Object.fromEntries(
          Object.entries(days).map(([day, sums]) => [day, [sums.requests, sums.cost] as const]),
        ),
        unknown: { tokens: unknown.tokens ?? 0, cost: unknown.cost ?? 0 },
      },
    }))

/** The samples that can be imported. */
export const samples = samplesIn(folder)
export const moreSamples = samplesIn(moreFolder)

/** The samples that are refused. */
export const refused = stated
  .filter(([, each]) => each.refused === true)
  .map(([name]) => join(folder, name))

const others = ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland'] as const

/** The zones in which a sample is read: UTC, that of its days and, by day, one other, which another sample does not have. */
export function zonesOf(sample: Sample): readonly string[] {
  const nth = samples.indexOf(sample) % others.length
  const some = process.env.NIGHTLY === undefined ? [others[nth]!] : others
  return [...new Set(['UTC', sample.expected.daysIn, ...some])]
}

type Fields = Readonly<Record<string, unknown>>
type Days = Expected['days']

/** How an event of each sample is found: its time, its cost if it has one, and which objects are requests. */
const events: Readonly<
  Record<string, { time: string; cost?: string; is?: (row: Fields) => boolean }>
> = {
  'litellm-spendlogs.csv': { time: 'startTime', cost: 'spend' },
  'litellm-spendlogs.json': { time: 'startTime', cost: 'spend' },
  'openrouter-activity.csv': { time: 'created_at', cost: 'cost_total' },
  'langfuse-observations.jsonl': {
    ...{ time: 'start_time', cost: 'total_cost' },
    is: ({ type }) => type === 'GENERATION' || type === 'EMBEDDING',
  },
  'helicone-requests.jsonl': { time: 'request_created_at', cost: 'costUSD' },
  'bedrock-invocations.jsonl': { time: 'timestamp' },
  'cloudflare-ai-gateway.json': { time: 'created_at', cost: 'cost' },
}

/**
 * Requests and cost by day of a zone, read from the file without the importer; null for sums over a day, whose days are
 * those of UTC in each zone, and for samples with further rules.
 */
export function daysOf({ name, imports }: Sample, timezone: string): Days | null {
  const how = events[name]
  if (how === undefined) return null
  const text = readFileSync(imports[0]!.file, 'utf8')
  const { time, cost, is = () => true } = how
  const rows = (name.endsWith('.csv') ? csvRows(text) : jsonObjects(text)).filter(
    (row) => row[time] !== undefined && is(row),
  )
  const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: timezone })
  const days: Record<string, [number, string | null]> = {}
  for (const row of rows) {
    const at = String(row[time])
      .replace(' ', 'T')
      .replace(/(?<!Z)$/, 'Z')
    const day = dayIn.format(new Date(at))
    const [n, sum] = days[day] ?? [0, null]
    // A sum is that of the known costs.
    const amount = cost === undefined ? null : String(Number(row[cost] ?? 0))
    days[day] = [n + 1, added([sum, amount])]
  }
  return days
}

/** The sums of the page, without its outlook. */
export async function sumsOf(
  store: Session,
  options: UsageOptions,
  engine: UsageEngine = storeEngine,
): Promise<Pick<UsagePage, 'scope' | 'totals' | 'days'>> {
  const scope = await prepareUsage(store, options, engine)
  const totals = await readTotals(store, engine)
  return { scope, totals, days: await readSeries(store, 'usage_days', scope.units) }
}

/** What a page says of a sample, in the words of `expected.json`. */
export function saidOf(
  page: Pick<UsagePage, 'scope' | 'totals' | 'days'>,
): Omit<Expected, 'kind' | 'daysIn'> {
  const { requests, tokens, money, unknownCost } = page.totals
  const amountOf = (sums: Readonly<Record<string, string>>) => sums[page.scope.unit] ?? null
  const used = page.days.filter(
    (day) => day.requests !== 0 || Number(amountOf(day.money)) !== 0 || day.promptTokens !== 0,
  )
  const labels = [...new Set(used.map(({ label }) => label))]
  return {
    requests: requests.value,
    tokens: Object.fromEntries(
      Object.entries(tokens).map(([kind, { value }]) => [kind, value]),
    ) as Tokens,
    cost: Object.fromEntries(money.map((each) => [each.unit, each.used])),
    days: Object.fromEntries(
      labels.map((label) => {
        const series = used.filter((day) => day.label === label)
        return [
          label,
          [
            sumOf(series.map((day) => day.requests)),
            added(series.map((day) => amountOf(day.money))),
          ],
        ]
      }),
    ),
    unknown: {
      tokens: tokens.input.value === null ? 0 : tokens.input.unknown,
      cost: money.length === 0 ? 0 : unknownCost,
    },
  }
}

const sumOf = (values: readonly (number | null)[]) =>
  values.every((value) => value === null)
    ? null
    : values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

const scale = 10n ** 18n

/** The exact sum of decimals, by whole numbers. */
export function added(values: readonly (string | null)[]): string | null {
  if (values.every((value) => value === null)) return null
  const sum = values.reduce((all, value) => all + unitsOf(value ?? '0'), 0n)
  const [whole, part] = [sum / scale, sum % scale]
  const sign = sum < 0n ? '-' : ''
  const digits = String(part < 0n ? -part : part)
    .padStart(18, '0')
    .replace(/0+$/, '')
  return `${sign}${whole < 0n ? -whole : whole}${digits === '' ? '' : `.${digits}`}`
}

function unitsOf(decimal: string): bigint {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal)!
  const value = BigInt(whole!) * scale + BigInt(part.padEnd(18, '0'))
  return sign === '-' ? -value : value
}

const widths: Readonly<Record<number, string>> = {
  60: '1 minute',
  300: '5 minutes',
  3600: '1 hour',
  86400: '1 day',
}

export function widthOf(imported: FileImported): string | null {
  if (imported.kind !== 'log' || imported.summary === null) return null
  const { kind, widthsS } = imported.summary
  return kind === 'buckets' ? widthsS.map((s) => `buckets of ${widths[s]}`).join() : kind
}

/** Every object in a JSON text, or in its lines. */
function jsonObjects(text: string): readonly Fields[] {
  const objects: Fields[] = []
  const values = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (typeof value !== 'object' || value === null) continue
    objects.push(value)
    values.push(...Object.values(value).filter((each) => each !== undefined))
  }
  return objects
}

function csvRows(text: string): readonly Fields[] {
  const [names, ...rows] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!))
  return rows.map((cells) => Object.fromEntries(names!.map((name, at) => [name, cells[at]])))
}
