import { isFilterReason } from '../../../attempt/filter-reasons.ts'
import type { Outcome } from '../../../attempt/outcome.ts'
import { modelPriceOf } from '../../../contract/model-price.ts'
import { pricesOutput } from '../../../contract/price-entry.ts'
import type {
  ChargedOutcome,
  ModelPrice,
  PriceTerms,
  StatedPlace,
} from '../../../contract/prices.ts'
import { generates } from '../../../contract/request.ts'
import { multiply } from '../../../money/rational.ts'
import {
  type CountedAnswer,
  severalPassesSql,
  tokenColumnsSql,
  usageOfColumns,
} from '../../../price/attempts/column-usage.ts'
import type { PricedRequest, StatedCost } from '../../../price/judge/request.ts'
import { readPackedBodies } from '../../../store/attempts/packed-bodies.ts'
import { passesField } from '../../../tokens/read-usage.ts'
import { outputOf, outputParts, promptOf, type Usage } from '../../../tokens/usage.ts'
import { jsonOf } from '../../../user/json-text.ts'
import type { Evidence } from '../../rule.ts'
import { idempotencyKeySql } from '../billing/load.ts'
import { decodeEvents } from '../events.ts'
import { oncePerEvidence } from '../once.ts'
import {
  type Amount,
  amountOf,
  answerDigest,
  answerUsage,
  atPlace,
  hasEnd,
  parseWritten,
  textBytes,
  textDocuments,
} from './answer-json.ts'
import { withReplays } from './replays.ts'
import { shownCalls, withAmounts, withTotal } from './shown-amounts.ts'
import { type UnreadableCost, unreadableText } from './unreadable.ts'

interface Row extends CountedAnswer {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly endpoint: string
  readonly path: string | null
  readonly method: string | null
  readonly streamed: number
  readonly model: string | null
  readonly responseModel: string | null
  readonly responseId: string | null
  readonly outcome: Outcome
  readonly finishReason: string | null
  readonly contentEvents: number
  readonly doneMarks: number
  readonly startMs: number
  readonly endMs: number
  readonly account: string
  readonly key: string
  readonly once: string | null
  readonly requestBody: string | null
  readonly prompt: string | null
  readonly responseHeaders: string | null
  readonly responseBody: string | null
  readonly truncated: boolean | null
  readonly packedAt: number | null
}

/** An answer of an endpoint that shows money, such as a balance, a spend or a log. */
export interface MoneyPage {
  readonly path: string
  readonly account: string
  /** The value was read between these, on the service's clock. */
  readonly fromMs: number
  readonly untilMs: number
  readonly body: unknown
  readonly request: PricedRequest
}

export interface PriceRequests {
  readonly requests: readonly PricedRequest[]
  /** Reads of the service's own pages. */
  readonly pages: readonly MoneyPage[]
  /** Requests whose answer was not stored whole, so that its cost cannot be read. */
  readonly uncaptured: number
  /** Costs in answers that are no number. */
  readonly unreadable: readonly UnreadableCost[]
  /** Refusals with their text, which may name a counter. */
  readonly refusals: readonly { readonly request: PricedRequest; readonly text: string }[]
}

/** Most requests whose answers are read. */
const mostRequests = 200_000

/** The requests of the audited runs with what their answers show of money. */
export const priceRequests = oncePerEvidence(load)

