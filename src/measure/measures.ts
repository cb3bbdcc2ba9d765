import { createHash } from 'node:crypto'
import { sqlName } from '../attempt/columns.ts'
import { flagSql } from '../attempt/flags.ts'
import { generatesSql } from '../contract/request.ts'
import type { LimitSql } from './limit.ts'
import { usageViewSql } from './usage/view.ts'

/**
 * A measure of an attempt. The list below is the only definition: the views of the store, thresholds,
 * summaries, pages, comparisons and `docs/metrics.md` are made from it.
 */
export interface Measure {
  readonly title: string
  readonly summary: string
  /** SQL over a row of `attempts`, in microseconds. */
  readonly value: string
  /** SQL: whether a row has the measure. */
  readonly of: string
  readonly who: string
  /** SQL: whether the value of a row is only a lower bound. Null if values are always exact. */
  readonly cut: string | null
  readonly whoIsCut: string
  /** The requests that have it, so that a threshold may name it; null if none may. */
  readonly judged: 'all' | 'streams' | null
  /** Whether it begins with the request, so that a delay of this client is a share of it. */
  readonly fromSend: boolean
  /** Where a summary has it: on the terminal and on pages, on pages alone, or only where it is asked for. */
  readonly shown: 'everywhere' | 'pages' | 'asked'
}

/** SQL over `attempts`: when a request was sent, and when its answer ended; microseconds of the run's clock. */
export const began = 'coalesce(sent_us, dispatched_us, intended_us)'
export const ended = 'coalesce(done_us, closed_us)'
const answered = `expects = 'ok' AND outcome IN ('ok', 'timeout')`
const succeeded = `expects = 'ok' AND outcome = 'ok'`
const generated = `${succeeded} AND ${generatesSql}`
/** A 2xx body that is not a stream has no first token, even if a stream was requested. */
const asStream = `streamed = 1 AND (outcome = 'timeout' OR events > 0 OR first_content_us IS NOT NULL)`

/**
 * SQL: completion tokens that the text of a stream is made of; null if it is not known how many. Reasoning that was
 * counted and not streamed, and images, are no part of them.
 */
const streamedTokens = `(CASE
  WHEN ${flagSql('textInPart')} THEN NULL
  WHEN coalesce(reasoning_tokens, 0) = 0 OR ${flagSql('reasoning')} THEN completion_tokens
  WHEN content_events > 0 THEN completion_tokens - reasoning_tokens
END - coalesce(output_image_tokens, 0))`
/** SQL: answers in one stream, each of which has a first token; messages have blocks, which follow each other. */
const streams = `CASE WHEN endpoint = 'chat' AND choices > 1 THEN choices ELSE 1 END`
/** SQL: microseconds from the first to the last text of each of them, added up. */
const textUs = `CASE WHEN endpoint = 'chat' AND choices > 1 THEN text_us ELSE last_content_us - first_content_us END`

const ofAnswers = {
  of: answered,
  who: 'requests meant to succeed that succeeded or timed out',
  cut: `outcome = 'timeout'`,
  whoIsCut: 'a timeout counts as at least the time until it was given up',
  judged: 'all',
  fromSend: true,
  shown: 'everywhere',
} as const
const ofFirstText = {
  of: `${answered} AND ${asStream}`,
  who: 'streams meant to succeed that succeeded or timed out',
  cut: 'first_content_us IS NULL',
  whoIsCut: 'a stream without any text counts as at least the time until its end or its timeout',
  judged: 'streams',
  fromSend: true,
  shown: 'everywhere',
} as const
const ofStreams = {
  of: `${succeeded} AND streamed = 1`,
  who: 'streams that succeeded',
  cut: null,
  whoIsCut: '',
  judged: 'streams',
  fromSend: false,
  shown: 'everywhere',
} as const
const ofSent = {
  of: 'true',
  cut: null,
  whoIsCut: '',
  judged: 'all',
  fromSend: false,
  shown: 'asked',
} as const

