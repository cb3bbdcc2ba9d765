import {
  type ChargedOutcome,
  type LogTerms,
  type LogToken,
  logTokens,
  type ModelPrice,
} from '../../contract/prices.ts'
import type { PriceOf } from '../../price/judge/price-judge.ts'
import { type PricedRequest, type StatedCost, unsent } from '../../price/judge/request.ts'
import { itemsOf, type KnownFormat } from '../../store/import/formats/format.ts'
import { type Fields, first, isTrue, type NormalRow } from '../../store/import/formats/row.ts'
import { knownFormat, plainDocuments } from '../../store/import/recognised-log.ts'
import { eachKind, statedCounts } from '../../tokens/kinds.ts'
import { dialectOf, readUsage, readWholeUsage } from '../../tokens/read-usage.ts'
import { normalUsage, type StatedCounts, type Usage } from '../../tokens/usage.ts'
import { isObject } from '../../user/json.ts'
import { amountOf, atPlace } from '../evidence/prices/answer-json.ts'
import { inContract, isRowOf, type Money, placed, usualPlaces } from '../evidence/prices/log.ts'
import { rowsIn } from '../evidence/prices/log-rows.ts'
import { readTime } from '../evidence/prices/log-time.ts'
import { unreadableText } from '../evidence/prices/unreadable.ts'

/** A row of a log as a request of its own, since no run sent it. */
export interface LoggedRequest {
  /** Its place among the rows, from 1. */
  readonly line: number
  readonly id: string | null
  /** Null without a time. */
  readonly atMs: number | null
  readonly endMs: number | null
  readonly endpoint: string | null
  readonly status: number | null
  readonly payer: string | null
  readonly request: PricedRequest
  /** Null without a cost. */
  readonly statement: StatedCost | null
  /** A cost that is no number, as it is written. */
  readonly unreadable: string | null
  /** Every count and amount, for rows that repeat. */
  readonly content: string
}

interface ReadLog {
  readonly path: string
  readonly terms: LogTerms | null
  /** The price of a model; null if the contract has none. */
  readonly priceOf: PriceOf
  readonly money: Money
}

/**
 * The rows of a log, one after the other: a log that the import knows is read with its own counts, any other by the places of
 * the contract or those of well-known logs. Entries that are no use, such as a refund, are left out.
 */
export function* logLines({ path, ...of }: ReadLog): Generator<LoggedRequest> {
  const format = knownFormat(path)
  const isRow = isRowOf(of.terms)
  let line = 0
  for (const document of plainDocuments(path)) {
    if ('unread' in document) {
      line++
      continue
    }
    const items = format === null ? rowsIn(document, isRow) : itemsOf(format, document)
    for (const item of items) {
      line++
      if (!isObject(item)) continue
      const normal = format === null ? null : onlyRow(format, item)
      if (normal?.type !== undefined && normal.type !== 'usage') continue
      yield lineOf(item, normal, line, of)
    }
  }
}

const momentOf = (written: string | null) => (written === null ? null : readTime(written))

/** A status of HTTP. */
const codeIn = (value: unknown) => (/^[1-5]\d\d$/.test(String(value ?? '')) ? value : undefined)

function onlyRow(format: KnownFormat, item: Fields): NormalRow | null {
  const [row, another] = [...format.rows(item)]
  return another === undefined ? (row ?? null) : null
}

const text = (value: unknown) => (first(value) === undefined ? null : String(value))

function lineOf(
  item: Fields,
  normal: NormalRow | null,
  line: number,
  { terms, priceOf, money }: Omit<ReadLog, 'path'>,
): LoggedRequest {
  const at = (own: string | null | undefined, usual: readonly string[]) => placed(item, own, usual)
  const statedCost = first(at(terms?.cost, usualPlaces.cost), normal?.cost)
  const written = amountOf(text(statedCost) ?? undefined)
  const told = written === null ? null : inContract(written, item, terms, money)
  const amount = told !== null && 'amount' in told ? told.amount : null
  const hasPrice = (name: string) => priceOf(name) !== null
  const names = [terms?.model, ...usualPlaces.model]
    .flatMap((place) => (place == null ? [] : (text(atPlace(item, place)) ?? [])))
    .concat(text(normal?.model) ?? [])
  const model = names.find(hasPrice) ?? names[0] ?? ''
  const returned = names.find((name) => name !== model && hasPrice(name)) ?? null
  const id = text(first(at(terms?.id, usualPlaces.id), normal?.id))
  const start = momentOf(text(first(at(terms?.at, usualPlaces.at), normal?.time)))
  const end = momentOf(text(first(item.endTime, item.end_time, normal?.ended)))
  const atMs = start?.atMs ?? null
  // Of two times in different zones, nobody knows which is first.
  const endMs = end === null || end.isZoneOpen !== start?.isZoneOpen ? null : end.atMs
  const kept = keptUsage(item)
  const usage = withRow(usageOf(item, normal, terms, kept), item, kept, priceOf(model))
  const status = Number(
    first(normal?.status, item.status_code, item.http_status, codeIn(item.status)) ?? Number.NaN,
  )
  const tier = text(
    first(
      item.service_tier,
      normal?.service_tier,
      kept?.service_tier,
      atPlace(item, 'metadata.service_tier'),
    ),
  )
  const payer = text(placed(item, undefined, usualPlaces.payer))
  return {
    line,
    id,
    atMs,
    endMs,
    endpoint: text(first(normal?.endpoint, item.endpoint, item.call_type)),
    status: Number.isInteger(status) ? status : null,
    payer,
    unreadable:
      told !== null && 'unreadable' in told ? told.unreadable : unreadableText(text(statedCost)),
    content: JSON.stringify([id, model, payer, usage?.parts, usage?.calls, amount?.text]),
    statement: amount === null ? null : { place: 'log', ...amount },
    request: {
      ...unsent,
      slot: line,
      requestedModel: model,
      // A row is of the model that it names.
      returnedModel: returned ?? model,
      isStream: isTrue(first(item.stream, item.is_stream, item.streamed)),
      outcomes: outcomesOf(item, normal, status),
      startMs: atMs ?? 0,
      headMs: endMs ?? atMs ?? 0,
      endMs: endMs ?? atMs ?? 0,
      serviceTier: tier,
      isTierRead: tier !== null,
      usage,
      mayCall: true,
      areCallsRead: kept !== null,
      prompt: `line ${line}`,
      account: payer ?? '',
      key: payer ?? '',
      responseId: id,
      isSurelyAgain: true,
      askedMs: atMs ?? 0,
    },
  }
}

