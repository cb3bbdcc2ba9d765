import { z } from 'zod'
import { documentsOf, shaped } from './documents.ts'
import type { ForeignAttempt, ForeignRun } from './foreign-attempt.ts'

const seconds = z.number().nullish()
const tokens = z.looseObject({ text_tokens: seconds, total_tokens: seconds }).nullish()

/** A request. Its times are under `info.timings`; files before version 0.4 have them next to the tokens. */
const requestShape = z.looseObject({
  request_id: z.string().nullish(),
  response_id: z.string().nullish(),
  request_type: z.string().nullish(),
  info: z
    .looseObject({
      error: z.string().nullish(),
      timings: z.looseObject({
        targeted_start: seconds,
        resolve_start: seconds,
        request_start: seconds,
        first_token_iteration: seconds,
        last_token_iteration: seconds,
        token_iterations: seconds,
        request_end: seconds,
        resolve_end: seconds,
      }),
    })
    .nullish(),
  error: z.string().nullish(),
  prompt_tokens: seconds,
  output_tokens: seconds,
  input_metrics: tokens,
  output_metrics: tokens,
  start_time: seconds,
  end_time: seconds,
  first_token_time: seconds,
  last_token_time: seconds,
})

const requests = z.array(requestShape).nullish()

const reportShape = z.looseObject({
  benchmarks: z
    .array(
      z.looseObject({
        config: z.unknown().optional(),
        args: z.unknown().optional(),
        requests: z.looseObject({ successful: requests, incomplete: requests, errored: requests }),
      }),
    )
    .min(1),
})

type Request = z.infer<typeof requestShape>
type Outcome = 'ok' | 'aborted' | 'broken'

/**
 * Reads GuideLLM's report, `benchmarks.json`: one run for each benchmark, times in Unix seconds. Its TTFT is the first
 * event with content, reasoning or a tool call, as in our runs. It keeps no gaps between tokens.
 *
 * @throws UserError when it is no such report, or has no requests
 */
export function readGuidellm(
  text: string,
  file: string,
  model: string | null,
): readonly ForeignRun[] {
  const [report] = documentsOf(text, file)
  const expected = `${file}: expected benchmarks.json of GuideLLM`
  const { benchmarks } = shaped(reportShape, report, expected, 'the report')
  return benchmarks.flatMap((benchmark) => {
    const { successful, incomplete, errored } = benchmark.requests
    const found = [
      ...(successful ?? []).map((request) => [request, 'ok'] as const),
      ...(incomplete ?? []).map((request) => [request, 'aborted'] as const),
      ...(errored ?? []).map((request) => [request, 'broken'] as const),
    ].map(([request, outcome]) => ({ request, outcome, times: timesOf(request) }))
    const timed = found.filter(({ times }) => times.startS !== null)
    if (timed.length === 0) return []
    const firstS = timed.reduce(
      (least, { times }) => Math.min(least, times.targetS ?? times.startS!, times.startS!),
      Infinity,
    )
    const settings = (benchmark.config ?? benchmark.args ?? {}) as Readonly<Record<string, unknown>>
    return [
      {
        startedAtUs: Math.round(firstS * 1e6),
        name: 'guidellm',
        attempts: timed.map(({ request, outcome }, slot) =>
          attemptOf(request, outcome, slot, firstS, model),
        ),
        gapsUs: [],
        settings,
        lacks: [
          'gaps between tokens: ITL is not known',
          ...(timed.some(({ times }) => times.targetS !== null)
            ? []
            : ['intended times: response time equals service time, lag is not known']),
          ...(found.length > timed.length
            ? [`times of ${found.length - timed.length} requests, which are left out`]
            : []),
          ...(model === null ? ['models: name it with --model'] : []),
          'statuses: a failure is known by its message alone',
          'credits and rate-limit headers: billing and limits cannot be audited',
        ],
        rejects: [],
      },
    ]
  })
}

interface Times {
  readonly targetS: number | null
  readonly startS: number | null
  readonly firstS: number | null
  readonly lastS: number | null
  readonly endS: number | null
}

function timesOf(request: Request): Times {
  const timings = request.info?.timings
  return {
    targetS: timings?.targeted_start ?? null,
    startS: timings?.request_start ?? timings?.resolve_start ?? request.start_time ?? null,
    firstS: timings?.first_token_iteration ?? request.first_token_time ?? null,
    lastS: timings?.last_token_iteration ?? request.last_token_time ?? null,
    endS: timings?.request_end ?? timings?.resolve_end ?? request.end_time ?? null,
  }
}

function attemptOf(
  request: Request,
  outcome: Outcome,
  slot: number,
  firstS: number,
  model: string | null,
): ForeignAttempt {
  const times = timesOf(request)
  const sentUs = Math.round((times.startS! - firstS) * 1e6)
  // Relative to the send time: the difference of two Unix times is exact to a quarter of a microsecond.
  const after = (s: number | null) =>
    s === null ? null : sentUs + Math.round((s - times.startS!) * 1e6)
  const error = request.info?.error ?? request.error ?? null
  const counted = (count: number | null | undefined) => (count == null ? null : Math.round(count))
  const firstContentUs = after(times.firstS)
  return {
    slot,
    step: 'guidellm',
    part: 'steady',
    endpoint: /text_completions/.test(request.request_type ?? '') ? 'other' : 'chat',
    streamed: firstContentUs === null ? 0 : 1,
    model,
    intendedUs: times.targetS === null ? sentUs : Math.round((times.targetS - firstS) * 1e6),
    dispatchedUs: times.targetS === null ? null : sentUs,
    sentUs,
    firstContentUs,
    lastContentUs: after(times.lastS),
    doneUs: outcome === 'ok' ? after(times.endS) : null,
    closedUs: after(times.endS),
    outcome: outcome === 'broken' && /timeout/i.test(error ?? '') ? 'timeout' : outcome,
    reason: outcome === 'ok' ? null : (error?.trim().split('\n').at(-1)?.slice(0, 120) ?? outcome),
    responseId: request.response_id ?? request.request_id ?? null,
    promptTokens: counted(
      request.prompt_tokens ??
        request.input_metrics?.total_tokens ??
        request.input_metrics?.text_tokens,
    ),
    completionTokens: counted(
      request.output_tokens ??
        request.output_metrics?.total_tokens ??
        request.output_metrics?.text_tokens,
    ),
    contentEvents: counted(request.info?.timings.token_iterations) ?? 0,
  }
}