export const measures = {
  service: {
    title: 'service',
    summary: 'from the send of the request to the end of the answer',
    value: `${ended} - ${began}`,
    ...ofAnswers,
  },
  response: {
    title: 'response',
    summary: 'from the planned send to the end of the answer, including every wait in this client',
    value: `${ended} - intended_us`,
    ...ofAnswers,
  },
  ttft: {
    title: 'TTFT',
    summary:
      'from the send of the request to the first event with text: content, reasoning or a tool call',
    value: `coalesce(first_content_us, ${ended}) - ${began}`,
    ...ofFirstText,
  },
  responseTtft: {
    title: 'resp. TTFT',
    summary: 'the same from the planned send',
    value: `coalesce(first_content_us, ${ended}) - intended_us`,
    ...ofFirstText,
    shown: 'pages',
  },
  tpot: {
    title: 'TPOT',
    summary:
      'from the first to the last event with text, divided by the reported completion tokens minus one; tokens of reasoning that was counted and not streamed are left out, and of several choices both are sums over the choices',
    value: `CASE WHEN ${streamedTokens} > ${streams} THEN (${textUs}) / (${streamedTokens} - ${streams}) END`,
    ...ofStreams,
    who: 'streams that succeeded, and of which two tokens or more are known to have been streamed',
  },
  itlMax: {
    title: 'ITL max',
    summary: 'the longest gap between two events with text of one stream',
    value: 'itl_max_us',
    ...ofStreams,
    // A threshold on gaps is on all of them.
    judged: null,
    shown: 'asked',
  },
  lag: {
    title: 'lag',
    summary: 'from the planned send to the hand-over to the HTTP client',
    value: 'dispatched_us - intended_us',
    ...ofSent,
    who: 'all requests that were handed over',
  },
  poolWait: {
    title: 'pool wait',
    summary: 'from the hand-over to the send: waiting and connecting',
    value: 'sent_us - dispatched_us',
    ...ofSent,
    who: 'all requests that were sent',
  },
  failure: {
    title: 'failures',
    summary:
      'response time of errors, kept separate so that a fast 429 never improves a percentile',
    value: `${ended} - intended_us`,
    of: `outcome IN ('http_error', 'broken')`,
    who: 'HTTP errors and broken answers, including expected ones',
    cut: null,
    whoIsCut: '',
    judged: null,
    fromSend: true,
    shown: 'asked',
  },
} as const satisfies Record<string, Measure>

export type MeasureName = keyof typeof measures
export const measureNames = Object.keys(measures) as readonly MeasureName[]

