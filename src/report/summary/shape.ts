import { z } from 'zod'
import { measureNames } from '../../measure/measures.ts'
import { validities } from '../../store/runs/run-end.ts'
import { certificateShape } from '../certificate/shape.ts'

/**
 * The shape of a run's summary: the only source of figures for the terminal, the pages, the comparison and the
 * exports. `docs/schema/run-summary.json` is generated from it, and a test keeps them equal. Times are microseconds;
 * null is "not measured", never zero.
 */

/** What the figures of a run cover: its steady phases, or every phase. */
export const runParts = ['steady', 'all'] as const
export type RunPart = (typeof runParts)[number]

const count = z.number().int().nonnegative()
const measured = z.number().nullable()

/** A percentile and its reliability. */
export const percentileShape = z.object({
  us: measured,
  mark: z
    .enum(['exact', 'rounded', 'at-least', 'too-few', 'none'])
    .describe(
      'exact; rounded: from a histogram, within 0.1 %; at-least: censored samples lie below it, the truth can only be larger; too-few: fewer samples than needs; none: no samples',
    ),
  needs: count.describe('samples for 99 % confidence'),
})

export const distributionShape = z.object({
  n: count.describe('samples, with the censored ones'),
  censored: count.describe(
    'timeouts and streams without text, entered at their end: at least so long',
  ),
  lowestCensoredUs: measured.describe(
    'the shortest of the censored: from there on, percentiles are at least',
  ),
  meanUs: measured,
  minUs: measured,
  maxUs: measured,
  p50: percentileShape,
  p90: percentileShape,
  p95: percentileShape,
  p99: percentileShape,
  p999: percentileShape,
})

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

const boundsShape = z.object({
  from: z.number().describe('microseconds'),
  to: measured.describe('null in the last bucket: at least `from`'),
})

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

