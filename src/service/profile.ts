import { z } from 'zod'
import { isObject } from '../user/json.ts'
import { nearest } from '../user/nearest.ts'
import { userError } from '../user/user-error.ts'
import { algorithms } from './limiter/limiter.ts'

/** Possible answers. The first is the default. */
const oneOf = <const Answer extends string>(...answers: [Answer, ...Answer[]]) =>
  z.enum(answers).default(answers[0])
const flag = (standard: boolean) => z.boolean().default(standard)
const status = z.union([z.literal(400), z.literal(404)]).default(400)
const counted = flag(false).describe('whether such a request counts towards the rate limits')

/**
 * Answers to the open questions of the specification. Every combination is legal, and an auditor
 * must find no fault in any. Numbers such as G-22 are gaps of the rulebook.
 */
const schema = z.strictObject({
  algorithm: z
    .enum(algorithms)
    .default('fixed-anchored')
    .describe('the algorithm that counts requests in each window (G-22)'),
  reset: oneOf('delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us').describe(
    'unit of X-RateLimit-Reset (G-21)',
  ),
  window: oneOf('failed', 'minute', 'tightest', 'rotate').describe(
    'the window that the three headers show (G-20): the window that rejected the request, ' +
      'else the minute; always the minute; the window with the smallest share left; each in turn',
  ),
  rateHeadersOnErrors: flag(true).describe('rate headers on failures other than 429 (G-19)'),
  retryAfter: oneOf('seconds', 'none', 'date').describe('Retry-After on 429 (G-32)'),
  bandAt: oneOf('admission', 'after-charge').describe('the balance that selects the band (G-24)'),
  bandChange: oneOf('kept', 'reset', 'scaled').describe(
    'the counts after a change of band (G-23); scaled keeps the used share of each window',
  ),
  sharedEdge: oneOf('upper', 'lower').describe(
    'the band of a balance that two bands contain, such as 10,000 (G-25)',
  ),
  precedence: z
    .array(z.enum(['key', 'rate', 'request', 'credits']))
    .length(4)
    .refine((order) => new Set(order).size === 4, 'each of the four once')
    .refine((order) => order[0] === 'key', 'key first: the rest belong to its account')
    .default(['key', 'rate', 'request', 'credits'])
    .describe(
      'the order of checks (key first), which decides which of several errors a request gets (G-26)',
    ),
  counts: z
    .strictObject({
      request: counted,
      credits: counted,
      rate: counted,
      models: counted,
      usage: counted,
    })
    .prefault({})
    .describe('calls that count besides admitted generations: 400, 403, 429, GETs (G-18)'),
  creditsHeader: oneOf('after', 'snapshot', 'before').describe(
    "X-Credits-Remaining (G-12): right after the request's own charge; when the response is " +
      'written; before its own charge',
  ),
  creditsBody: oneOf('flat', 'nested', 'renamed').describe(
    'fields of GET /user/credits (G-09): as below; the same in groups; other names for them',
  ),
  creditsHeaderOnStreams: flag(true).describe('X-Credits-Remaining on streams (G-12)'),
  creditsHeaderOnErrors: flag(true).describe('X-Credits-Remaining on failures (G-19)'),
  charge: oneOf('end', 'start').describe(
    'reserve and deduct on completion, or deduct at once and refund a failure (G-13)',
  ),
  abortedStream: oneOf('after-first-token', 'free', 'charged').describe(
    'whether an aborted stream is charged (G-14)',
  ),
  abortedPlain: oneOf('free', 'charged').describe(
    'whether an aborted plain request is charged (G-15)',
  ),
  emptyAnswers: oneOf('charged', 'free').describe(
    'whether a success without an output token is charged (G-16)',
  ),
  readsCharged: oneOf('none', 'models', 'credits', 'both').describe(
    'successful GETs that cost 1 credit, charged before the response (G-17)',
  ),
  modelsAuth: oneOf('either', 'none', 'bearer', 'x-api-key').describe(
    'key headers that models accepts (G-06)',
  ),
  creditsAuth: oneOf('either', 'bearer', 'x-api-key').describe(
    'key headers that credits accepts (G-07)',
  ),
  otherHeader: oneOf('accepted', 'refused').describe(
    "whether an endpoint accepts the other endpoint's key header (G-08)",
  ),
  sharedErrorShape: oneOf('chat', 'messages', 'other').describe(
    'error shape on models, credits and unknown paths (G-28)',
  ),
  modelNotFound: status.describe('status for an unknown model (G-27)'),
  contextExceeded: status.describe('status for input beyond the context window (G-27)'),
  reasoning: oneOf('field', 'short-field', 'inline', 'nowhere').describe(
    'reasoning of the thinking model (G-01): reasoning_content on chat and a thinking block on ' +
      'messages; reasoning on chat and a thinking block; inline <think> text; not shown',
  ),
  maxTokens: oneOf('clamp', 'refuse', 'honour').describe(
    'max_tokens in 8,193 to 128,000 (G-29): cut to 8,192; 400; accepted as it is, with ' +
      'answers that still end by 8,192',
  ),
  inputLimit: oneOf('limits', 'window').describe(
    'what limits the input of 256k models: §8.2 or their own window (G-30)',
  ),
  listK25: flag(false).describe('whether svc-k2.5 is listed (G-02)'),
  permissionFields: flag(true).describe('whether permission has an element (G-03)'),
  streamUsage: oneOf('when-asked', 'always', 'in-choice', 'never').describe(
    'usage in chat streams (G-11): a chunk without choices, on request or always; inside the ' +
      'last chunk of the choice; not at all',
  ),
  messagesStream: oneOf('named-events', 'chat-chunks', 'json').describe(
    'the format of a messages stream (G-10)',
  ),
  unknownFields: oneOf('ignored', 'refused').describe('parameters not in the tables (G-31)'),
  emptyMessages: oneOf('refused', 'accepted').describe('an empty list of messages (G-31)'),
  topP: oneOf('refused', 'accepted').describe('top_p outside 0 to 1 (G-31)'),
  maxN: z.number().int().min(4).max(128).default(8).describe('the largest n (G-31)'),
  stopText: oneOf('excluded', 'included').describe('stop sequence in the output (G-33)'),
  newKey: oneOf('fresh', 'inherited').describe(
    "initial counts of a new key: none, or those of the account's last key (G-36)",
  ),
  burnOrder: oneOf('expiry', 'purchase').describe('credits that are spent first (G-35)'),
  clients: oneOf('specified', 'wide').describe(
    'what clients may send: what the specification names; also the role developer (against §2.4), ' +
      'images and GET /v1/models/ID',
  ),
  idempotencyKey: oneOf('ignored', 'replayed').describe(
    'a repeated Idempotency-Key (G-37): a new request; or the same answer for free, unless ' +
      'that was a stream',
  ),
})