async function load({ store, runIds, contract }: Evidence): Promise<PriceRequests> {
  const prices = contract.prices
  if (prices === undefined)
    return { requests: [], pages: [], uncaptured: 0, unreadable: [], refusals: [] }
  const rows = await store.rows<Row>(
    `SELECT run_id AS "runId", slot::DOUBLE AS slot, retry, endpoint, path, method, streamed, model,
       response_model AS "responseModel", response_id AS "responseId", outcome,
       finish_reason AS "finishReason", content_events AS "contentEvents", done_marks AS "doneMarks",
       epoch_us(started_at) / 1000 + sent_us * time_scale / 1000 AS "startMs",
       epoch_us(started_at) / 1000 + coalesce(closed_us, headers_us, sent_us) * time_scale / 1000 AS "endMs",
       coalesce(account, key_fp, '') AS account, coalesce(key_fp, '') AS key,
       ${tokenColumnsSql}, ${severalPassesSql} AS "severalPasses",
       nullif(${idempotencyKeySql('templates.headers')}, '') AS once,
       templates.body AS "requestBody", md5(coalesce(templates.body, path)) AS prompt,
       bodies.headers AS "responseHeaders", bodies.body AS "responseBody", truncated,
       packed_at AS "packedAt"
     FROM attempts JOIN runs USING (run_id)
       LEFT JOIN bodies USING (run_id, slot, retry)
       LEFT JOIN templates USING (run_id, template)
     WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL
     ORDER BY started_at, sent_us, slot, retry LIMIT ${mostRequests + 1}`,
    [JSON.stringify(runIds)],
  )
  // With a part of them, the rest would look like charges without a request.
  if (rows.length > mostRequests)
    throw new Error(
      `prices are judged over at most ${mostRequests} requests at once; name fewer runs`,
    )
  const packed = readPackedBodies(
    store.path,
    rows.map(({ packedAt }) => packedAt),
  )
  const requests: PricedRequest[] = []
  const pages: MoneyPage[] = []
  const refusals: { request: PricedRequest; text: string }[] = []
  const unreadable: UnreadableCost[] = []
  let uncaptured = 0
  for (const [at, stored] of rows.entries()) {
    const row = { ...stored, responseBody: stored.responseBody ?? packed[at]! }
    const body = row.truncated === false ? row.responseBody : null
    if (row.model === null && !isPaidPerhaps(row)) {
      const request = requestOf(row, [], contract, prices)
      if (body !== null && row.path !== null)
        pages.push({
          path: row.path,
          account: row.account,
          fromMs: row.startMs,
          untilMs: row.endMs,
          body: parseWritten(body),
          request,
        })
      continue
    }
    if (body === null) uncaptured++
    const texts = body === null ? [] : documentsOf(body)
    const request = requestOf(row, texts, contract, prices)
    requests.push(request)
    if (row.outcome === 'ok')
      for (const each of unreadableIn(request, texts, headersOf(row.responseHeaders), prices))
        unreadable.push(each)
    if (row.outcome === 'http_error' && body !== null) refusals.push({ request, text: body })
  }
  return { requests: withReplays(requests), pages, uncaptured, unreadable, refusals }
}

/**
 * Whether a request that names no model may cost something: it asked the service to do something, and was not refused. Its price
 * is that of its path, if the contract has one, and else unknown.
 */
function isPaidPerhaps({ method, outcome }: Row): boolean {
  return method !== null && method !== 'GET' && method !== 'HEAD' && outcome !== 'http_error'
}

/**
 * The JSON documents of a body: itself, its lines, the elements of its list, as Gemini streams without events, or the data of its
 * events.
 */
function documentsOf(body: string): readonly string[] {
  const start = body.trimStart()[0]
  if (start !== '{' && start !== '[') return decodeEvents(body).events.map(({ data }) => data)
  const whole = jsonOf(body)
  if (Array.isArray(whole)) return whole.map((each) => JSON.stringify(each))
  if (whole !== undefined) return [body]
  return body.split('\n').filter((line) => jsonOf(line) !== undefined)
}

function requestOf(
  row: Row,
  texts: readonly string[],
  contract: Evidence['contract'],
  prices: PriceTerms,
): PricedRequest {
  const named = row.model ?? row.path ?? ''
  const model = modelPriceOf(contract, named)
  const documents = texts.map((text) => jsonOf(text)).filter((json) => json !== undefined)
  const { usage, isFinal, each, serviceTier } = answerUsage(
    documents,
    model?.dialect ?? null,
    row.endpoint,
  )
  const headers = headersOf(row.responseHeaders)
  const stated = withTotal(usage, documents, model) ?? usageOfColumns(row, model?.dialect ?? null)
  const counted = withAmounts(stated, {
    price: model?.price ?? {},
    asked: row.requestBody,
    documents,
  })
  const isLeft = row.outcome !== 'ok' && row.doneMarks === 0 && !isFinal
  const endsAnyway = isLeft && hasEnd(texts, documents)
  const told = counted === null || !isLeft ? counted : withoutOutput(counted)
  const known = told === null ? null : withoutMedia(told, row.requestBody, texts)
  const tier = serviceTier ?? tierOfHeaders(headers)
  return {
    runId: row.runId,
    slot: row.slot,
    retry: row.retry,
    requestedModel: named,
    returnedModel: row.responseModel,
    isStream: row.streamed === 1,
    outcomes: outcomesOf(row, known, isFinal || endsAnyway, headers, model),
    startMs: row.startMs,
    endMs: row.endMs,
    serviceTier: tier ?? requestedTier(row.requestBody),
    // A stream may name its tier at its end.
    isTierRead: documents.length > 0 && (tier !== null || !isLeft),
    usage: known,
    eventUsages: each,
    // The client counts no events after it has left; those that came in the same read are in the body.
    receivedEvents: Math.max(row.contentEvents, textDocuments(documents)),
    receivedBytes: documents.length === 0 ? null : textBytes(documents),
    askedBytes: askedBytes(row.requestBody),
    ...allowed(row.requestBody),
    areCallsRead: documents.length > 0 && !isLeft,
    shownCalls: shownCalls(documents, row.requestBody),
    prompt: promptKey(row),
    body: row.requestBody === null ? null : `${row.path} ${row.prompt}`,
    answer: answerDigest(documents),
    isFreeRepeat: false,
    isRepeat: false,
    isSurelyAgain: isCacheHit(headers),
    once: row.once,
    askedMs: row.startMs,
    account: row.account,
    key: row.key,
    responseId: row.responseId,
    hasHead: row.responseHeaders !== null,
    header: (name) => headers.get(name),
    stated: prices.evidence.cost.flatMap((place) => statedAt(place, texts, headers)),
  }
}

