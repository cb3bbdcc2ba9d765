import { createHash } from 'node:crypto'
import type { TemplateRow } from '../../attempt/evidence.ts'
import { keyPlaceholder } from '../../attempt/shown-key.ts'
import type { AuthHeader, Contract } from '../../contract/contract.ts'
import {
  type AbortPoint,
  type Endpoint,
  generates,
  headerIssue,
  isHeaderValue,
  isPromised,
  promised,
  takesPrompt,
  type WrongRequest,
  wrongNeedsBody,
} from '../../contract/request.ts'
import { maxTokensOf, promptParts } from '../../contract/request-fields.ts'
import { usualOf } from '../../contract/usual.ts'
import { lookup } from '../../user/lookup.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { UserError } from '../../user/user-error.ts'
import type { WireRequest } from '../wire/transport.ts'
import {
  type BadKey,
  badKeyOf,
  invalidKey,
  shownBadKey,
  spoiled,
  spoilFields,
  unknownPath,
} from './wrong.ts'

export interface Message {
  /** Absent in the items of the Responses format that are no message. */
  readonly role?: string
  readonly [field: string]: unknown
  /** A text, or parts of the format: texts, images. */
  readonly content?: unknown
}

/** Auth headers with the key: the endpoint's own, that of a format, both, or none. */
export type AuthChoice = 'own' | 'chat' | 'messages' | 'both' | 'none'

/** A request before it becomes bytes. */
export interface RequestSpec {
  readonly endpoint: Endpoint
  readonly stream: boolean
  /** Whether a stream of chat requests its token counts. */
  readonly includeUsage: boolean
  /** Null omits `model`. */
  readonly model: string | null
  readonly messages: readonly Message[]
  /** The first message in chat, `instructions` in Responses, and `system` in messages. */
  readonly system: string | null
  /** Null omits `max_tokens`; the messages format needs it, so it gets the contract's default. */
  readonly maxTokens: number | null
  /** Override our own headers, except those of the key. */
  readonly headers: Readonly<Record<string, string>>
  /** Fields of the JSON body that override our own; `undefined` removes a field. */
  readonly body: Readonly<Record<string, unknown>>
  readonly wrong: WrongRequest | null
  readonly abort: AbortPoint | null
  /** For probes. Default: `own`. */
  readonly auth?: AuthChoice
  /** For probes and for the endpoint `other`. */
  readonly method?: WireRequest['method']
  /** For probes and for the endpoint `other`: replaces the contract's path. */
  readonly path?: string
  /** For probes: replaces the JSON body. */
  readonly rawBody?: Uint8Array
}

/** A plain chat request to vary: `{ ...plainRequest, model: 'svc-k2', ... }`. */
export const plainRequest: RequestSpec = {
  endpoint: 'chat',
  stream: false,
  includeUsage: false,
  model: null,
  messages: [],
  system: null,
  maxTokens: null,
  headers: {},
  body: {},
  wrong: null,
  abort: null,
}

/** A request without its key, made once for each distinct content and stored as evidence. */
export interface RequestTemplate {
  readonly endpoint: Endpoint
  readonly streamed: boolean
  readonly model: string | null
  readonly abort: AbortPoint | null
  readonly method: WireRequest['method']
  readonly path: string
  /** Without the key: see `auth`. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Headers that carry the key. */
  readonly auth: readonly AuthHeader[]
  /** Replaces the real key; null for the real one. */
  readonly badKey: BadKey | null
  readonly body: Uint8Array
  readonly maxTokens: number | null
  readonly n: number | null
  readonly promptHash: string | null
}

/** A request with one key, as bytes. It is immutable and can be sent any number of times. */
export interface PreparedRequest
  extends Pick<RequestTemplate, 'endpoint' | 'streamed' | 'model' | 'abort' | 'maxTokens'> {
  readonly wire: WireRequest
  /** The sent key, which must never reach a row or a captured body; empty for none. */
  readonly key: string
}

