import { z } from 'zod'
import { UserError } from '../user/user-error.ts'

/** The answers of a deployment to the gaps of the specification: `assay probe` writes them for the rules. */

/** The gaps, by their number in the rulebook. */
export const gaps = {
  'G-01': 'where the reasoning text of the thinking model appears',
  'G-02': 'whether svc-k2.5 is listed',
  'G-03': 'what the elements of `permission` hold',
  'G-04': 'which values stop_reason takes',
  'G-05': 'which types of content block occur',
  'G-06': 'whether the model list needs a key, and in which header',
  'G-07': 'whether the credits endpoint needs a key, and in which header',
  'G-08': "whether an endpoint takes the other endpoint's header, and who wins when both are sent",
  'G-09': 'what the fields of the credits body mean',
  'G-10': 'how a messages stream is framed',
  'G-11': 'what a chat stream carries besides text',
  'G-12': 'which balance X-Credits-Remaining shows',
  'G-13': 'whether a charge is made at the start or at the end',
  'G-14': 'whether a stream that the client left is charged',
  'G-15': 'whether a plain request that the client left is charged',
  'G-16': 'whether an answer of next to nothing is charged',
  'G-17': 'whether reads of models and credits cost a credit',
  'G-18': 'which requests count toward the rate limits',
  'G-19': 'which statuses carry the rate and credits headers',
  'G-20': 'which window the rate headers show',
  'G-21': 'the unit of X-RateLimit-Reset',
  'G-22': 'the algorithm of the limiter',
  'G-23': 'what happens to counts when the band changes',
  'G-24': 'whether the band follows the balance before or after the charge',
  'G-25': 'which row holds at a shared edge, and at zero',
  'G-26': 'which error wins when a request has two',
  'G-27': 'the status of an unknown model and of a context that is too long',
  'G-28': 'the error shape outside the generation endpoints',
  'G-29': 'what happens to max_tokens above the output limit',
  'G-30': 'whether the input limit or the window binds the 256k models',
  'G-31': 'the bounds of top_p, messages, n, and unknown fields',
  'G-32': 'whether a rejection carries Retry-After',
  'G-33': 'whether the stop sequence is part of the output',
  'G-34': 'whether three attempts are three in all or three retries',
  'G-35': 'which credits burn first',
  'G-36': 'whether a new key starts with fresh counts',
  'G-37': 'whether Idempotency-Key is honoured',
} as const

export type GapId = keyof typeof gaps
export const gapIds = Object.keys(gaps) as readonly GapId[]

/** Facets of an answer: `{ models: 'not counted', '400': 'counted' }`. */
export type Facets = Readonly<Record<string, string | number | boolean | readonly string[]>>

export type GapAnswer =
  | { readonly status: 'answered'; readonly is: Facets; readonly evidence: readonly string[] }
  /** `is` holds the known facets, and `between` the possible values of each open one. */
  | {
      readonly status: 'ambiguous'
      readonly is: Facets
      readonly between: Readonly<Record<string, readonly string[]>>
      readonly evidence: readonly string[]
    }
  /** The probe could not decide it, or did not ask it: excluded by `--only`, or the probe ended early. */
  | { readonly status: 'not-askable' | 'not-asked'; readonly why: string }

/** Increases when the meaning of an answer changes. */
export const profileVersion = 1

export interface DeploymentProfile {
  readonly version: typeof profileVersion
  readonly base_url: string
  readonly contract: string
  /** ISO 8601. */
  readonly asked_at: string
  readonly run_id: string
  /** An upper bound: credits in doubt count as spent. */
  readonly credits_spent: number
  /** Earlier probes whose answers are kept (`assay probe --only`). */
  readonly earlier?: readonly {
    readonly asked_at: string
    readonly run_id: string
    readonly gaps: readonly GapId[]
  }[]
  readonly answers: Readonly<Record<GapId, GapAnswer>>
}

const facets = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
)
const answer = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('answered'), is: facets, evidence: z.array(z.string()) }),
  z.strictObject({
    status: z.literal('ambiguous'),
    is: facets,
    between: z.record(z.string(), z.array(z.string())),
    evidence: z.array(z.string()),
  }),
  z.strictObject({ status: z.enum(['not-askable', 'not-asked']), why: z.string() }),
])
const gapId = z.enum(gapIds as [GapId, ...GapId[]])
const profile = z.strictObject({
  version: z.literal(profileVersion),
  base_url: z.string(),
  contract: z.string(),
  asked_at: z.string(),
  run_id: z.string(),
  credits_spent: z.number(),
  earlier: z
    .array(z.strictObject({ asked_at: z.string(), run_id: z.string(), gaps: z.array(gapId) }))
    .exactOptional(),
  answers: z.record(gapId, answer),
})

/**
 * @param where its file, for the error
 * @throws UserError with every issue
 */
export function parseDeploymentProfile(value: unknown, where: string): DeploymentProfile {
  const parsed = profile.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(
    (issue) => `  ${issue.path.join('.') || '(all)'}: ${issue.message}`,
  )
  throw new UserError(
    'profile',
    `${where} is not a deployment profile of version ${profileVersion}, as assay probe writes it:\n${issues.join('\n')}`,
  )
}

/** The value of one facet of a gap; undefined if it is unknown or ambiguous. */
export function established(
  profile: DeploymentProfile | undefined,
  gap: GapId,
  facet: string,
): Facets[string] | undefined {
  const answer = profile?.answers[gap]
  return answer !== undefined && 'is' in answer ? answer.is[facet] : undefined
}
