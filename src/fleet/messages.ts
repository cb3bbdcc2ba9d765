import { z } from 'zod'
import type { Progress } from '../run/count/progress.ts'
import type { TimesOfSteps } from '../run/count/times-by-step.ts'
import type { Metric } from '../run/crew/messages.ts'
import { stopReasons } from '../run/crew/stop-conditions.ts'
import type { Said } from '../run/crew/team.ts'
import { validities } from '../run/judge/verdict.ts'
import { withoutHostile } from '../user/hostile.ts'

/**
 * JSON messages between the machines of a run. Any client of the server can write there, so every message
 * is checked; one that does not fit counts as missing.
 */

/** Terminals show it, so control characters are replaced. */
const text = z
  .string()
  .max(1000)
  .transform((said) => withoutHostile(said, () => ' '))
const number = z.number()
const orNull = number.nullable()

const join = z.object({ planHash: text, host: text, atMs: number.min(0).max(8.64e15) })
export type JoinWord = z.infer<typeof join>

const stop = z.object({ reason: z.enum(stopReasons) })

const end = z.object({ verdict: z.enum(validities), stopped: z.enum(stopReasons).nullable() })
export type EndWord = z.infer<typeof end>

const health = z.object({
  runId: text,
  shard: number,
  atUs: number,
  loopDelayP99Us: number,
  loopGapUs: number,
  loopGapEndUs: orNull,
  utilisation: number,
  lagP99Us: orNull,
  inFlight: number,
  queuedBatches: number,
})
const counts = z.object({
  planned: number,
  sent: number,
  notSent: number,
  ok: number,
  httpError: number,
  broken: number,
  timeout: number,
  aborted: number,
})
const step = z.object({
  step: text,
  planned: number,
  sent: number,
  ok: number,
  failures: number,
  plannedPerS: orNull,
  achievedPerS: number,
})
const live = z.object({
  runId: text,
  scenario: text,
  phase: text.nullable(),
  atUs: number,
  endsUs: orNull,
  counts,
  inFlight: number,
  creditsSpent: orNull,
  money: z.object({ spent: text, unit: text, unknown: number, most: text.nullable() }).nullable(),
  maxCredits: orNull,
  steps: z.array(step),
  errors: z.array(z.tuple([text, number])),
  keys: z.array(z.object({ name: text, creditsRemaining: orNull, rateRemaining: orNull })),
  health: z.array(health),
  /** By metric and step: the lowest value (us) and the count of each non-empty cell. */
  times: z.record(
    z.string(),
    z.record(z.string(), z.array(z.tuple([number.min(0), number.min(0)]))),
  ),
})
/** The progress of one shard. */
export type LiveWord = z.infer<typeof live>

/** Metrics whose percentiles the live view shows. */
export const shownMetrics = ['response', 'service', 'ttft'] as const satisfies readonly Metric[]

/** @param counted null to omit the times, if they are too long for a message */
export function liveWord(progress: Progress, counted: TimesOfSteps | null): string {
  const times = shownMetrics.map((metric) => {
    const ofSteps = counted?.histogramsOfSteps(metric) ?? new Map()
    return [
      metric,
      Object.fromEntries([...ofSteps].map(([name, each]) => [name, [...each.filled()]])),
    ]
  })
  return JSON.stringify({ ...progress, times: Object.fromEntries(times) })
}

function read<Shape extends z.ZodType>(
  shape: Shape,
  word: string | undefined,
): z.infer<Shape> | null {
  try {
    return shape.parse(JSON.parse(word ?? 'null'))
  } catch {
    return null
  }
}

/** Each reads a word of its kind; null if there is none, or if it does not fit. */
export const parsed = {
  join: (word: string | undefined) => read(join, word),
  stop: (word: string | undefined) => read(stop, word)?.reason ?? null,
  end: (word: string | undefined) => read(end, word),
  live: (word: string) => read(live, word),
  /** @param like an object with the expected names; all values are numbers */
  said<Own extends Said>(word: string | undefined, like: Own): Own | null {
    const shape = z.object(Object.fromEntries(Object.keys(like).map((name) => [name, number])))
    return read(shape, word) as Own | null
  },
}
