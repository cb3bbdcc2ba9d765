import { figuresOf, sharedPrefixes, type TraceFigures } from '../../schedule/traces/figures.ts'
import type { LeftOut, Recorded, Trace } from '../../schedule/traces/trace.ts'
import { counted } from '../../user/grouped.ts'

/** A trace as it was read, before anything is sent. */
export interface TracePlan extends TraceFigures {
  readonly format: string
  readonly times: string
  readonly tokensPerBlock: number | null
  readonly leftOut: readonly LeftOut[]
  /** At most a hundred. */
  readonly firstRequests: readonly TracedRequest[]
}

interface TracedRequest extends Recorded {
  readonly dueMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  /** Tokens at its start that an earlier request had at its start; null without ids of blocks. */
  readonly sharedPrefixTokens: number | null
  readonly session: string | null
  readonly turn: number | null
  /** Index of the request whose end it waited for, and the time between their starts. */
  readonly after: number | null
  readonly gapMs: number | null
  readonly stream: boolean | null
}

export function tracePlanOf(trace: Trace): TracePlan {
  const { format, times, tokensPerBlock, leftOut, requests } = trace
  const shared = sharedPrefixes(requests, tokensPerBlock)
  const firstRequests = requests.slice(0, 100).map((each, at): TracedRequest => {
    const { atUs, inputTokens, outputTokens, session, turn, after, stream } = each
    return {
      dueMs: atUs / 1000,
      promptTokens: inputTokens,
      outputTokens,
      sharedPrefixTokens: shared?.[at] ?? null,
      session,
      turn,
      after,
      stream,
      gapMs: after === null ? null : (atUs - requests[after]!.atUs) / 1000,
      ...each.recorded,
    }
  })
  return { format, times, tokensPerBlock, leftOut, ...figuresOf(trace), firstRequests }
}

/** What a replay sends, in sentences. */
export function traceText(plan: TracePlan, speed: number): readonly string[] {
  const { requests, spanS, meanPerS, peakPerS, promptTokensPerS, repeatedShare } = plan
  const rates =
    meanPerS === null
      ? 'all at once'
      : `${figure(meanPerS * speed)}/s on average, ${figure(peakPerS * speed)}/s in the busiest second`
  return [
    `${plan.format} trace, times in ${plan.times}`,
    `${counted(requests, 'request')} over ${figure(spanS / speed)} s: ${rates}`,
    ...(promptTokensPerS === null ? [] : [`${figure(promptTokensPerS * speed)} prompt tokens/s`]),
    repeatedShare === null
      ? 'repeated prompt tokens: the trace does not say'
      : `repeated prompt tokens: ${figure(repeatedShare * 100)} %, in blocks of ${plan.tokensPerBlock}`,
    `longest context ${plan.longestContextTokens} tokens`,
    ...(plan.sessions === 0
      ? []
      : [`${counted(plan.sessions, 'session')} of at most ${counted(plan.mostTurns, 'request')}`]),
    ...(plan.recordedFailures === 0
      ? []
      : [
          `${counted(plan.recordedFailures, 'recorded failure')} ${plan.recordedFailures === 1 ? 'is' : 'are'} sent as requests`,
        ]),
    ...plan.leftOut.map(({ rows, reason }) => `${counted(rows, 'row')} left out: ${reason}`),
  ]
}

const figure = (value: number) => String(Number(value.toPrecision(3)))