/** `response_ttft` of `responseTtft`. */
type SqlName<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Uppercase<Letter> ? `_${Lowercase<Letter>}` : Letter}${SqlName<Rest>}`
  : ''
type Judged<Needs, Name = MeasureName> = Name extends MeasureName
  ? (typeof measures)[Name]['judged'] extends Needs
    ? SqlName<Name>
    : never
  : never

const judgedBy = <Needs extends 'all' | 'streams'>(needs: readonly Needs[]) =>
  measureNames
    .filter((name) => needs.some((one) => one === measures[name].judged))
    .map(sqlName) as Judged<Needs>[]

/** Measures that a threshold may name, by their names in it. */
export const judgedNames = judgedBy(['all', 'streams'])
/** Measures that a summary has where it has room for these. */
export const shownIn = (...places: readonly Measure['shown'][]) =>
  measureNames.filter((name) => places.includes(measures[name].shown))
/** Those of which a delay of this client is a share. */
export const namesFromSend: readonly string[] = measureNames
  .filter((name) => measures[name].judged !== null && measures[name].fromSend)
  .map(sqlName)
/** Those that only a stream has. */
export const streamNames = judgedBy(['streams'])

/** Column of a measure in SQL: `responseTtft` is `response_ttft_us`. */
export const columnOf = (name: MeasureName): string => `${sqlName(name)}_us`
export const cutOf = (name: MeasureName): string | null =>
  measures[name].cut === null ? null : `${sqlName(name)}_cut`

/**
 * SQL: whether a row of a run counts.
 *
 * @param hasSteady SQL: whether its run has a steady part
 */
export const countedSql = (hasSteady: string) => `(part = 'steady' OR NOT ${hasSteady})`

/** SQL of whether a row of the run `$1` counts. */
export const countedOfRun = countedSql(
  `EXISTS (FROM request_kinds WHERE run_id = $1 AND part = 'steady')`,
)

/** How an attempt counts: SQL over a row of `attempts`. */
export const standings = {
  counted: {
    sql: countedSql(`run_id IN (SELECT run_id FROM request_kinds WHERE part = 'steady')`),
    summary: 'it belongs to the steady part, or its run has none; figures cover only these',
  },
  was_sent: { sql: `outcome <> 'not_sent'`, summary: 'it was sent' },
  on_purpose: {
    sql: `outcome = 'aborted' OR (expects <> 'ok' AND outcome = 'http_error')`,
    summary:
      'it ended as the scenario intended: an abort, or the error that it was made to provoke',
  },
  succeeded: { sql: succeeded, summary: 'it was meant to succeed, and did' },
  judged: {
    sql: `expects = 'ok' AND outcome NOT IN ('not_sent', 'aborted')`,
    summary: 'it was meant to succeed, and ended: the denominator of goodput and success',
  },
  failed: {
    sql: `outcome NOT IN ('not_sent', 'aborted') AND outcome <> CASE expects WHEN 'ok' THEN 'ok' ELSE 'http_error' END`,
    summary: 'it was sent and ended in an unexpected way, other than by our own abort',
  },
  examined: {
    sql: `${succeeded} AND answer IS NOT NULL`,
    summary:
      'it succeeded, and its step says what the answer must hold: the denominator of correct',
  },
  correct: { sql: `answer = 'correct'`, summary: 'its answer holds all that its step expects' },
  wrong: {
    sql: `answer NOT IN ('correct', 'unchecked')`,
    summary: 'it succeeded, but its answer lacks something that its step expects; no error',
  },
  generated: {
    sql: `${generated}`,
    summary:
      'it succeeded at chat or messages, so it has tokens, reported or not: the denominator of empty',
  },
  empty: {
    sql: `${generated} AND first_content_us IS NULL AND (events > 0 OR coalesce(completion_tokens = 0, false))`,
    summary:
      'it is `generated` and holds nothing: a stream without text, reasoning or a tool call, or a body of 0 completion tokens',
  },
  unreported: {
    sql: `${generated} AND completion_tokens IS NULL`,
    summary: 'it has tokens, and the service did not report how many',
  },
  untimed: {
    sql: `${succeeded} AND streamed = 1 AND coalesce(last_content_us > first_content_us, false) AND (${streamedTokens} IS NULL OR (${streamedTokens} > ${streams} AND (${textUs}) IS NULL))`,
    summary:
      'it is a stream of which it is not known how many tokens were streamed, so it has no TPOT, and is neither good nor bad under an objective for TPOT',
  },
  hidden_tokens: {
    sql: `CASE WHEN ${generated} AND streamed = 1 AND content_events > 0 AND NOT ${flagSql('reasoning')} AND reasoning_tokens > 0 THEN reasoning_tokens END`,
    summary: 'tokens of reasoning that a stream counted and did not hold',
  },
  estimated_tokens: {
    sql: `CASE WHEN ${generated} AND completion_tokens IS NULL AND content_events > 0 THEN content_events END`,
    summary:
      'content events of a stream that is `unreported`: an estimate, because an event is not a token',
  },
  output_tokens: {
    sql: `CASE WHEN ${succeeded} THEN completion_tokens END`,
    summary: 'completion tokens that the service reported for a success',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>

/** SQL: a whole without its parts. `greatest` alone ignores null, and would make 0 of an unknown whole. */
const less = (whole: string, ...parts: readonly string[]) =>
  `CASE WHEN ${whole} IS NOT NULL THEN greatest(0, ${[whole, ...parts.map((part) => `coalesce(${part}, 0)`)].join(' - ')}) END`

/**
 * The disjoint parts of usage that are not columns of an attempt, so that with those columns each token is in
 * one part (`src/tokens/usage.ts`). Null: not reported; tokens of a part that is not reported are in its whole.
 */
export const tokenParts = {
  input_uncached_tokens: {
    sql: less(
      'prompt_tokens',
      ...['cached_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'],
      ...['input_audio_tokens', 'input_image_tokens'],
    ),
    summary: 'text of the prompt that no cache had: `prompt_tokens` without the other parts',
  },
  cache_read_tokens: {
    sql: less('cached_tokens', 'cache_read_audio_tokens'),
    summary: 'text of the prompt from a cache: `cached_tokens` without `cache_read_audio_tokens`',
  },
  output_visible_tokens: {
    sql: less(
      'completion_tokens',
      ...['reasoning_tokens', 'output_audio_tokens', 'output_image_tokens'],
    ),
    summary: 'generated text that is shown: `completion_tokens` without the other parts',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>

/**
 * How long an answer is, as a share of the tokens that its request asked for; over rows of `attempt_values` with the
 * template of each.
 */
export const outputLength = {
  summary:
    'output tokens of a success, divided by those that its request asked for: its `max_tokens`, times its choices',
  of: 'output_tokens IS NOT NULL AND asked_tokens > 0',
  value: 'output_tokens / asked_tokens',
  from: (rows: string) =>
    `(SELECT each.*, max_tokens * greatest(1, coalesce(n, 1)) AS asked_tokens FROM ${rows} AS each JOIN templates USING (run_id, template))`,
} as const

/**
 * Fluidity of a stream: the share of the deadlines of its tokens that were kept; over rows of `attempt_values`. It is known only
 * if each event with text held one token.
 */
export const fluidity = {
  summary:
    'deadlines of tokens that a stream kept, as a share of all (`token_deadlines` of the scenario; Agrawal et al., arXiv 2507.09019): an early token leaves slack to the next ones, a late one misses as many deadlines as passed meanwhile; of a success whose events held one token each, in one choice',
  /** Streams that have deadlines, and those of them whose tokens are known. */
  asked: `succeeded AND deadlines IS NOT NULL`,
  of: `succeeded AND deadlines > 0 AND ${streams} = 1 AND ${streamedTokens} = content_events`,
  value: '1 - missed_deadlines / deadlines',
} as const

/** SQL: the share of prompt tokens that a cache had, among successes that report it; null without any. */
export const cachedShareSql = `sum(cached_tokens) FILTER (${succeeded})
  / nullif(sum(prompt_tokens) FILTER (${succeeded} AND cached_tokens IS NOT NULL), 0)`

/** Measures of other tools, from the same time stamps; successes only. */
export const foreignMeasures = {
  event_ttft_us: {
    sql: `coalesce(first_event_us, first_content_us) - ${began}`,
    summary: 'to the first event of any kind (vLLM, evalscope)',
  },
  tail_tpot_us: {
    sql: `CASE WHEN completion_tokens >= 2 THEN (${ended} - coalesce(first_event_us, first_content_us)) / (completion_tokens - 1) END`,
    summary: 'the time after the first event, divided by the tokens minus one (vLLM, evalscope)',
  },
  spread_tpot_us: {
    sql: `CASE WHEN completion_tokens >= 1 THEN (coalesce(last_content_us, first_content_us) - ${began}) / completion_tokens END`,
    summary: 'the time to the last text divided by the tokens, including TTFT (GuideLLM)',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>

/** The measure that each objective of a scenario bounds. */
const objectives = {
  ttftUs: 'ttft',
  tpotUs: 'tpot',
  serviceUs: 'service',
  responseUs: 'response',
} as const satisfies Record<string, MeasureName>
export type ObjectiveName = keyof typeof objectives
export const objectiveNames = Object.keys(objectives) as readonly ObjectiveName[]

/**
 * SQL: whether a row of `attempt_values` is good, a success that met every objective, whose answer is not
 * known to be wrong or unchecked, and that is not empty. An objective that a row cannot have (TTFT of a plain body) is
 * met; one that it has, but that is not known (TPOT of a stream without token counts, or a limit by length of a request
 * without token counts), is not.
 *
 * @param boundOf SQL of each bound; null for none
 */
export const goodSql = (boundOf: Bounds): string => met(boundOf, 'coalesce(correct, true)', false)

/** SQL: whether a row that is not good would be, if what is not known of it were as it should be. */
export function maybeGoodSql(boundOf: Bounds): string {
  const open = [
    `coalesce(answer = 'unchecked', false)`,
    ...objectiveNames.flatMap((name) => unknownOf(boundOf, name)),
  ]
  const isCorrect = `coalesce(answer IN ('correct', 'unchecked'), true)`
  return `((${open.join(' OR ')}) AND ${met(boundOf, isCorrect, true)})`
}

type Bounds = (name: ObjectiveName) => LimitSql | null

/** SQL: how a row may have an objective of which it is not known whether it meets it. */
function unknownOf(boundOf: Bounds, name: ObjectiveName): readonly string[] {
  const bound = boundOf(name)
  if (bound === null) return []
  return [
    ...(name === 'tpotUs' ? ['untimed'] : []),
    ...(bound.isUnknown === 'false'
      ? []
      : [`(${columnOf(objectives[name])} IS NOT NULL AND ${bound.isUnknown})`]),
  ]
}

/** @param ifUnknown whether a row meets an objective of which that is not known */
function met(boundOf: Bounds, isCorrect: string, ifUnknown: boolean): string {
  const within = objectiveNames.flatMap((name) => {
    const bound = boundOf(name)
    if (bound === null) return []
    const unknown = ifUnknown ? [] : unknownOf(boundOf, name)
    const unless = unknown.length === 0 ? 'true' : `NOT (${unknown.join(' OR ')})`
    return [`coalesce(${columnOf(objectives[name])} <= ${bound.us}, ${unless})`]
  })
  return `(${['succeeded', 'NOT empty', isCorrect, ...within].join(' AND ')})`
}

/** Measures of a task, over a row of `tasks`, in microseconds. */
export const taskMeasures = {
  task: {
    title: 'task',
    summary: 'from the planned start of the task to the end of its last request',
    value: 'ended_us - intended_us',
  },
  taskService: {
    title: 'task service',
    summary: 'the same without the delays on the path of requests that decided the end',
    value: 'ended_us - intended_us - wait_us',
  },
} as const
export type TaskMeasureName = keyof typeof taskMeasures

/** How a task counts: SQL over a row of `tasks`. */
export const taskStandings = {
  judged: {
    sql: `outcome <> 'stopped' AND skipped = 0`,
    summary:
      'it started at its start, and did not end with the run: the denominator of task_success',
  },
  succeeded: {
    sql: `outcome = 'ok' AND skipped = 0`,
    summary: 'it is judged, and all of its requests succeeded before its deadline',
  },
  cut: {
    sql: `outcome = 'deadline' AND skipped = 0`,
    summary: 'its deadline cut it off, so that its times count as at least so long',
  },
} as const

const taskViews = `
CREATE OR REPLACE VIEW task_values AS
SELECT tasks.*,
  ${Object.entries(taskStandings)
    .map(([name, { sql }]) => `(${sql}) AS ${name}`)
    .join(',\n  ')},
  ${Object.entries(taskMeasures)
    .map(
      ([name, { value }]) =>
        `CASE WHEN outcome IN ('ok', 'deadline') AND skipped = 0 THEN ${value} END AS ${sqlName(name)}_us`,
    )
    .join(',\n  ')}
