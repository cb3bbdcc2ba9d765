import { z } from 'zod'
import { validities } from '../../store/runs/run-end.ts'
import { certificateShape } from '../certificate/shape.ts'
import { count, distributionShape, measured } from './distribution-shape.ts'
import { groupShape } from './group-shape.ts'
import { serviceShape } from './service-shape.ts'

/**
 * The shape of a run's summary: the only source of figures for the terminal, the pages, the comparison and the
 * exports. `docs/schema/run-summary.json` is generated from it, and a test keeps them equal. Times are microseconds;
 * null is "not measured", never zero.
 */

/** What the figures of a run cover: its steady phases, or every phase. */
export const runParts = ['steady', 'all'] as const
export type RunPart = (typeof runParts)[number]

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
        requestsEach: measured.describe('mean of the requests of tasks - stopped'),
        creditsEach: measured.describe(
          'mean price of tasks - stopped by the contract; null if it states none of a model',
        ),
        money: z
          .object({ unit: z.string(), spent: z.string(), priced: count, unknown: count })
          .nullable()
          .describe(
            'what tasks - stopped cost together, an exact decimal; null if the contract states no prices',
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
  service: serviceShape
    .nullable()
    .describe(
      'what the service said of itself; null for a run that read no metrics and whose answers state no times',
    ),
})

export type RunSummary = z.infer<typeof summaryShape>
