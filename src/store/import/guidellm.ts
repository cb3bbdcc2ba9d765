import { z } from 'zod'
import { smallest } from '../../user/extremes.ts'
import { objectOf } from '../../user/json.ts'
import { documentsOf, shaped } from './documents.ts'
import { type ForeignAttempt, type ForeignRun, lastLine } from './foreign-attempt.ts'

const figure = z.number().nullish()
const tokens = z.looseObject({ text_tokens: figure, total_tokens: figure }).nullish()

/** A request. Its times are under `info.timings`; files before version 0.4 have them next to the tokens. */
const requestShape = z.looseObject({
  request_id: z.string().nullish(),
  response_id: z.string().nullish(),
  request_type: z.string().nullish(),
  info: z
    .looseObject({
      error: z.string().nullish(),
      timings: z.looseObject({
        targeted_start: figure,
        resolve_start: figure,
        request_start: figure,
        first_token_iteration: figure,
        last_token_iteration: figure,
        token_iterations: figure,
        request_end: figure,
        resolve_end: figure,
      }),
    })
    .nullish(),
  error: z.string().nullish(),
  prompt_tokens: figure,
  output_tokens: figure,
  input_metrics: tokens,
  output_metrics: tokens,
  start_time: figure,
  end_time: figure,
  first_token_time: figure,
  last_token_time: figure,
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
 * @throws UserError when it is no such report
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
    const all = [
      ...(successful ?? []).map((request) => seen(request, 'ok')),
      ...(incomplete ?? []).map((request) => seen(request, 'aborted')),
      ...(errored ?? []).map((request) => seen(request, 'broken')),
    ]
    const timed = all.filter(isTimed)
    if (timed.length === 0) return []
    const originS = smallest(
      timed.map(({ times }) => Math.min(times.targetS ?? times.startS, times.startS)),
    )
    return [
      {
        startedAtUs: us(originS),
        name: 'guidellm',
        attempts: timed.map((request, slot) => attemptOf(request, { slot, originS, model })),
        itlUs: [],
        settings: objectOf(benchmark.config ?? benchmark.args),
        lacks: [
          'gaps between tokens: ITL is not known',
          ...(timed.some(({ times }) => times.targetS !== null)
            ? []
            : ['intended times: response time equals service time, lag is not known']),
          ...(all.length > timed.length
            ? [`times of ${all.length - timed.length} requests, which are left out`]
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

/** A request with its outcome and times. */
interface Seen<StartS = number | null> {
  readonly request: Request
  readonly outcome: Outcome
  readonly times: Times & { readonly startS: StartS }
}

const seen = (request: Request, outcome: Outcome): Seen => ({
  request,
  outcome,
  times: timesOf(request),
})

const isTimed = (each: Seen): each is Seen<number> => each.times.startS !== null

const us = (seconds: number) => Math.round(seconds * 1e6)

/** Unix seconds. */
interface Times {
  readonly targetS: number | null
  readonly startS: number | null
  readonly firstTokenS: number | null
  readonly lastTokenS: number | null
  readonly endS: number | null
}

function timesOf(request: Request): Times {
  const timings = request.info?.timings
  return {
    targetS: timings?.targeted_start ?? null,
    startS: timings?.request_start ?? timings?.resolve_start ?? request.start_time ?? null,
    firstTokenS: timings?.first_token_iteration ?? request.first_token_time ?? null,
    lastTokenS: timings?.last_token_iteration ?? request.last_token_time ?? null,
    endS: timings?.request_end ?? timings?.resolve_end ?? request.end_time ?? null,
  }
}

/** Where a request stands in its run. */
interface RunPlace {
  readonly slot: number
  /** Microsecond 0 of the run, in Unix seconds. */
  readonly originS: number
  readonly model: string | null
}

function attemptOf(
  { request, outcome, times }: Seen<number>,
  { slot, originS, model }: RunPlace,
): ForeignAttempt {
  const sentUs = us(times.startS - originS)
  // Relative to the send time: the difference of two Unix times is exact to a quarter of a microsecond.
  const after = (seconds: number | null) =>
    seconds === null ? null : sentUs + us(seconds - times.startS)
  const error = request.info?.error ?? request.error ?? null
  const counted = (count: number | null | undefined) => (count == null ? null : Math.round(count))
  const firstContentUs = after(times.firstTokenS)
  return {
    slot,
    step: 'guidellm',
    part: 'steady',
    endpoint: /text_completions/.test(request.request_type ?? '') ? 'other' : 'chat',
    streamed: firstContentUs === null ? 0 : 1,
    model,
    intendedUs: times.targetS === null ? sentUs : us(times.targetS - originS),
    dispatchedUs: times.targetS === null ? null : sentUs,
    sentUs,
    firstContentUs,
    lastContentUs: after(times.lastTokenS),
    doneUs: outcome === 'ok' ? after(times.endS) : null,
    closedUs: after(times.endS),
    outcome: outcome === 'broken' && /timeout/i.test(error ?? '') ? 'timeout' : outcome,
    reason: outcome === 'ok' ? null : lastLine(error, outcome),
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
