import { z } from 'zod'
import { largest } from '../../user/extremes.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import type { ForeignAttempt, ForeignRun, Reject } from './foreign-attempt.ts'

const metric = z.looseObject({ value: z.union([z.number(), z.array(z.number()), z.null()]) })

/** A line of AIPerf's profile_export.jsonl. Other fields are ignored. */
const recordShape = z.looseObject({
  metadata: z
    .looseObject({
      x_request_id: z.string().nullish(),
      turn_index: z.number().nullish(),
      credit_issued_ns: z.number().nullish(),
      /** `timestamp_ns` in older records. */
      request_start_ns: z.number(),
      request_ack_ns: z.number().nullish(),
      request_end_ns: z.number().nullish(),
      benchmark_phase: z.string().nullish(),
      was_cancelled: z.boolean().nullish(),
    })
    // `parse` has made microseconds of them.
    .transform((metadata) => ({
      ...metadata,
      issuedUs: metadata.credit_issued_ns,
      startUs: metadata.request_start_ns,
      ackUs: metadata.request_ack_ns,
      endUs: metadata.request_end_ns,
    })),
  metrics: z.record(z.string(), metric).nullish(),
  error: z
    .looseObject({
      code: z.number().nullish(),
      type: z.string().nullish(),
      message: z.string().nullish(),
    })
    .nullish(),
})

type AiperfRecord = z.infer<typeof recordShape>

/** Nanoseconds since 1970 exceed 2^53. Their point is moved by three digits, so that they are parsed as microseconds. */
const nanoseconds =
  /("(?:request_(?:start|ack|end)|credit_issued|cancellation_time|timestamp)_ns"\s*:\s*)(\d{13,})(\d{3})\b/g

/**
 * Reads AIPerf's per-request records. Its TTFT is the first non-empty content, as in our runs. Its latencies begin
 * when the request was sent.
 *
 * @throws UserError when no line is such a record
 */
export function readAiperf(text: string, file: string, model: string | null): ForeignRun {
  const records: { readonly record: AiperfRecord; readonly line: number }[] = []
  const rejects: Reject[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const parsed = parse(line)
    if (typeof parsed === 'string') rejects.push({ line: at + 1, reason: parsed, text: line })
    else records.push({ record: parsed, line: at + 1 })
  }
  if (records.length === 0) {
    throw userError.import(
      `${file} has no AIPerf records: expected lines with metadata.request_start_ns (timestamp_ns in older ones), as in profile_export.jsonl`,
    )
  }
  const startsUs = records.map(({ record }) => earliestUs(record))
  const startedAtUs = startsUs.reduce((least, us) => Math.min(least, us), Infinity)
  const attempts = records.map(({ record }, slot) => attemptOf(record, slot, startedAtUs, model))
  const issued = records.some(({ record }) => record.metadata.issuedUs != null)
  return {
    startedAtUs,
    name: 'aiperf',
    attempts,
    // ITL is that of streams that succeeded.
    itlUs: records.flatMap(({ record }) => {
      if (isWarmup(record) || hasFailed(record)) return []
      const gaps = record.metrics?.inter_chunk_latency?.value
      return Array.isArray(gaps) ? gaps.map((ms) => ms * 1000) : []
    }),
    settings: {},
    lacks: [
      ...(issued ? [] : ['intended times: response time equals service time, lag is not known']),
      ...(model === null ? ['models: name it with --model'] : []),
      'credits and rate-limit headers: billing and limits cannot be audited',
      'connection times: pool wait is not known',
    ],
    rejects,
  }
}

function parse(line: string): AiperfRecord | string {
  const value = jsonOf(line.replace(nanoseconds, '$1$2.$3'))
  if (value === undefined) return 'expected JSON'
  const parsed = recordShape.safeParse(inTodaysNames(value))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  return `${issue.path.join('.')}: ${issue.message}`
}

/** Some fields had other names before version 0.3. */
function inTodaysNames(value: unknown): unknown {
  const record = objectOf(value)
  const [metadata, metrics] = [objectOf(record.metadata), objectOf(record.metrics)]
  if (!('timestamp_ns' in metadata)) return value
  const { timestamp_ns: request_start_ns, credit_phase: benchmark_phase } = metadata
  const { ttft } = metrics
  return {
    ...record,
    metadata: { request_start_ns, benchmark_phase, ...metadata },
    metrics: { ...(ttft === undefined ? {} : { time_to_first_token: ttft }), ...metrics },
  }
}

const earliestUs = ({ metadata: { issuedUs, startUs } }: AiperfRecord): number =>
  Math.min(issuedUs ?? Infinity, startUs)

/** nginx's status for a request that its client closed: the service did not answer it. */
const clientClosed = 499

const hasFailed = ({ error, metadata }: AiperfRecord) =>
  error != null || metadata.was_cancelled === true

function attemptOf(
  record: AiperfRecord,
  slot: number,
  startedAtUs: number,
  model: string | null,
): ForeignAttempt {
  const { metadata, error } = record
  const since = (us: number | null | undefined) =>
    us == null ? null : Math.round(us - startedAtUs)
  const number = (name: string) => {
    const value = record.metrics?.[name]?.value
    return typeof value === 'number' ? value : null
  }
  const sentUs = Math.round(metadata.startUs - startedAtUs)
  const after = (ms: number | null) => (ms === null ? null : Math.round(sentUs + ms * 1000))
  const firstContentUs = after(number('time_to_first_token'))
  const gaps = record.metrics?.inter_chunk_latency?.value
  const streamed = firstContentUs !== null || Array.isArray(gaps)
  const doneUs = after(number('request_latency'))
  const failed = hasFailed(record)
  const code = error?.code ?? null
  const status = code !== null && code >= 100 && code <= 599 && code !== clientClosed ? code : null
  return {
    slot,
    session: null,
    turn: metadata.turn_index ?? null,
    step: 'aiperf',
    part: isWarmup(record) ? 'warmup' : 'steady',
    endpoint: 'chat',
    streamed: streamed ? 1 : 0,
    model,
    intendedUs: since(metadata.issuedUs) ?? sentUs,
    dispatchedUs: since(metadata.issuedUs) === null ? null : sentUs,
    sentUs,
    headersUs: since(metadata.ackUs),
    firstContentUs,
    lastContentUs: streamed ? doneUs : null,
    doneUs: failed ? null : doneUs,
    closedUs: since(metadata.endUs) ?? doneUs,
    outcome: outcomeOf(record, status),
    reason: failed ? (error?.type ?? 'cancelled') : null,
    status: failed ? status : 200,
    errorType: error?.type ?? null,
    responseId: metadata.x_request_id ?? null,
    promptTokens: rounded(number('input_sequence_length') ?? number('error_isl')),
    completionTokens: rounded(number('output_sequence_length') ?? number('output_token_count')),
    // An answer of one piece has no gap.
    contentEvents: streamed ? (Array.isArray(gaps) ? gaps.length : 0) + 1 : 0,
    itlMaxUs: Array.isArray(gaps) && gaps.length > 0 ? largest(gaps) * 1000 : null,
  }
}

function isWarmup({ metadata }: AiperfRecord): boolean {
  return metadata.benchmark_phase === 'warmup'
}

function outcomeOf(
  { metadata, error }: AiperfRecord,
  status: number | null,
): ForeignAttempt['outcome'] {
  if (metadata.was_cancelled === true || error?.type === 'RequestCancellationError')
    return 'aborted'
  if (error == null) return 'ok'
  if (/timeout/i.test(error.type ?? '')) return 'timeout'
  return status !== null && status >= 400 ? 'http_error' : 'broken'
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value)
}