/** No more tokens than bytes; a picture or a sound has more tokens than its name has bytes. */
function askedBytes(body: string | null): number | null {
  return body === null || media.some(({ shows }) => shows.test(body))
    ? null
    : Buffer.byteLength(body)
}

/** Parts that only exist if a request, or its answer, has such content. */
const media = [
  {
    shows: /"(?:input_audio|audio|modalities|audio_url)"|"audio\//,
    parts: ['input_audio', 'cache_read_audio', 'output_audio'],
  },
  {
    shows:
      /"(?:image|images|image_url|input_image|image_config|modalities|inline_?data|b64_json)"/i,
    parts: ['input_image', 'output_image'],
  },
] as const

/** Audio and images that are not reported are none if neither the request nor its answer has any. */
function withoutMedia(usage: Usage, requestBody: string | null, texts: readonly string[]): Usage {
  if (requestBody === null || texts.length === 0) return usage
  const absent = media.filter(
    ({ shows }) => !shows.test(requestBody) && !texts.some((text) => shows.test(text)),
  )
  const none = absent.flatMap(({ parts }) => parts.filter((part) => usage.parts[part] === null))
  if (none.length === 0) return usage
  return {
    ...usage,
    parts: { ...usage.parts, ...Object.fromEntries(none.map((part) => [part, 0])) },
  }
}

/** A usage before the end of its answer knows the prompt alone. */
function withoutOutput(usage: Usage): Usage {
  const unknown = Object.fromEntries(outputParts.map((part) => [part, null]))
  const unread = usage.passes.length === 0 ? usage.unread : [...usage.unread, passesField]
  return { ...usage, parts: { ...usage.parts, ...unknown }, passes: [], unread }
}