export type Profile = z.infer<typeof schema>

/** Some of the answers. The others are the defaults. */
export type ProfileAnswers = z.input<typeof schema>

export const defaultProfile: Profile = schema.parse({})

/**
 * @param where the name of the file or the flags in the error
 * @param lineOf the line of a question, if there are lines
 * @throws UserError with every invalid answer
 */
export function parseProfile(
  answers: unknown,
  where: string,
  lineOf: (place: readonly PropertyKey[]) => number | null = () => null,
): Profile {
  const given = answers ?? {}
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const faults = new Map<string, string>()
  for (const issue of parsed.error.issues) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : null
    for (const place of unknown?.map((key) => [...issue.path, key]) ?? [issue.path]) {
      const name = place.join('.')
      const line = lineOf(place)
      const words =
        unknown === null ? `${expectedOf(issue)}; got ${shown(given, place)}` : noSuchQuestion(name)
      // One answer can be wrong in two ways. The first error names the expected value.
      if (!faults.has(name))
        faults.set(name, `  ${line === null ? '' : `line ${line}, `}${name}: ${words}`)
    }
  }
  throw userError.service(
    `${where}: not a profile of the service\n${[...faults.values()].join('\n')}\n` +
      'assay serve --list-profile names every question and its answers.',
  )
}

function expectedOf({ code, path, message }: z.core.$ZodIssue): string {
  if (code === 'custom') return `expected ${message}`
  if (path.length > 1 && path[0] === 'counts') return 'expected true or false'
  return `expected ${profileQuestions().find(({ name }) => name === path[0])?.answers ?? message}`
}

/** The given value, shortened, on one line. */
function shown(given: unknown, place: readonly PropertyKey[]): string {
  const value = place.reduce((at: unknown, part) => (isObject(at) ? at[String(part)] : at), given)
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** A question that the specification leaves open. */
export interface ProfileQuestion {
  readonly name: string
  /** The meaning and the gaps in one line. */
  readonly description: string
  readonly answers: string
  /** The default answer. */
  readonly standard: string
}

function noSuchQuestion(name: string): string {
  const meant = nearest(name, Object.keys(schema.shape))
  return meant === null ? 'no such question' : `no such question; did you mean ${meant}?`
}

/** Every question, for `--list-profile` and the guide. */
export function profileQuestions(): readonly ProfileQuestion[] {
  const { properties = {} } = z.toJSONSchema(schema)
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    description: field.description ?? '',
    answers: answersIn(properties[name]),
    standard: textOf(defaultProfile[name as keyof Profile]),
  }))
}

/** A short list of the answers that a JSON Schema allows. */
function answersIn(property: z.core.JSONSchema._JSONSchema | undefined): string {
  if (typeof property !== 'object') return ''
  const { type, anyOf, items, properties, minimum, maximum } = property
  if (property.enum !== undefined) return property.enum.join(' | ')
  if (property.const !== undefined) return String(property.const)
  if (anyOf !== undefined) return anyOf.map(answersIn).join(' | ')
  if (type === 'boolean') return 'true | false'
  if (type === 'integer') return `${minimum} to ${maximum}`
  if (type === 'array' && !Array.isArray(items))
    return `an order of ${answersIn(items).replaceAll(' | ', ', ')}`
  return `true or false for each of ${Object.keys(properties ?? {}).join(', ')}`
}

function textOf(answer: Profile[keyof Profile]): string {
  if (Array.isArray(answer)) return answer.join(', ')
  if (typeof answer !== 'object') return String(answer)
  return Object.entries(answer)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}
