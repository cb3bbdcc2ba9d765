/**
 * The columns of an attempt, one row per HTTP attempt.
 *
 * The row type, the columnar batch, the tables of the store and the view `attempts` are made from this
 * list. A new column needs a line here and one where the client fills it. Values that can be computed
 * are not columns: lag, service time, TTFT and others are SQL over the time stamps (`attempt_values`).
 */

/** The type of a column in a batch and in DuckDB. */
export type ColumnKind =
  /** Microseconds since the run began. Float64, NaN is null. BIGINT. */
  | 'micros'
  /** A whole number that may exceed 2^31. Float64, NaN is null. BIGINT. */
  | 'index'
  /** Any number, also negative or fractional. Float64, NaN is null. DOUBLE. */
  | 'number'
  /** A whole number. Int32, -2^31 is null. INTEGER. */
  | 'count'
  /** A set of named bits, never null. Uint32. UINTEGER. */
  | 'bits'
  /** A repeated string: a code in the sender's word list, -1 is null. VARCHAR. */
  | 'word'
  /** A string that rarely repeats: bytes in the batch's arena. VARCHAR. */
  | 'text'

export interface Column {
  readonly kind: ColumnKind
  readonly nullable: boolean
  /** One line, the column's comment in the view `attempts`. */
  readonly description: string
}

const column = <K extends ColumnKind, N extends boolean>(
  kind: K,
  nullable: N,
  description: string,
) => ({
  kind,
  nullable,
  description,
})

/**
 * The columns of an attempt: kind, whether a cell may be null, and meaning with unit.
 *
 * @example
 * console.log(attemptColumns.firstContentUs.description)
 */