/** Names of what lets a service search, or run tools of its own. */
const callWords = /"[^"]*(?:search|tool|plugin)[^"]*"|:online"/i

/** What the body of a request allows its answer. */
function allowed(body: string | null): Pick<PricedRequest, 'maxOutputTokens' | 'mayCall'> {
  const asked = body === null ? undefined : jsonOf(body)
  const most = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']
    .map((name) => atPlace(asked, name))
    .find((count) => typeof count === 'number')
  const answers = ['n', 'best_of']
    .map((name) => atPlace(asked, name))
    .find((count) => typeof count === 'number' && count > 1)
  return {
    maxOutputTokens: most === undefined ? null : most * (typeof answers === 'number' ? answers : 1),
    mayCall: body === null || callWords.test(body),
  }
}

/** Requests with the same text are twins, streamed or plain. */
function promptKey({ requestBody, prompt }: Row): string {
  if (requestBody === null) return prompt ?? ''
  try {
    const { model, messages, input, prompt: text, max_tokens: most } = JSON.parse(requestBody)
    return JSON.stringify([messages ?? input ?? text, most, model])
  } catch {
    return prompt ?? ''
  }
}

function requestedTier(requestBody: string | null): string | null {
  if (requestBody === null) return null
  const asked = jsonOf(requestBody)
  const tier = ['service_tier', 'serviceTier', 'serviceTier.type']
    .map((place) => atPlace(asked, place))
    .find((each) => typeof each === 'string')
  return typeof tier === 'string' ? tier : null
}

/** Headers in which Gemini and Bedrock name the tier that served a request. */
const tierHeaders = ['x-gemini-service-tier', 'x-amzn-bedrock-service-tier']

function tierOfHeaders(headers: ReadonlyMap<string, string>): string | null {
  const tier = tierHeaders.flatMap((name) => headers.get(name) ?? [])[0]
  return tier === undefined || tier === '' ? null : tier.toLowerCase()
}

function statedAt(
  place: StatedPlace,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
): readonly StatedCost[] {
  const found = valuesAt(place, texts, headers).reduce<Amount | null>(
    (before, value) => amountOf(value) ?? before,
    null,
  )
  return found === null
    ? []
    : [{ place: nameOf(place), ...found, value: multiply(found.value, place.times) }]
}

const nameOf = (place: StatedPlace) =>
  'header' in place ? `header ${place.header}` : `body ${place.body}`

/** What an answer has at a place, in the order of its events. */
function valuesAt(
  place: StatedPlace,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
): readonly unknown[] {
  if ('header' in place) return [headers.get(place.header)]
  // Most events have no amount, and parsing each twice takes time.
  const last = place.body.split('.').at(-1)!
  return texts
    .filter((text) => text.includes(`"${last}"`))
    .map((text) => atPlace(parseWritten(text), place.body))
}

/** Costs that the answer has at places of the contract, of which none is a number. */
function unreadableIn(
  request: PricedRequest,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
  { evidence }: PriceTerms,
): readonly UnreadableCost[] {
  return evidence.cost.flatMap((place) => {
    const name = nameOf(place)
    if (request.stated.some((cost) => cost.place === name)) return []
    const text = valuesAt(place, texts, headers)
      .map(unreadableText)
      .find((each) => each !== null)
    return text == null ? [] : [{ request, place: name, text }]
  })
}

function headersOf(text: string | null): ReadonlyMap<string, string> {
  return new Map(
    (text ?? '').split('\n').flatMap((line) => {
      const colon = line.indexOf(':')
      return colon <= 0
        ? []
        : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const]
    }),
  )
}

/** Whether the request asks for text: embeddings have none, and some services count an output of 0 for them. */
const isTextual = ({ endpoint }: Row, model: ModelPrice | null) =>
  generates(endpoint) || (endpoint === 'other' && model !== null && pricesOutput(model.price))

/** Headers that say that a gateway answered from its own cache. */
const cacheHeaders = ['x-litellm-cache-hit', 'x-cache', 'x-cache-status', 'cf-aig-cache-status']

/** Headers that say that an answer came again for the key of a repeated request: `Idempotent-Replayed: true`. */
const replayHeader = /^x?-?idempoten(?:t|cy)-(?:replay(?:ed)?|hit|status|cache)$/

/** Whether the head says that the answer is an earlier one. */
function isCacheHit(headers: ReadonlyMap<string, string>): boolean {
  const saysSo = /^(?:hit|true|yes|1|replay(?:ed)?|cached)\b/i
  return (
    cacheHeaders.some((name) => /^(hit|true)/i.test(headers.get(name) ?? '')) ||
    [...headers].some(([name, value]) => replayHeader.test(name) && saysSo.test(value))
  )
}

function outcomesOf(
  row: Row,
  usage: Usage | null,
  hasEnded: boolean,
  headers: ReadonlyMap<string, string>,
  model: ModelPrice | null,
): readonly ChargedOutcome[] {
  const { outcome, finishReason, doneMarks, responseHeaders } = row
  if (outcome === 'http_error') return ['refused']
  if (outcome === 'broken') return ['broken']
  const isCut = outcome === 'aborted' || outcome === 'timeout'
  // Its end says that the whole answer was sent before the service saw the client leave.
  if (isCut && doneMarks === 0) return hasEnded ? ['abort', 'success'] : ['abort']
  if (headers.has('x-litellm-cache-key') || isCacheHit(headers)) return ['gateway_cache', 'success']
  if (isFilterReason(finishReason)) return ['filtered']
  const isEmpty =
    isTextual(row, model) &&
    usage !== null &&
    outputOf(usage.parts) === 0 &&
    (promptOf(usage.parts) ?? 0) > 0
  const answered = isEmpty ? 'empty' : 'success'
  return responseHeaders === null && isCachePriced(model) ? [answered, 'gateway_cache'] : [answered]
}

/** Whether answers of the gateway's cache have a charge of their own. Headers that were not stored may have named one. */
function isCachePriced(model: ModelPrice | null): boolean {
  if (model === null) return false
  const { gateway_cache: cached, success } = model.charged
  return cached !== 'open' && cached !== success
}