export const summaryShape = z.object({
  format: z.literal('assay-run-summary/1'),
  run: z.object({
    runId: z.string(),
    kind: z.string(),
    scenario: z.string(),
    seed: z.number(),
    baseUrl: z.string(),
    contract: z.string(),
    startedAt: z.string().describe('ISO 8601, UTC'),
    endedS: measured.describe('null while it runs, and after a kill'),
    timeScale: z.number(),
    assayVersion: z.string(),
    machine: z.record(z.string(), z.unknown()),
  }),
  verdict: z.enum(validities).nullable(),
  verdictTests: z.array(z.unknown()).describe('each test with its figure and remedy'),
  countsAddUp: z.boolean(),
  certificate: certificateShape
    .nullable()
    .describe(
      'of a search that asks short prompts for one token at rest and in its load, after an audit (docs/guides/before-launch.md)',
    ),
  part: z.enum(runParts).describe('which part of the run the figures cover'),
  closedPhases: z
    .array(z.string())
    .describe(
      'phases of that part whose load is closed: their response times leave out the waiting that an open load would show',
    ),
  all: groupShape,
  steps: z.array(groupShape),
  errors: z.array(
    z.object({
      outcome: z.string(),
      status: z.number().nullable(),
      code: z.string().nullable(),
      reason: z.string().nullable(),
      said: z.string().nullable().describe('the body of one of them, or its message'),
      onPurpose: z.boolean().describe('met by requests that were built to meet an error'),
      count,
    }),
  ),
  tasks: z
    .array(
      z.object({
        task: z.string(),
        counts: z.object({
          tasks: count.describe('tasks = ok + failed + deadline + stopped'),
          ok: count,
          failed: count,
          deadline: count.describe('cut off by their deadline'),
          stopped: count.describe('ended with the run, so neither a success nor a failure'),
        }),
        success: measured.describe('ok / (tasks - stopped)'),
        requestsEach: measured.describe('mean of the requests that ended'),
        creditsEach: measured.describe(
          'mean price by the contract; null if it states none of a model',
        ),
        money: z
          .object({ unit: z.string(), spent: z.string(), priced: count, unknown: count })
          .nullable()
          .describe(
            'what all of them cost together, an exact decimal; null if the contract states no prices',
          ),
        times: z.object({ task: distributionShape, taskService: distributionShape }),
      }),
    )
    .describe('tasks of agents that started at their start, by name; empty without any'),
  lengths: z
    .array(
      z.object({
        step: z.string(),
        isTrace: z
          .boolean()
          .describe('asked for by the trace of a replay; else by output_tokens of the step'),
        answers: count.describe('successes that reported their tokens'),
        askedTokens: count.describe('tokens that their requests asked for'),
        tokens: count.describe('that came'),
        whole: count.describe('answers with as many tokens as asked for, or more'),
      }),
    )
    .describe('how long answers are, of steps that say how long; empty if none does'),
  fluidity: z
    .array(
      z.object({
        step: z.string(),
        streams: count.describe('successes with deadlines of tokens'),
        known: count.describe('those of them whose events hold one token each'),
        deadlines: measured.describe('of these: deadlines that were kept or missed'),
        missed: measured.describe('deadlines that were missed'),
        fluent: count.describe('streams that kept 90 % of their deadlines or more'),
      }),
    )
    .describe('token deadlines that were kept, by step; empty without token_deadlines'),
  wrongAnswers: z
    .array(
      z.object({
        step: z.string(),
        slot: z.number(),
        retry: z.number(),
        atS: z.number().describe('its end, seconds since the run began'),
        why: z.string(),
        answer: z.string().describe('its text or tool calls, cut, without keys'),
      }),
    )
    .describe('the first ten answers that are wrong or could not be checked'),
  money: z
    .object({
      unit: z.string().describe('currency of the contract'),
      spent: z.string().describe('exact decimal: the sum of the known costs by the contract'),
      priced: count.describe('attempts with a known cost'),
      unknown: count.describe('attempts whose cost the contract, or what they report, leaves open'),
      steps: z.array(
        z.object({ step: z.string(), spent: z.string(), priced: count, unknown: count }),
      ),
    })
    .nullable()
    .describe('by the prices of the contract; null if it states none for these models'),
  credits: z.object({
    stated: z
      .boolean()
      .describe('whether the contract states a price in credits of any model of the run'),
    spent: measured.describe(
      'price of the successes by the contract, with those of other tries; null with an unknown price',
    ),
    spentAtMost: measured.describe('with aborted, broken and timed-out attempts charged'),
    balances: z
      .array(
        z.object({
          account: z.string(),
          first: z.number(),
          last: z.number(),
          taken: z.number().describe('first - last'),
          expected: measured.describe(
            'price of what was surely charged between the two readings; null with an unknown price',
          ),
          expectedAtMost: measured.describe(
            'with requests in flight at either reading, and those without a known end',
          ),
          unexplained: measured.describe(
            'taken beyond expectedAtMost, or below expected (negative): what nothing explains',
          ),
        }),
      )
      .describe('first and last X-Credits-Remaining of each account, and what lies between'),
    otherTries: z
      .array(z.object({ runId: z.string(), spent: measured }))
      .describe('tries of a shard of this run beside the one that counts'),
  }),
  service: z
    .object({
      sources: z.array(
        z.object({
          url: z.string(),
          kind: z.string().nullable().describe('vLLM, SGLang, …; null for one that is not known'),
          everyUs: z.number(),
          looks: count,
          gaps: count.describe('looks without an answer'),
          sawEnd: z.boolean().describe('the look after the last request was answered'),
          restartsUs: z.array(z.number()).describe('when its counters began again'),
          answersInTurns: z
            .boolean()
            .describe('several replicas answered in turns, so its counts say nothing'),
        }),
      ),
      reconciliation: z
        .array(
          z.object({
            what: z.string(),
            client: measured,
            service: z.number(),
            verdict: z.enum(['equal', 'differs', 'unknown']),
            cause: z.string().nullable().describe('of a difference, where one is known'),
          }),
        )
        .describe('counts of the whole run'),
      times: z
        .record(z.string(), z.object({ meanUs: z.number(), count, p95: boundsShape.nullable() }))
        .describe('of the steady part; p95 lies between the edges of its bucket'),
      gauges: z
        .record(z.string(), z.object({ least: z.number(), most: z.number() }))
        .describe('of the steady part, as sampled; shares from 0 to 1, power in watts'),
      gpuEnergyJ: measured.describe('of the GPUs that an exporter reports, over the whole run'),
      gpuEnergyPerTokenJ: measured.describe('of it, for each output token of a success'),
      answers: z
        .object({
          answers: count.describe('successes that state their times'),
          of: count.describe('successes of the same kind'),
          streamed: z.boolean(),
          clientUs: z.number().describe('their mean TTFT; of plain answers, service time'),
          queueUs: z.number().nullable().describe('null is not stated'),
          prefillUs: z.number(),
          decodeUs: z.number().nullable(),
        })
        .nullable()
        .describe('means of the times that answers state; null if none does'),
      ttft: z.string().nullable().describe('the parts of the mean TTFT, where they are known'),
      limit: z.string().nullable().describe('what held requests back'),
    })
    .nullable()
    .describe(
      'what the service said of itself; null for a run that read no metrics and whose answers state no times',
    ),
})

export type Percentile = z.infer<typeof percentileShape>
export type Distribution = z.infer<typeof distributionShape>

export type MetricName = (typeof metricNames)[number]
export type SummaryGroup = z.infer<typeof groupShape>
export type RunSummary = z.infer<typeof summaryShape>

/** The percentiles of every table, as shares. */
export const percentiles = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
] as const
