import { z } from 'zod'
import { measureNames } from '../../measure/measures.ts'
import { count, distributionShape, measured } from './distribution-shape.ts'

export const countsShape = z.object({
  attempts: count.describe('rows: attempts = sent + notSent'),
  notSent: count,
  sent: count.describe('sent = ok + httpError + broken + timeout + aborted'),
  ok: count,
  httpError: count,
  broken: count,
  timeout: count,
  aborted: count,
  retries: count.describe('rows that are a second or later attempt'),
  failed: count.describe('sent, and ended otherwise than meant to; deliberate aborts are none'),
  onPurpose: count.describe('deliberate aborts, and errors that requests were built to meet'),
  judged: count.describe(
    'meant to succeed, and ended without an abort: what goodput is a share of',
  ),
  good: count.nullable().describe('successes that met every objective; null without objectives'),
  maybeGood: count
    .nullable()
    .describe(
      'successes that are not among `good` because something of them is not known: TPOT, or whether the answer is correct',
    ),
  notClosed: count.describe(
    'successes whose stream said its end and left its body open, until this client closed it',
  ),
  empty: count.describe('successes of chat and messages that hold no text, reasoning or tool call'),
})

/** Gaps between events do not belong to single attempts: they come from histograms. */
export const metricNames = [...measureNames, 'itl'] as const

export const groupShape = z.object({
  step: z.string().nullable().describe('null for all steps together'),
  counts: countsShape,
  goodput: measured.describe(
    'good / judged, the least that it can be if maybeGood is not 0; null without objectives',
  ),
  correctness: z
    .object({
      examined: count.describe('successes of steps that say what an answer must hold'),
      correct: count,
      unchecked: count.describe('neither correct nor wrong: why is in wrongAnswers'),
      lacks: z
        .record(z.string(), count)
        .describe('wrong answers by what they lack first: contains, matches, json, …'),
    })
    .nullable()
    .describe('what answers say; null if no step says what it expects'),
  spanS: measured.describe('from the first intended to the last closed'),
  arrivalS: measured.describe(
    'from the first to the last arrival: rates of arrivals are over it, and rates of completions over as long a steady part',
  ),
  okPerS: measured.describe('completed in the steady part'),
  sentPerS: measured.describe('over the time of arrivals'),
  promptTokens: measured.describe('of successes that report them'),
  cachedShare: measured.describe(
    'share of these that a cache had, of successes that report it; null if none does',
  ),
  completionTokens: measured,
  completionTokensPerS: measured.describe('completed in the steady part'),
  tokenReports: z
    .object({
      answers: count.describe('successes of chat and messages'),
      reported: count.describe(
        'those that report their tokens; completionTokens is of these alone',
      ),
      inPart: count.describe(
        'those that are streams without TPOT, because it is not known how many of their tokens were streamed',
      ),
      hidden: measured.describe(
        'tokens of reasoning that streams counted and did not hold, which TPOT leaves out; null without any',
      ),
      hiddenIn: count.describe('those streams'),
      estimated: measured.describe(
        'content events of the streams among the others: an estimate of their tokens; null without such a stream',
      ),
    })
    .describe('how many answers the token counts are of'),
  tokenParts: z
    .object({
      inputUncached: measured.describe('of the prompts: text that no cache had'),
      cacheRead: measured.describe('of the prompts: read from a cache'),
      cacheWritten: measured.describe('of the prompts: written to a cache'),
      outputVisible: measured.describe('of the output: text that is shown'),
      reasoning: measured.describe('of the output: reasoning'),
    })
    .describe(
      'tokens of successes by part, each in one; null: none reports that part, so that its tokens, if any, are in inputUncached or outputVisible. Audio and images are in promptTokens and completionTokens alone',
    ),
  metrics: z.object(
    Object.fromEntries(metricNames.map((name) => [name, distributionShape])) as Record<
      (typeof metricNames)[number],
      typeof distributionShape
    >,
  ),
})

export type MetricName = (typeof metricNames)[number]
export type SummaryGroup = z.infer<typeof groupShape>
