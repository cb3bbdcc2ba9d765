import { sqlName } from '../attempt/columns.ts'
import {
  answered,
  asStream,
  began,
  ended,
  streamedTokens,
  streams,
  succeeded,
  textUs,
} from './row-sql.ts'

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
