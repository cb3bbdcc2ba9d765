import { modelPriceOf } from '../../../contract/model-price.ts'
import type { PriceTerms } from '../../../contract/prices.ts'
import { usageOfColumns } from '../../../price/attempts/column-usage.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { passesField } from '../../../tokens/read-usage.ts'
import { outputParts, type Usage } from '../../../tokens/usage.ts'
import { jsonOf } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import { decodeEvents } from '../events.ts'
import { headersOf, isCacheHit, tierOfHeaders } from './answer-head.ts'
import { answerDigest, answerUsage, hasEnd, textBytes, textDocuments } from './answer-json.ts'
import { allowed, askedBytes, promptKey, requestedTier, withoutMedia } from './asked.ts'
import { outcomesOf } from './ended-as.ts'
import { shownCalls, withAmounts, withTotal } from './shown-amounts.ts'
import { statedAt } from './stated-costs.ts'
import type { Row } from './stored-row.ts'

/**
 * The JSON documents of a body: itself, its lines, the elements of its list, as Gemini streams without events, or the data of its
 * events.
 */
export function documentsOf(body: string): readonly string[] {
  const start = body.trimStart()[0]
  if (start !== '{' && start !== '[') return decodeEvents(body).events.map(({ data }) => data)
  const whole = jsonOf(body)
  if (Array.isArray(whole)) return whole.map((each) => JSON.stringify(each))
  if (whole !== undefined) return [body]
  return body.split('\n').filter((line) => jsonOf(line) !== undefined)
}

/** @param texts the JSON documents of its answer */
export function requestOf(
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
    headMs: row.headMs,
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
    prompt: row.isShared ? `${row.runId} ${row.slot} ${row.retry}` : promptKey(row),
    body: row.requestBody === null || row.isShared ? null : `${row.path} ${row.prompt}`,
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

/** A usage before the end of its answer knows the prompt alone. */
function withoutOutput(usage: Usage): Usage {
  const unknown = Object.fromEntries(outputParts.map((part) => [part, null]))
  const unread = usage.passes.length === 0 ? usage.unread : [...usage.unread, passesField]
  return { ...usage, parts: { ...usage.parts, ...unknown }, passes: [], unread }
}