/** How a logged request may have ended. A cache of the gateway is one that the row names. */
function outcomesOf(
  item: Fields,
  normal: NormalRow | null,
  status: number,
): readonly ChargedOutcome[] {
  const word = String(first(normal?.outcome, item.outcome, item.status) ?? '').toLowerCase()
  if (isTrue(item.cache_hit) || /^(hit)$/i.test(String(item.cache_status ?? '')))
    return ['gateway_cache', 'success']
  const [, outcome] = endings.find(([says]) => says.test(word)) ?? []
  if (outcome !== undefined) return [outcome]
  if (status >= 400 || (normal?.outcome === undefined && saysError(item.error))) return ['refused']
  const isKnown = succeeded.test(word) || status < 400
  return isKnown ? ['success'] : ['success', 'refused']
}

/** What words of rows say of the end of a request. */
const endings: readonly (readonly [says: RegExp, outcome: ChargedOutcome])[] = [
  [/^abort|cancel+ed|disconnect/, 'abort'],
  [/^broken|time.?out|timed.?out/, 'broken'],
  [/^filtered/, 'filtered'],
  [/fail|error|refus|denied|reject|limit|^false$/, 'refused'],
]
const succeeded = /^(?:ok|true|success.*|succeeded|completed?|finished|done|stop|end_turn|length)?$/

const saysError = (error: unknown) =>
  (isObject(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== '')

/** Places of counts whose names in a contract differ from those of stated counts. */
const countNames: Readonly<Record<LogToken, keyof StatedCounts>> = {
  prompt: 'input',
  completion: 'output',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  reasoning: 'reasoning',
}

function usageOf(
  item: Fields,
  normal: NormalRow | null,
  terms: LogTerms | null,
  kept: Fields | null,
): Usage | null {
  const named = logTokens.flatMap((name) => {
    const place = terms?.tokens[name]
    const count =
      place === undefined ? Number.NaN : Number(text(atPlace(item, place)) ?? Number.NaN)
    return Number.isSafeInteger(count) ? [[countNames[name], count] as const] : []
  })
  const form = { input: 'all', output: 'all' } as const
  if (named.length > 0) {
    const { cacheWrite, ...counts }: StatedCounts = Object.fromEntries(named)
    // Beside writes for an hour, the contract's `cache_write` are those for five minutes.
    const isByLife = counts.cacheWrite1h !== undefined
    return normalUsage(
      cacheWrite === undefined
        ? counts
        : { ...counts, [isByLife ? 'cacheWrite5m' : 'cacheWrite']: cacheWrite },
      form,
    )
  }
  if (normal !== null) {
    const counts = eachKind((name) => normal[name] ?? null)
    return (counts.input ?? counts.output) === null ? null : normalUsage(statedCounts(counts), form)
  }
  const usage = kept === null ? readUsage(item, 'litellm-log') : readUsage(kept, dialectOf(kept))
  return usage.parts.input_uncached === null && usage.parts.output_visible === null ? null : usage
}

/** The usage of the answer, where a row keeps it whole: LiteLLM does in its metadata. */
function keptUsage(item: Fields): Fields | null {
  const places = ['usage', 'response.usage', 'metadata.usage_object']
  return places.map((place) => atPlace(item, place)).find(isObject) ?? null
}

/** Columns that choose a price, whatever the contract says. */
const namingColumns = ['speed', 'inference_geo', 'is_byok']

/**
 * A usage with what else the row says that a price may depend on: names, calls and passes of the usage that it keeps, and columns
 * of its own. What a row does not say is not known.
 */
function withRow(
  usage: Usage | null,
  item: Fields,
  kept: Fields | null,
  price: ModelPrice | null,
): Usage | null {
  if (usage === null) return null
  const whole = kept === null ? null : readWholeUsage(kept, dialectOf(kept))
  const selecting = Object.keys(price?.by ?? {})
  const columns = [...new Set([...namingColumns, ...selecting])].flatMap((name) => {
    const value = first(atPlace(item, name))
    return value === undefined || typeof value === 'object' ? [] : [[name, String(value)] as const]
  })
  const named = { ...whole?.named, ...Object.fromEntries(columns) }
  // Where no usage was kept, a name without a column may have had any value.
  const isKnown =
    whole !== null || (columns.length > 0 && selecting.every((name) => Object.hasOwn(named, name)))
  return {
    ...usage,
    calls: { ...callsOf(item), ...whole?.calls, ...usage.calls },
    named: isKnown ? named : usage.named,
    passes: whole?.passes ?? usage.passes,
    unread: whole?.unread ?? usage.unread,
  }
}

/** Calls that rows of OpenRouter and new-api count in columns. */
function callsOf(item: Fields): Usage['calls'] {
  if (item.num_search_results !== undefined) return readUsage(item, 'openrouter-log').calls
  return item.other === undefined ? {} : readUsage(item, 'new-api-log').calls
}