FROM tasks;`

/** SQL: credits of an attempt by a price list; 0 unless a generation succeeded, null for a model without a price. */
export function creditsSql(
  prices: readonly { readonly id: string; readonly costCredits: number }[],
): string {
  const cases = prices
    .map(({ id, costCredits }) => `WHEN '${id.replaceAll("'", "''")}' THEN ${costCredits}`)
    .join(' ')
  const priced = cases === '' ? 'NULL' : `CASE coalesce(model, response_model) ${cases} END`
  return `CASE WHEN outcome = 'ok' AND ${generatesSql} THEN ${priced} ELSE 0 END`
}

/**
 * SQL: the order of balances of an account. Answers that one poll of the event loop read share their time;
 * charges lower a balance, so the lower of two at the same time is the later.
 */
export const balanceOrder = (atUs: string, remaining: string) => `(${atUs}, -${remaining})`

const valueSql = (name: MeasureName) =>
  `CASE WHEN ${measures[name].of} THEN ${measures[name].value} END`

const columns = [
  ...Object.entries(standings).map(([name, { sql }]) => `(${sql}) AS ${name}`),
  ...Object.entries(tokenParts).map(([name, { sql }]) => `${sql} AS ${name}`),
  ...measureNames.flatMap((name) => {
    const { of, cut } = measures[name] as Measure
    const value = `${valueSql(name)} AS ${columnOf(name)}`
    return cut === null ? [value] : [value, `(${of}) AND (${cut}) AS ${cutOf(name)}`]
  }),
  ...Object.entries(foreignMeasures).map(
    ([name, { sql }]) => `CASE WHEN ${succeeded} THEN ${sql} END AS ${name}`,
  ),
]

