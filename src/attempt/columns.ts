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

const columnsOf = <N extends boolean>(nullable: N) => {
  const of =
    <K extends ColumnKind>(kind: K) =>
    (description: string) => ({ kind, nullable, description })
  const [micros, index, number, count] = [of('micros'), of('index'), of('number'), of('count')]
  return { micros, index, number, count, bits: of('bits'), word: of('word'), text: of('text') }
}
const always = columnsOf(false)
const maybe = columnsOf(true)

/**
 * The columns of an attempt: whether a cell may be null, kind, and meaning with unit.
 *
 * @example
 * console.log(attemptColumns.firstContentUs.description)
 */
export const attemptColumns = {
  // Identity
  runId: always.word('the run that it belongs to'),
  slot: always.index('index in the plan; a retry keeps the slot of its parent'),
  retry: always.count('0 for a first attempt, 1 for its first retry; parent = retry - 1'),
  shard: always.count('sending thread'),
  phase: always.word('phase of the scenario'),
  part: always.word('warmup, steady or drain'),
  step: always.word('step of the mix'),
  session: maybe.count('conversation that the request continues'),
  turn: maybe.count('turn in that conversation, from 0'),
  template: maybe.count('row of `templates` with the request'),
  keyFp: maybe.word('first 12 hex digits of the SHA-256 of the API key'),
  account: maybe.word('account of the key, as the scenario names it'),

  // Request
  endpoint: always.word('chat, messages, responses, embeddings, models, credits or other'),
  streamed: always.count('1 if the request asked for a stream'),
  model: maybe.word('requested model'),
  expects: always.word('ok, or the error that the request was made to provoke'),

  // Times, on one monotonic clock for all threads of a run
  intendedUs: always.micros('when the schedule wanted it sent'),
  dispatchedUs: maybe.micros('when it was handed to the HTTP client'),
  sentUs: maybe.micros('when it was sent on the socket'),
  headersUs: maybe.micros('when the response headers were complete'),
  firstEventUs: maybe.micros('first SSE event of any kind'),
  firstContentUs: maybe.micros('first event with non-empty text'),
  lastContentUs: maybe.micros('last event with non-empty text'),
  doneUs: maybe.micros('[DONE], message_stop, or the end of a plain body'),
  closedUs: maybe.micros('when the response was handled whole, or broke'),

  // Outcome
  outcome: always.word('ok, http_error, broken, timeout, aborted or not_sent'),
  reason: maybe.word(
    'why it was broken, timed out, aborted or not sent; not-closed for a stream that succeeded and whose body stayed open',
  ),
  status: maybe.count('HTTP status'),
  errorShape: maybe.word('chat, messages or other: the shape of an error body'),
  errorCode: maybe.word('error.code of the chat shape'),
  errorType: maybe.word('error.type of either shape'),
  errorMessage: maybe.word('what the service said about the error, cut after 200 characters'),

  // Headers
  creditsRemaining: maybe.number('X-Credits-Remaining'),
  rateLimit: maybe.number('X-RateLimit-Limit'),
  rateRemaining: maybe.number('X-RateLimit-Remaining'),
  rateReset: maybe.number(
    'X-RateLimit-Reset, in the unit of the service; a duration or a time as seconds from now',
  ),
  tokenLimit: maybe.number('limit of tokens, if the contract names its header'),
  tokenRemaining: maybe.number('tokens that remain of it'),
  tokenReset: maybe.number('its reset, as `rate_reset`'),
  retryAfter: maybe.number(
    'seconds that the service asks to wait: retry-after-ms, or Retry-After as a number or a date',
  ),
  dateS: maybe.index("the service's Date header, Unix seconds"),

  // Body
  responseId: maybe.text('id of the completion or message'),
  responseModel: maybe.word('model that the response names'),
  finishReason: maybe.word('finish_reason or stop_reason of the first choice'),
  choices: maybe.count('number of choices (chat) or content blocks (messages)'),
  // Usage in its normal form (`src/tokens/usage.ts`): the same in every dialect. Null is not reported.
  promptTokens: maybe.count('usage: all tokens of the prompt, also those of a cache'),
  cachedTokens: maybe.count('usage: the part of prompt_tokens that was read from a cache'),
  completionTokens: maybe.count('usage: all tokens generated, also those of reasoning'),
  totalTokens: maybe.count('usage: total_tokens, as stated'),
  cacheReadAudioTokens: maybe.count('the part of cached_tokens that is audio'),
  cacheWriteTokens: maybe.count(
    'usage: tokens of the prompt written to a cache for 5 minutes, or for a time that is not stated',
  ),
  cacheWrite1hTokens: maybe.count('usage: tokens of the prompt written to a cache for an hour'),
  inputAudioTokens: maybe.count('usage: audio tokens of the prompt that no cache had'),
  inputImageTokens: maybe.count('usage: image tokens of the prompt'),
  reasoningTokens: maybe.count(
    'usage: tokens of reasoning, a part of completion_tokens in every dialect',
  ),
  outputAudioTokens: maybe.count('usage: audio tokens generated'),
  outputImageTokens: maybe.count('usage: image tokens generated'),
  citationTokens: maybe.count('usage: tokens of citations, beside completion_tokens'),
  events: always.count('SSE events read; 0 for a plain body'),
  contentEvents: always.count('SSE events with non-empty text'),
  unknownEvents: always.count('SSE events with a member of a delta that no format has'),
  unknownMember: maybe.word('name of the first such member'),
  contentReads: always.count('distinct arrival times of these; 1 for many events means buffering'),
  doneMarks: always.count('terminal events seen: [DONE] or message_stop'),
  itlMaxUs: maybe.number('longest gap between content events, microseconds'),
  // Times that the answer states (`src/client/document/answer-times.ts`); null is not stated.
  queueUs: maybe.index('microseconds in the queue of the service, as its answer states'),
  prefillUs: maybe.index('microseconds of the prefill, as its answer states'),
  decodeUs: maybe.index('microseconds after the first token, as its answer states'),
  textUs: maybe.number(
    'microseconds from the first to the last event with text, added up over the choices of an answer with several; null with one, or if they cannot be distinguished',
  ),
  deadlines: maybe.count(
    'token deadlines of a stream that were kept or missed, if the scenario has token_deadlines; each event with text counts as one token',
  ),
  missedDeadlines: maybe.count('those of them that were missed'),
  bytesIn: always.index('bytes of the response body'),
  flags: always.bits('findings of the reader, see flags'),

  // The task of an agent, if it is a turn of one: `session` is its number, `turn` that of the request in it
  task: maybe.word('task of the scenario that the request is part of'),
  taskTurn: maybe.word('turn of that task'),

  // What the answer says
  answer: maybe.word(
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
export const sqlName = (name: string): string =>
  name.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`)

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
