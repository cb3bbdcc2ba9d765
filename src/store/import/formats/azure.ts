import { decimalText, multiply, rational, readNumber } from '../../../money/rational.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, nextDay } from './row.ts'

const counts: Readonly<Record<string, 'requests' | 'input' | 'output'>> = {
  AzureOpenAIRequests: 'requests',
  ModelRequests: 'requests',
  ProcessedPromptTokens: 'input',
  InputTokens: 'input',
  GeneratedTokens: 'output',
  OutputTokens: 'output',
}

/** The seconds of an ISO 8601 duration such as `PT1H` or `P1D`. */
export function durationS(text: string): number | null {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text)
  if (match === null) return null
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0))
  const total = days! * 86_400 + hours! * 3600 + minutes! * 60 + seconds!
  return total > 0 ? total : null
}

/** Metrics of Azure OpenAI: one list of points for each metric and deployment. A point without a total is not measured. */
export const azureMetrics: KnownFormat = {
  name: 'Azure metrics',
  source: 'azure',
  recognises: (has, text) =>
    has('namespace') && /"Microsoft\.CognitiveServices\/accounts"/i.test(text) && has('timespan'),
  dimensions: ['others'],
  fields: ['cost', 'timespan', 'interval', 'namespace', 'resourceregion', 'value'],
  needed: ['interval', 'value'],
  items: (document) => [document],
  rows(document) {
    const widthS = durationS(String(document.interval ?? ''))
    const metrics = listOf(document.value).flatMap((metric) => {
      const metricName = String(first(at(metric.name, 'value'), metric.name))
      const count = counts[metricName]
      return count === undefined ? [] : [{ metricName, count, series: seriesOf(metric) }]
    })
    // Requests by status have tokens beside them that are not: only what all metrics are split by sets rows apart.
    const shared = (name: string) =>
      metrics.every(({ series }) => series.length === 0 || series.some(({ by }) => by.has(name)))
    const rows = new Map<string, Record<string, unknown>>()
    const counted = new Map<string, string>()
    for (const { metricName, count, series } of metrics) {
      for (const { by, points } of series) {
        const model = first(by.get('modeldeploymentname'), by.get('modelname'))
        const others = [...by]
          .filter(([name, value]) => value !== model && shared(name))
          .map((pair) => pair.join('='))
          .sort()
          .join(',')
        for (const point of points) {
          const total = first(point.total)
          if (total === undefined) continue
          const time = String(point.timeStamp)
          const key = JSON.stringify([time, model, others])
          const row = rows.get(key) ?? { time, end: endOf(time, widthS), model, others }
          // Two metrics that count the same are not added up.
          const of = JSON.stringify([key, count])
          if ((counted.get(of) ?? metricName) === metricName) {
            row[count] = Number(row[count] ?? 0) + Number(total)
          }
          counted.set(of, counted.get(of) ?? metricName)
          rows.set(key, row)
        }
      }
    }
    return rows.values() as Iterable<NormalRow>
  },
}

function seriesOf(metric: Fields) {
  return listOf(metric.timeseries).map((series) => ({
    by: new Map(
      listOf(series.metadatavalues).map(
        (each) => [String(at(each.name, 'value')).toLowerCase(), each.value] as const,
      ),
    ),
    points: listOf(series.data),
  }))
}

function endOf(time: string, widthS: number | null): string {
  const ms = Date.parse(time)
  return Number.isNaN(ms) || widthS === null ? time : new Date(ms + widthS * 1000).toISOString()
}

const thousands: Readonly<Record<string, bigint>> = { '1K': 1000n, '1M': 1_000_000n, '1': 1n }

/** Azure's export of costs: a row for each meter and day. The kind of token is in the meter's name. */
export const azureCosts: KnownFormat = {
  name: 'Azure costs',
  source: 'azure',
  recognises: (has) =>
    (has('meterName') && has('costInBillingCurrency')) ||
    (has('MeterName') && has('CostInBillingCurrency')),
  dimensions: ['meterName', 'resourceId', 'chargeType'],
  fields: [
    'date',
    'meterName',
    'costInBillingCurrency',
    'billingCurrency',
    'quantity',
    'unitOfMeasure',
    'chargeType',
  ],
  needed: ['date', 'meterName', 'costInBillingCurrency'],
  items: (document) => [uncapitalised(document)],
  *rows(document) {
    const row = uncapitalised(document)
    const date = isoDay(String(row.date ?? ''))
    const meter = String(row.meterName ?? '')
    yield {
      time: date,
      end: nextDay(date),
      account: first(row.subscriptionName, row.subscriptionId, row.resourceGroupName),
      meterName: meter,
      resourceId: row.resourceId,
      chargeType: row.chargeType,
      cost: row.costInBillingCurrency,
      unit: String(first(row.billingCurrency, row.billingCurrencyCode) ?? ''),
      ...meterTokens(meter, row),
    }
  },
}

/** Exports of some kinds of account write the names of their columns with a capital. */
const uncapitalised = (row: Fields): Fields =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      `${name[0]?.toLowerCase()}${name.slice(1)}`,
      value,
    ]),
  )

/** `11/03/2026` is the third of November in every such export. */
function isoDay(date: string): string {
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})/.exec(date) ?? []
  return year === undefined ? date : `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
}

function meterTokens(meter: string, row: Fields): Partial<NormalRow> {
  const [, per] = /^(1[KM]?)\b/i.exec(String(row.unitOfMeasure ?? '')) ?? []
  const quantity = readNumber(String(row.quantity ?? ''))
  if (!/tok/i.test(meter) || per === undefined || quantity === null) return {}
  const text = decimalText(multiply(quantity, rational(thousands[per.toUpperCase()]!)))
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0) return {}
  if (/cach|cchd/i.test(meter)) return { input: count, cached: count }
  if (/\b(inp|input|in)/i.test(meter)) return { input: count }
  return /\b(outp|output|out|opt)/i.test(meter) ? { output: count } : {}
}