/**
 * @param basePath path of the base URL, without a trailing slash; empty for none
 * @throws UserError for an issue that the endpoint cannot have, a missing path, or an invalid header
 */
export function buildTemplate(
  contract: Contract,
  basePath: string,
  spec: RequestSpec,
): RequestTemplate {
  const prompted = takesPrompt(spec.endpoint)
  if (spec.wrong !== null && wrongNeedsBody(spec.wrong) && !isPromised(spec.endpoint))
    throw new UserError(
      'request',
      `wrong: ${spec.wrong} needs a request with a body; use it with ${promised.join(' or ')}, not with ${spec.endpoint}.`,
    )
  const fields = prompted ? bodyFields(contract, spec) : spec.body
  const body = spec.rawBody ?? bodyBytes(fields, spec.wrong, prompted)
  // Fields of `body` override ours.
  const { model = spec.model } = spec.body
  const method = spec.method ?? (body.length > 0 ? 'POST' : 'GET')
  return {
    endpoint: spec.endpoint,
    streamed: isStreamed(spec),
    model: typeof model === 'string' ? model : null,
    abort: spec.abort,
    method,
    path: basePath + pathOf(contract, spec),
    headers: headersOf(spec, body.length > 0),
    auth: authOf(contract, spec),
    badKey: badKeyOf(spec.wrong),
    body,
    maxTokens: numberOrNull(maxTokensOf(fields)),
    n: numberOrNull(fields.n),
    promptHash: prompted ? promptHashOf(fields) : null,
  }
}

/** @throws UserError for a key that is not valid in a header; the message does not show it */
export function prepareRequest(template: RequestTemplate, key: string | null): PreparedRequest {
  if (key !== null && !isHeaderValue(key))
    throw new UserError(
      'request',
      'an API key may have only printable ASCII without line ends; check its source for a trailing newline or quotes',
    )
  const sent = template.badKey === null ? key : spoiled(template.badKey, key)
  // A made-up key is not secret, and its zeros may stand in the ids of a service.
  if (sent !== invalidKey) secrets.add(sent)
  const auth = sent === null ? [] : template.auth.map((header) => authHeader(header, sent))
  const { endpoint, streamed, model, abort, maxTokens, method, path, body } = template
  const wire = { method, path, headers: [...template.headers, ...auth], body }
  // The sent key, because an altered key is almost the real one.
  return { endpoint, streamed, model, abort, maxTokens, wire, key: sent ?? '' }
}

/** A template for the store, enough to show the request, without the key. */
export function templateRow(
  template: RequestTemplate,
  at: { readonly runId: string; readonly template: number; readonly step: string },
): TemplateRow {
  const shownKey = template.badKey === null ? keyPlaceholder : shownBadKey[template.badKey]
  return {
    ...at,
    method: template.method,
    path: template.path,
    headers: JSON.stringify(
      Object.fromEntries([
        ...template.headers,
        ...template.auth.map((header) => authHeader(header, shownKey)),
      ]),
    ),
    body: template.body.length === 0 ? null : Buffer.from(template.body).toString('utf8'),
    maxTokens: template.maxTokens,
    n: template.n,
    promptHash: template.promptHash,
  }
}

const authHeader = (header: AuthHeader, key: string): readonly [string, string] => [
  header.name,
  header.prefix + key,
]

/** Usual paths of endpoints that are not in a contract. */
const customaryPaths = { responses: '/v1/responses', embeddings: '/v1/embeddings' } as const