const entries = measureNames.map(
  (name) =>
    `{measure: '${sqlName(name)}', us: ${columnOf(name)}::DOUBLE, at_least: ${cutOf(name) ?? 'false'}}`,
)

/**
 * The views of the store: `attempt_values` has a column for each measure, `attempt_measures` has a row
 * for each, and `attempt_times` is `attempt_values` with times of day.
 */
const views = `
CREATE OR REPLACE VIEW attempt_values AS
SELECT attempts.*,
  ${columns.join(',\n  ')}
FROM attempts;
CREATE OR REPLACE VIEW attempt_times AS
SELECT attempt_values.*,
  runs.started_at + to_microseconds(intended_us) AS intended_at,
  runs.started_at + to_microseconds(coalesce(closed_us, intended_us)) AS closed_at,
  runs.time_scale
FROM attempt_values JOIN runs USING (run_id);
CREATE OR REPLACE VIEW attempt_measures AS
SELECT * EXCLUDE (entry), entry.measure, entry.us, entry.at_least
FROM (
  SELECT run_id, slot, retry, phase, part, step, endpoint, model, account, outcome, on_purpose,
    unnest([${entries.join(',\n      ')}]) AS entry
  FROM attempt_values
)
WHERE entry.us IS NOT NULL;
${taskViews}
${usageViewSql};`

/** A store keeps the digest as the comment of `attempt_measures`. */
export const measureViews = {
  sql: views,
  digest: createHash('sha256').update(views).digest('hex').slice(0, 16),
}
