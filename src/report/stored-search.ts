import { z } from 'zod'

/**
 * The answer of a search, as stored in `runs.verdict_json`. Terminal, verdict, cards and chart all take it from here, so
 * that they cannot disagree. It is read leniently, because another version may have written the store.
 */
const trial = z.looseObject({
  phase: z.string().default(''),
  step: z.string().default('bracket'),
  ratePerS: z.number(),
  sentPerS: z.number().nullable().default(null),
  planned: z.number().default(0),
  sent: z.number().default(0),
  meanUs: z.number().nullable().default(null),
  judged: z.number().default(0),
  missed: z.number().default(0),
  unknown: z.number().default(0),
  limited: z.number().default(0),
  goodput: z.number().nullable().default(null),
  result: z.string().default('void'),
  why: z.string().default(''),
  mostMissed: z.number().nullable().default(null),
  drift: z.number().nullable().default(null),
  lastedUs: z.number().default(0),
  earlier: z.boolean().default(false),
})

/** What a longer search needs. */
const needs = z.looseObject({ budget: z.string(), ratePerS: z.number(), requests: z.number() })

const safeRate = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('held'),
    heldPerS: z.number(),
    safePerS: z.number(),
    failedPerS: z.number().nullable(),
    budget: z.string(),
    needs: needs.nullable().default(null),
  }),
  z.looseObject({
    kind: z.literal('bracket'),
    lowPerS: z.number().nullable(),
    failedPerS: z.number().nullable(),
    needs: needs.nullable(),
  }),
  z.looseObject({
    kind: z.literal('none'),
    because: z.string(),
    failedPerS: z.number().nullable(),
  }),
])

export const searchShape = z.looseObject({
  phase: z.string(),
  /** What the rate is of. */
  of: z.enum(['requests', 'tasks']).catch('requests').default('requests'),
  /** Such as `95 % of first tokens within 1 s`. */
  objective: z.string().default('the objectives'),
  trials: z.array(trial).default([]),
  safeRate: safeRate.nullable().catch(null).default(null),
  /** The limit of requests that the service enforces, and whether it decides; null if no trial ran into it. */
  limit: z
    .looseObject({ perS: z.number(), decides: z.boolean() })
    .nullable()
    .catch(null)
    .default(null),
  /** Share of the prompt tokens of the claimed trial that a cache had; null if the service does not report it. */
  cachedShare: z.number().nullable().default(null),
})

export type StoredSearch = z.output<typeof searchShape>
export type StoredTrial = StoredSearch['trials'][number]

/** The trial that the figures of a run are of: its answer's; without an answer, the lowest rate's. Null without any. */
export function claimedTrial({ safeRate, trials }: StoredSearch): StoredTrial | null {
  const rated = trials.filter(({ step, earlier }) => step !== 'warm-up' && !earlier)
  const claimed =
    safeRate?.kind === 'held'
      ? safeRate.heldPerS
      : safeRate?.kind === 'bracket'
        ? safeRate.lowPerS
        : null
  const lowest = rated.toSorted((one, other) => one.ratePerS - other.ratePerS)[0]
  return rated.findLast(({ ratePerS }) => ratePerS === claimed) ?? lowest ?? null
}

export type StoredNeeds = z.output<typeof needs>
export type SafeRate = z.output<typeof safeRate>
