import { lookup } from '../../../user/lookup.ts'
import { chargeTokens, type TokenKind } from './charge-tokens.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, nextDay } from './row.ts'

const counts: Readonly<Record<string, 'requests' | 'input' | 'output'>> = lookup({
  AzureOpenAIRequests: 'requests',
  ModelRequests: 'requests',
  ProcessedPromptTokens: 'input',
  InputTokens: 'input',
  GeneratedTokens: 'output',
  OutputTokens: 'output',
})

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
  fields: 'cost timespan interval namespace resourceregion value',
  needed: ['interval', 'value'],
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

/**
 * Azure's export of costs: a charge for each meter and day. The model and the kind of token are in the meter's name.
 * Names of columns: learn.microsoft.com/azure/cost-management-billing/dataset-schema/cost-usage-details-mca
 */
export const azureCosts: KnownFormat = {
  name: 'Azure costs',
  source: 'azure',
  recognises: (has) =>
    (has('meterName') && has('costInBillingCurrency')) ||
    (has('MeterName') && has('CostInBillingCurrency')),
  amountColumns: (name) =>
    /cost|quantity|price|^exchangeRate|^(previous)?invoiceId$/i.test(name) &&
    !/^costCenter$/i.test(name),
  fields: 'date meterName costInBillingCurrency billingCurrency quantity unitOfMeasure chargeType',
  needed: ['date', 'meterName', 'costInBillingCurrency'],
  items: (document) => [uncapitalised(document)],
  *rows(row) {
    const date = isoDay(String(row.date ?? ''))
    const meter = String(row.meterName ?? '')
    const { model, kind } = meterOf(meter)
    const other = otherService(row, meter)
    yield {
      time: date,
      end: nextDay(date),
      type: chargeType(row),
      account: first(row.subscriptionName, row.subscriptionId, row.resourceGroupName),
      model,
      cost: row.costInBillingCurrency,
      unit: String(first(row.billingCurrency, row.billingCurrencyCode) ?? ''),
      ...(other === null ? {} : { otherService: other }),
      ...(kind === null ? {} : chargeTokens(row.quantity, row.unitOfMeasure, kind)),
    }
  },
}

/**
 * A word that ends the name of a model in a meter: the kind of token. Newer meters write `-`, others a space; batches have a word of
 * theirs before it, with a space or without one.
 */
const kindWord =
  /^(.+?)[\s_-]+(?:batch[\s_-]*)?(?:cached|cchd|cd|cache|inpt?|input|prompt|outp?t?|output|opt|completion|generated)(?![a-z])/i
const region =
  /[\s_-]+(?:(?:glbl|global|gl|regnl|regional|dzone|dz|data zone|1[km])[\s_-]+)*tokens?$/i

/** The model and the kind of token that a meter of Azure names: `gpt-4o-0806-Inp-glbl Tokens`, `GPT 5 cchd inpt Glbl 1M Tokens`. */
export function meterOf(meter: string): {
  readonly model: string | null
  readonly kind: TokenKind | null
} {
  const isEmbedding = /embed/i.test(meter)
  const isOfTokens = isEmbedding || /tok/i.test(meter)
  const [, before] = kindWord.exec(meter) ?? []
  if (before !== undefined) return { model: before, kind: isOfTokens ? tokenKind(meter) : null }
  return isOfTokens
    ? { model: meter.replace(region, ''), kind: isEmbedding ? 'input' : null }
    : { model: null, kind: null }
}

function tokenKind(meter: string): TokenKind {
  const has = (words: string) =>
    new RegExp(`(?:(?<![a-z])|(?<=batch))(?:${words})(?![a-z])`, 'i').test(meter)
  if (has('outp?t?|output|opt|completion|generated')) return 'output'
  if (!has('cached|cchd|cd|cache')) return 'input'
  return has('write|creation') ? 'cacheWrite' : 'cached'
}

/** The service of a line, if nothing of what it says is of models. A line that names no service is not known to be another's. */
function otherService(row: Fields, meter: string): string | null {
  const said = [row.meterCategory, row.consumedService, row.serviceFamily].map((value) =>
    String(value ?? '').trim(),
  )
  const isOfModels =
    said.every((name) => name === '') ||
    said.some((name) => modelServices.test(name)) ||
    (/tok/i.test(meter) && meterOf(meter).model !== null)
  return isOfModels ? null : said.find((name) => name !== '')!
}

const modelServices =
  /openai|foundry|cognitive ?services|machine ?learning|\bAI\b|applied ?ai|azure ?ai/i

/** A line of use that names the invoice it corrects gives money back: Azure documents `previousInvoiceId` for refunds. */
function chargeType(row: Fields): string {
  const type = chargeTypes[String(row.chargeType ?? 'usage').toLowerCase()] ?? 'adjustment'
  const isBack =
    first(row.previousInvoiceId) !== undefined &&
    String(row.costInBillingCurrency).trim().startsWith('-')
  return type === 'usage' && isBack ? 'refund' : type
}

const chargeTypes: Readonly<Record<string, string>> = lookup({
  usage: 'usage',
  refund: 'refund',
  purchase: 'purchase',
  tax: 'tax',
  roundingadjustment: 'adjustment',
})

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
