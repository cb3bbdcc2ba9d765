import { storeEngine, type UsageEngine } from '../../../src/report/usage/engine/engine.ts'
import { prepareUsage } from '../../../src/report/usage/prepare.ts'
import { readSeries, readTotals } from '../../../src/report/usage/totals.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import type { Session } from '../../../src/store/session/session.ts'
import { eachToken, mappedName, type ShownToken } from '../../../src/tokens/kinds.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { added } from './samples.ts'

export type Tokens = Readonly<Record<ShownToken, number | null>>
export interface Sums {
  readonly requests: number | null
  readonly tokens: Tokens | null
  readonly cost: Readonly<
    Record<string, { used: string; adjustments?: Readonly<Record<string, string>>; net: string }>
  > | null
}
export const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Pacific/Auckland',
]

/** OpenMeter's events name what they count, and a user says how. */
export const openmeter = parseMapping(`
source: openmeter
where: { type: prompt }
quantity:
  column: data.tokens
  kind: { column: data.type, values: { system: input } }
fields: { id: [source, id], time: time, model: data.model, account: subject }
`)

export interface Read extends Sums {
  readonly days: Readonly<
    Record<string, Readonly<Record<string, { tokens: Tokens; used: string | null }>>>
  >
  readonly ledger: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** What the usage page says, by day and model. */
export async function readSample(
  store: Session,
  timezone: string,
  sources: readonly string[] = [],
  engine: UsageEngine = storeEngine,
): Promise<Read> {
  const scope = await prepareUsage(
    store,
    usageOptions({ contract: null, timezone, by: 'model', sources }),
    engine,
  )
  const totals = await readTotals(store, engine)
  const days: Record<string, Record<string, { tokens: Tokens; used: string | null }>> = {}
  for (const day of await readSeries(store, 'usage_days', scope.units)) {
    if (
      !day.promptTokens &&
      !day.completionTokens &&
      !day.requests &&
      !Number(day.money[scope.unit])
    ) {
      if (day.requests === 0) continue
    }
    days[day.label] ??= {}
    days[day.label]![String(day.series)] = {
      tokens: eachToken((kind) => day[mappedName(kind)]),
      used: day.money[scope.unit] ?? null,
    }
  }
  const ledger: Record<string, Record<string, string>> = {}
  for (const { type, unit, amount } of totals.ledger) {
    ledger[unit] = { ...ledger[unit], [type]: amount }
  }
  for (const { unit, refunds } of totals.money) {
    if (refunds !== '0') ledger[unit] = { ...ledger[unit], refund: refunds }
  }
  return {
    requests: totals.requests.value,
    tokens: Object.fromEntries(
      Object.entries(totals.tokens).map(([kind, { value }]) => [kind, value]),
    ) as unknown as Tokens,
    cost:
      totals.money.length === 0
        ? null
        : Object.fromEntries(
            totals.money.map(({ unit, used, refunds }) => {
              const without = added([used, refunds.startsWith('-') ? refunds.slice(1) : refunds])!
              const adjustments = ledger[unit]
              return [
                unit,
                {
                  used: without,
                  ...(adjustments === undefined ? {} : { adjustments }),
                  net: added([without, ...Object.values(adjustments ?? {})])!,
                },
              ]
            }),
          ),
    days,
    ledger,
  }
}
