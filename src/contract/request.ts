/** The vocabulary of requests, shared by planning and sending. */

/** Endpoints whose generated text the contract promises and prices. */
export const promised = ['chat', 'messages'] as const
export type Promised = (typeof promised)[number]
/** Endpoints without a body. */
export const plainReads = ['models', 'credits'] as const
export type PlainRead = (typeof plainReads)[number]
/** Endpoints that answer with generated text. */
export const generating = [...promised, 'responses'] as const
/** Endpoints that take a prompt. */
export const prompted = [...generating, 'embeddings'] as const
export type Prompted = (typeof prompted)[number]
export const endpoints = [...prompted, ...plainReads, 'other'] as const

export type Endpoint = (typeof endpoints)[number]
export type ContractEndpoint = Exclude<Endpoint, 'responses' | 'embeddings' | 'other'>

const isOneOf =
  <Name extends string>(names: readonly Name[]) =>
  (endpoint: unknown): endpoint is Name =>
    names.some((name) => name === endpoint)
export const isPromised = isOneOf(promised)
export const generates = isOneOf(generating)
export const takesPrompt = isOneOf(prompted)

/** SQL over the column `endpoint`. */
const inSql = (names: readonly string[]) => `endpoint IN ('${names.join("', '")}')`
export const promisedSql = inSql(promised)
export const generatesSql = inSql(generating)

/** Requests that are wrong on purpose. `no-credits` is a correct one from an account without credits, whose key the scenario chooses. */
export const wrongRequests = [
  ...['missing-key', 'invalid-key', 'altered-key', 'recased-key', 'unknown-model'],
  ...['invalid-parameter', 'missing-messages', 'malformed-json', 'context-length'],
  ...['unknown-path', 'no-credits'],
] as const
export type WrongRequest = (typeof wrongRequests)[number]

const needsBody: ReadonlySet<WrongRequest> = new Set([
  'unknown-model',
  'invalid-parameter',
  'missing-messages',
  'malformed-json',
  'context-length',
])

export const wrongNeedsBody = (wrong: WrongRequest): boolean => needsBody.has(wrong)

const transportOwns: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
])

/** A sentence on why a custom header cannot be sent; null if it can. */
export function headerIssue(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) || !isHeaderValue(value))
    return `header ${JSON.stringify(name)}: a name is letters, digits and -, a value printable ASCII on one line`
  return transportOwns.has(name.toLowerCase())
    ? `header ${name} is set by the transport from the base URL and the body; leave it out`
    : null
}

export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e]*$/.test(value)

export const methods = ['GET', 'POST', 'OPTIONS', 'DELETE', 'PUT'] as const
export type Method = (typeof methods)[number]

/** Moments of a response at which a client may abort it. */
export const abortMoments = [
  'before-headers',
  'after-headers',
  'first-event',
  'before-done',
] as const

/** Where a client aborts a response on purpose. */
export type AbortPoint =
  | { readonly at: (typeof abortMoments)[number] }
  | { readonly at: 'after-events'; readonly events: number }
  | { readonly at: 'after-us'; readonly us: number }