function bodyFields(contract: Contract, spec: RequestSpec): Record<string, unknown> {
  const { endpoint } = spec
  const chat = endpoint === 'chat'
  const fields: Record<string, unknown> = lookup()
  if (spec.model !== null) fields.model = spec.model
  if (endpoint === 'embeddings') {
    const texts = spec.messages.map(({ content }) => content)
    fields.input = texts.length === 1 ? texts[0] : texts
  } else if (endpoint === 'responses') {
    fields.input = spec.messages
    if (spec.system !== null) fields.instructions = spec.system
  } else if (chat && spec.system !== null) {
    fields.messages = [{ role: 'system', content: spec.system }, ...spec.messages]
  } else {
    fields.messages = spec.messages
    if (spec.system !== null) fields.system = spec.system
  }
  const maxTokens =
    spec.maxTokens ?? (endpoint === 'messages' ? usualOf(contract).defaults.maxTokens : null)
  if (maxTokens !== null && generates(endpoint))
    fields[endpoint === 'responses' ? 'max_output_tokens' : 'max_tokens'] = maxTokens
  if (spec.stream) fields.stream = true
  if (isStreamed(spec) && chat && spec.includeUsage) fields.stream_options = { include_usage: true }
  Object.assign(fields, spec.body)
  spoilFields(fields, spec.wrong, contract)
  return fields
}

/** Fields of `body` override ours, and an undefined one removes it. */
const isStreamed = ({ stream, body }: RequestSpec): boolean => ({ stream, ...body }).stream === true

function bodyBytes(
  fields: Readonly<Record<string, unknown>>,
  wrong: WrongRequest | null,
  prompted: boolean,
): Uint8Array {
  if (!prompted && Object.keys(fields).length === 0) return new Uint8Array(0)
  const json = JSON.stringify(fields)
  return Buffer.from(wrong === 'malformed-json' ? json.slice(0, -1) : json, 'utf8')
}

function pathOf(contract: Contract, spec: RequestSpec): string {
  if (spec.wrong === 'unknown-path') return unknownPath
  if (spec.path !== undefined) return spec.path
  return pathOfEndpoint(contract, spec.endpoint)
}

/** @throws UserError for `other`, which has no path of its own */
export function pathOfEndpoint(contract: Contract, endpoint: Endpoint): string {
  if (endpoint === 'responses' || endpoint === 'embeddings') return customaryPaths[endpoint]
  if (endpoint !== 'other') return usualOf(contract).paths[endpoint]
  throw new UserError('request', 'a request to the endpoint `other` needs a path')
}

function authOf(contract: Contract, spec: RequestSpec): readonly AuthHeader[] {
  if (spec.wrong === 'missing-key') return []
  const { chat, messages } = usualOf(contract).auth
  // If both formats use the same header, it is sent once: servers refuse a repeated one.
  const both = chat.name === messages.name ? [chat] : [chat, messages]
  // The header of these endpoints is open (gaps G-06 and G-07), so both are sent.
  const isOpen = spec.endpoint === 'models' || spec.endpoint === 'credits'
  const own = isOpen ? both : [spec.endpoint === 'messages' ? messages : chat]
  return { none: [], both, chat: [chat], messages: [messages], own }[spec.auth ?? 'own']
}

function headersOf(spec: RequestSpec, hasBody: boolean): readonly (readonly [string, string])[] {
  const headers = new Map<string, string>()
  if (hasBody) headers.set('content-type', 'application/json')
  headers.set('accept', isStreamed(spec) ? 'text/event-stream' : 'application/json')
  // No body is decompressed, because the bytes on the wire are measured.
  headers.set('accept-encoding', 'identity')
  headers.set('user-agent', 'assay')
  for (const [name, value] of Object.entries(spec.headers)) {
    const issue = headerIssue(name, value)
    if (issue !== null) throw new UserError('request', issue)
    headers.set(name.toLowerCase(), value)
  }
  return [...headers]
}

const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null

/** Equal for requests that must cost equal prompt tokens: those with the same parts of a prompt. */
const promptHashOf = (fields: Readonly<Record<string, unknown>>): string =>
  createHash('sha256')
    .update(JSON.stringify(promptParts(fields)))
    .digest('hex')
    .slice(0, 16)
