import { z } from 'zod'
import { largest, smallest } from '../../user/extremes.ts'
import { words } from '../../user/words.ts'
import { documentsOf, shaped } from './documents.ts'
import { type ForeignAttempt, type ForeignRun, lastLine } from './foreign-attempt.ts'

const numbers = z.array(z.number().nullable())

/** The result of `vllm bench serve --save-result --save-detailed`; other fields are its settings. */
const resultShape = z.looseObject({
  date: z.string().nullish(),
  backend: z.string().nullish(),
  endpoint_type: z.string().nullish(),
  model_id: z.string().nullish(),
  duration: z.number().nullish(),
  input_lens: numbers,
  output_lens: numbers,
  ttfts: numbers,
  itls: z.array(z.array(z.number())),
  latencies: numbers.optional(),
  start_times: numbers.optional(),
  queue_times: numbers.optional(),
  errors: z.array(z.string().nullable()).optional(),
})

type VllmResult = z.infer<typeof resultShape>

const settingNames = words(
  'request_rate burstiness max_concurrency num_prompts tokenizer_id backend model_id',
)

/**
 * Reads detailed results of vLLM's benchmark: one run per object (`--append-result` writes several into a file). Times
 * are seconds on its own clock. Its TTFT is the first chunk with choices, even an empty one, so it may be earlier.
 *
 * @throws UserError when the file is no such result, or was saved without the details
 */
export function readVllm(text: string, file: string): readonly ForeignRun[] {
  const expected = `${file}: expected a result of vllm bench serve --save-result --save-detailed`
  return documentsOf(text, file).map((value, at) =>
    runOf(shaped(resultShape, value, expected, `object ${at + 1}`)),
  )
}

function runOf(result: VllmResult): ForeignRun {
  const starts = result.start_times ?? []
  const queued = result.queue_times ?? []
  // Its clock has no zero of its own: of a request without a start, 0 or null, nothing is known but that it was in the run.
  const arrivals = result.input_lens.map((_, at) =>
    starts[at] ? starts[at] - (queued[at] ?? 0) : null,
  )
  const firstS = smallest(arrivals.filter((atS) => atS !== null))
  const attempts = arrivals.map((atS, at) => attemptOf(result, at, atS === null ? 0 : atS - firstS))
  return {
    startedAtUs: startOf(result),
    name: 'vllm bench serve',
    attempts,
    // ITL is that of streams that succeeded.
    itlUs: result.itls.flatMap((gaps, at) =>
      attempts[at]?.outcome === 'ok' ? gaps.map((seconds) => seconds * 1e6) : [],
    ),
    settings: Object.fromEntries(settingNames.map((name) => [name, result[name] ?? null])),
    lacks: [
      'the date to better than its end in local time without an offset: hours of day are not to be trusted',
      ...(starts.length === 0
        ? ['start times: there are no figures over time, and rates are not those of the run']
        : []),
      ...(queued.length === 0
        ? ['intended times: response time equals service time, lag is not known']
        : []),
      ...(result.latencies === undefined
        ? ['latencies: the sum of TTFT and the gaps is used instead']
        : []),
      'statuses: a failure is known by its message alone',
      'credits and rate-limit headers: billing and limits cannot be audited',
    ],
    rejects: [],
  }
}

/** @param arrivalS since the first arrival */
function attemptOf(result: VllmResult, at: number, arrivalS: number): ForeignAttempt {
  const us = (seconds: number) => Math.round(seconds * 1e6)
  const error = result.errors?.[at] ?? ''
  const ok = error === '' && (result.output_lens[at] ?? 0) > 0
  const gaps = result.itls[at] ?? []
  const ttftS = result.ttfts[at] ?? null
  const sentUs = us(arrivalS + (result.queue_times?.[at] ?? 0))
  const summed = (ttftS ?? 0) + gaps.reduce((sum, gap) => sum + gap, 0)
  const latencyUs = us(result.latencies?.[at] ?? summed)
  // A single token has a TTFT but no gap. Responses that were not streamed have neither.
  const streamed = ok && ttftS !== null && ttftS > 0
  const chat = /chat/.test(`${result.backend} ${result.endpoint_type}`)
  return {
    slot: at,
    step: 'vllm',
    endpoint: chat ? 'chat' : 'other',
    streamed: streamed ? 1 : 0,
    model: result.model_id ?? null,
    intendedUs: us(arrivalS),
    dispatchedUs: result.queue_times === undefined ? null : us(arrivalS),
    sentUs,
    firstEventUs: streamed ? sentUs + us(ttftS) : null,
    firstContentUs: streamed ? sentUs + us(ttftS) : null,
    lastContentUs: streamed ? sentUs + us(summed) : null,
    doneUs: ok ? sentUs + latencyUs : null,
    closedUs: ok || latencyUs > 0 ? sentUs + latencyUs : null,
    outcome: ok ? 'ok' : /timeout/i.test(error) ? 'timeout' : 'broken',
    reason: ok ? null : lastLine(error, 'failed'),
    promptTokens: result.input_lens[at] ?? null,
    completionTokens: ok ? (result.output_lens[at] ?? null) : null,
    contentEvents: streamed ? gaps.length + 1 : 0,
    events: streamed ? gaps.length + 1 : 0,
    itlMaxUs: gaps.length > 0 ? largest(gaps) * 1e6 : null,
  }
}

/** `20261101-093000` is when the result was written. The run began `duration` seconds earlier. */
function startOf({ date, duration }: VllmResult): number {
  const written = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/
  const endMs = written.test(date ?? '')
    ? Date.parse(date!.replace(written, '$1-$2-$3T$4:$5:$6Z'))
    : Number.NaN
  return Number.isNaN(endMs) ? 0 : endMs * 1000 - Math.round((duration ?? 0) * 1e6)
}
