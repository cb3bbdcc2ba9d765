import { lookup } from '../../../user/lookup.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, tokensOf } from './row.ts'

const inference: ReadonlySet<string> = new Set([
  'chat',
  'text_completion',
  'generate_content',
  'embeddings',
])

/** Earlier instrumentations name the operation in another attribute. */
const operationOf = (names: Fields) => {
  const operation = String(first(names['gen_ai.operation.name'], names['llm.request.type']) ?? '')
  return earlier[operation] ?? operation
}

const earlier: Readonly<Record<string, string>> = lookup({
  completion: 'text_completion',
  embedding: 'embeddings',
})

interface Span extends Fields {
  readonly names: Fields
}

/** Spans with their attributes as one object. */
function spansOf(document: Fields): readonly Span[] {
  return listOf(document.resourceSpans).flatMap((resource) =>
    listOf(first(resource.scopeSpans, resource.instrumentationLibrarySpans)).flatMap((scope) =>
      listOf(scope.spans).map((span) => ({ ...span, names: namesOf(span.attributes) })),
    ),
  )
}

function namesOf(attributes: unknown): Fields {
  return Object.fromEntries(
    listOf(attributes).map(({ key, value }) => [
      String(key),
      first(
        ...['stringValue', 'intValue', 'doubleValue', 'boolValue'].map((name) => at(value, name)),
      ),
    ]),
  )
}

/** OpenTelemetry's spans of generative AI as OTLP JSON. An agent's span repeats the tokens of its calls. */
export const otlp: KnownFormat = {
  name: 'OTLP spans',
  source: 'otlp',
  durations: 'times',
  recognises: (has, text) => has('resourceSpans') && text.includes('gen_ai.'),
  fields: 'resourceSpans',
  needed: ['resourceSpans'],
  note: 'only spans of inference are requests: those of agents and tools repeat their tokens',
  *rows(document) {
    for (const span of spansOf(document)) {
      if (inference.has(operationOf(span.names))) yield call(span)
    }
  },
}

function call({
  names,
  traceId,
  spanId,
  startTimeUnixNano,
  endTimeUnixNano,
  status,
}: Span): NormalRow {
  const error = first(names['error.type'])
  const code = first(names['http.response.status_code'])
  const hasFailed =
    error !== undefined || /^(2|STATUS_CODE_ERROR)$/.test(String(at(status, 'code') ?? ''))
  return {
    id: `${traceId}/${spanId}`,
    time: startTimeUnixNano,
    model: first(names['gen_ai.request.model'], names['gen_ai.response.model']),
    endpoint: operationOf(names),
    account: first(names['enduser.id'], names['user.id']),
    ...(hasFailed ? { outcome: 'http_error', errorCode: error } : {}),
    ...(code === undefined ? {} : { status: code }),
    began: startTimeUnixNano,
    ended: endTimeUnixNano,
    ...tokensOf(names, 'otel'),
  }
}
