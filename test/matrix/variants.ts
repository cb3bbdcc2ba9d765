import type { ProfileAnswers } from '../../src/service/profile.ts'
import { seededRandom } from '../../src/service/random.ts'

/** A legal service that answers gaps of the specification in its own way. */
export interface Variant {
  readonly name: string
  readonly profile: ProfileAnswers
}

/**
 * Every answer to every gap that the reference service knows, each once; `assay serve
 * --list-profile` names the gap of each. All but one: that streams carry no X-Credits-Remaining is an
 * answer to G-12 and breaks BILL-09, so it is among the faults.
 */
const answers = {
  algorithm: [
    'fixed-aligned',
    'fixed-anchored',
    'sliding-log',
    'sliding-counter',
    'token-bucket',
    'gcra',
  ],
  reset: ['delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'],
  window: ['failed', 'minute', 'tightest', 'rotate'],
  rateHeadersOnErrors: [true, false],
  retryAfter: ['none', 'seconds', 'date'],
  bandAt: ['admission', 'after-charge'],
  bandChange: ['kept', 'reset', 'scaled'],
  sharedEdge: ['upper', 'lower'],
  precedence: [
    ['key', 'rate', 'request', 'credits'],
    ['key', 'rate', 'credits', 'request'],
    ['key', 'request', 'rate', 'credits'],
    ['key', 'credits', 'rate', 'request'],
    ['key', 'credits', 'request', 'rate'],
    ['key', 'request', 'credits', 'rate'],
  ],
  counts: [
    { request: true },
    { credits: true },
    { rate: true },
    { models: true },
    { usage: true },
    { request: true, credits: true, rate: true, models: true, usage: true },
  ],
  creditsHeader: ['after', 'snapshot', 'before'],
  creditsBody: ['flat', 'nested', 'renamed'],
  creditsHeaderOnErrors: [true, false],
  charge: ['end', 'start'],
  abortedStream: ['free', 'charged', 'after-first-token'],
  abortedPlain: ['free', 'charged'],
  emptyAnswers: ['charged', 'free'],
  readsCharged: ['none', 'models', 'credits', 'both'],
  modelsAuth: ['none', 'either', 'bearer', 'x-api-key'],
  creditsAuth: ['either', 'bearer', 'x-api-key'],
  otherHeader: ['accepted', 'refused'],
  sharedErrorShape: ['chat', 'messages', 'other'],
  modelNotFound: [400, 404],
  contextExceeded: [400, 404],
  reasoning: ['field', 'short-field', 'inline', 'nowhere'],
  maxTokens: ['clamp', 'refuse', 'honour'],
  inputLimit: ['limits', 'window'],
  listK25: [true, false],
  permissionFields: [true, false],
  streamUsage: ['when-asked', 'always', 'in-choice', 'never'],
  messagesStream: ['named-events', 'chat-chunks', 'json'],
  unknownFields: ['ignored', 'refused'],
  emptyMessages: ['refused', 'accepted'],
  topP: ['refused', 'accepted'],
  maxN: [4, 128],
  stopText: ['excluded', 'included'],
  newKey: ['fresh', 'inherited'],
  burnOrder: ['expiry', 'purchase'],
  idempotencyKey: ['ignored', 'replayed'],
} as const

type Answers = { readonly [name: string]: readonly unknown[] }

/** One variant for each answer: the rest as in the reference service. */
export const singleVariants: readonly Variant[] = Object.entries(answers as Answers).flatMap(
  ([question, all]) =>
    all.map((answer) => ({
      name: `${question}=${typeof answer === 'object' ? JSON.stringify(answer) : answer}`,
      profile: { [question]: answer } as ProfileAnswers,
    })),
)

/** Variants with random answers to every question, from a seed. */
export function randomVariants(count: number, seed: number): readonly Variant[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, nth) => ({
    name: `random ${seed}/${nth}`,
    profile: Object.fromEntries(
      Object.entries(answers as Answers).map(([question, all]) => [
        question,
        all[Math.floor(random() * all.length)],
      ]),
    ) as ProfileAnswers,
  }))
}