export const attemptColumns = {
  // Identity
  runId: column('word', false, 'the run that it belongs to'),
  slot: column('index', false, 'index in the plan; a retry keeps the slot of its parent'),
  retry: column('count', false, '0 for a first attempt, 1 for its first retry; parent = retry - 1'),
  shard: column('count', false, 'sending thread'),
  phase: column('word', false, 'phase of the scenario'),
  part: column('word', false, 'warmup, steady or drain'),
  step: column('word', false, 'step of the mix'),
  session: column('count', true, 'conversation that the request continues'),
  turn: column('count', true, 'turn in that conversation, from 0'),
  template: column('count', true, 'row of `templates` with the request'),
  keyFp: column('word', true, 'first 12 hex digits of the SHA-256 of the API key'),
  account: column('word', true, 'account of the key, as the scenario names it'),

  // Request
  endpoint: column(
    'word',
    false,
    'chat, messages, responses, embeddings, models, credits or other',
  ),
  streamed: column('count', false, '1 if the request asked for a stream'),
  model: column('word', true, 'requested model'),
  expects: column('word', false, 'ok, or the error that the request was made to provoke'),

  // Times, on one monotonic clock for all threads of a run
  intendedUs: column('micros', false, 'when the schedule wanted it sent'),
  dispatchedUs: column('micros', true, 'when it was handed to the HTTP client'),
  sentUs: column('micros', true, 'when it was sent on the socket'),
  headersUs: column('micros', true, 'when the response headers were complete'),
  firstEventUs: column('micros', true, 'first SSE event of any kind'),
  firstContentUs: column('micros', true, 'first event with non-empty text'),
  lastContentUs: column('micros', true, 'last event with non-empty text'),
  doneUs: column('micros', true, '[DONE], message_stop, or the end of a plain body'),
  closedUs: column('micros', true, 'when the response was handled whole, or broke'),

  // Outcome
  outcome: column('word', false, 'ok, http_error, broken, timeout, aborted or not_sent'),
  reason: column(
    'word',
    true,
    'why it was broken, timed out, aborted or not sent; not-closed for a stream that succeeded and whose body stayed open',
  ),
  status: column('count', true, 'HTTP status'),
  errorShape: column('word', true, 'chat, messages or other: the shape of an error body'),
  errorCode: column('word', true, 'error.code of the chat shape'),
  errorType: column('word', true, 'error.type of either shape'),
  errorMessage: column(
    'word',
    true,
    'what the service said about the error, cut after 200 characters',
  ),

  // Headers
  creditsRemaining: column('number', true, 'X-Credits-Remaining'),
  rateLimit: column('number', true, 'X-RateLimit-Limit'),
  rateRemaining: column('number', true, 'X-RateLimit-Remaining'),
  rateReset: column(
    'number',
    true,
    'X-RateLimit-Reset, in the unit of the service; a duration or a time as seconds from now',
  ),
  tokenLimit: column('number', true, 'limit of tokens, if the contract names its header'),
  tokenRemaining: column('number', true, 'tokens that remain of it'),
  tokenReset: column('number', true, 'its reset, as `rate_reset`'),
  retryAfter: column(
    'number',
    true,
    'seconds that the service asks to wait: retry-after-ms, or Retry-After as a number or a date',
  ),
  dateS: column('index', true, "the service's Date header, Unix seconds"),

  // Body
  responseId: column('text', true, 'id of the completion or message'),
  responseModel: column('word', true, 'model that the response names'),
  finishReason: column('word', true, 'finish_reason or stop_reason of the first choice'),
  choices: column('count', true, 'number of choices (chat) or content blocks (messages)'),
  // Usage in its normal form (`src/tokens/usage.ts`): the same in every dialect. Null is not reported.
  promptTokens: column('count', true, 'usage: all tokens of the prompt, also those of a cache'),
  cachedTokens: column(
    'count',
    true,
    'usage: the part of prompt_tokens that was read from a cache',
  ),
  completionTokens: column('count', true, 'usage: all tokens generated, also those of reasoning'),
  totalTokens: column('count', true, 'usage: total_tokens, as stated'),
  cacheReadAudioTokens: column('count', true, 'the part of cached_tokens that is audio'),
  cacheWriteTokens: column(
    'count',
    true,
    'usage: tokens of the prompt written to a cache for 5 minutes, or for a time that is not stated',
  ),
  cacheWrite1hTokens: column(
    'count',
    true,
    'usage: tokens of the prompt written to a cache for an hour',
  ),
  inputAudioTokens: column('count', true, 'usage: audio tokens of the prompt that no cache had'),
  inputImageTokens: column('count', true, 'usage: image tokens of the prompt'),
  reasoningTokens: column(
    'count',
    true,
    'usage: tokens of reasoning, a part of completion_tokens in every dialect',
  ),
  outputAudioTokens: column('count', true, 'usage: audio tokens generated'),
  outputImageTokens: column('count', true, 'usage: image tokens generated'),
  citationTokens: column('count', true, 'usage: tokens of citations, beside completion_tokens'),
  events: column('count', false, 'SSE events read; 0 for a plain body'),
  contentEvents: column('count', false, 'SSE events with non-empty text'),
  unknownEvents: column('count', false, 'SSE events with a member of a delta that no format has'),
  unknownMember: column('word', true, 'name of the first such member'),
  contentReads: column(
    'count',
    false,
    'distinct arrival times of these; 1 for many events means buffering',
  ),
  doneMarks: column('count', false, 'terminal events seen: [DONE] or message_stop'),
  itlMaxUs: column('number', true, 'longest gap between content events, microseconds'),
  // Times that the answer states (`src/client/document/answer-times.ts`); null is not stated.
  queueUs: column('index', true, 'microseconds in the queue of the service, as its answer states'),
  prefillUs: column('index', true, 'microseconds of the prefill, as its answer states'),
  decodeUs: column('index', true, 'microseconds after the first token, as its answer states'),
  textUs: column(
    'number',
    true,
    'microseconds from the first to the last event with text, added up over the choices of an answer with several; null with one, or if they cannot be distinguished',
  ),
  deadlines: column(
    'count',
    true,
    'token deadlines of a stream that were kept or missed, if the scenario has token_deadlines; each event with text counts as one token',
  ),
  missedDeadlines: column('count', true, 'those of them that were missed'),
  bytesIn: column('index', false, 'bytes of the response body'),
  flags: column('bits', false, 'findings of the reader, see flags'),

  // The task of an agent, if it is a turn of one: `session` is its number, `turn` that of the request in it
  task: column('word', true, 'task of the scenario that the request is part of'),
  taskTurn: column('word', true, 'turn of that task'),

  // What the answer says
  answer: column(
    'word',
    true,
    'correct; or what it lacks first: contains, matches, exact, json, tool, tokens, check; or unchecked; null if nothing is expected of it',
  ),
} as const satisfies Record<string, Column>

export type ColumnName = keyof typeof attemptColumns
export const columnNames = Object.keys(attemptColumns) as readonly ColumnName[]

type ValueOf<C extends Column> =
  | (C['kind'] extends 'word' | 'text' ? string : number)
  | (C['nullable'] extends true ? null : never)

/** One HTTP attempt in the store. */
export type AttemptRow = {
  readonly [Name in ColumnName]: ValueOf<(typeof attemptColumns)[Name]>
}

/** The SQL name of a column or a flag: `firstContentUs` is `first_content_us`, `write1h` is `write_1h`. */
export function sqlName(name: string): string {
  return name.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Types in DuckDB. */
export const sqlTypes: Readonly<Record<ColumnKind, string>> = {
  micros: 'BIGINT',
  index: 'BIGINT',
  number: 'DOUBLE',
  count: 'INTEGER',
  bits: 'UINTEGER',
  word: 'VARCHAR',
  text: 'VARCHAR',
}
