import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { algorithms } from '../../../src/service/limiter/limiter.ts'
import type { Profile } from '../../../src/service/profile.ts'
import { defaultProfile } from '../../../src/service/profile.ts'
import { type RunningService, startService } from '../../../src/service/start.ts'
import { operatorKey } from '../serving.ts'
import { checks, operatorTold } from './checks.ts'
import { Target } from './target.ts'

/**
 * Every rule of sections 1.1 to 1.11, over HTTP. To check another service:
 *
 *     ASSAY_CONTRACT_BASE_URL=http://127.0.0.1:8787 ASSAY_CONTRACT_KEY=… \
 *     ASSAY_CONTRACT_OTHER_KEY=… ASSAY_CONTRACT_OPERATOR=yes npx vitest run test/service/contract
 *
 * The second key is of another account. Without an operator's endpoint, rules that need their own
 * balances or time are skipped. See `docs/service.md`.
 */
const env = process.env
const elsewhereUrl = env.ASSAY_CONTRACT_BASE_URL

const anyProfile: fc.Arbitrary<Profile> = fc.record({
  algorithm: fc.constantFrom(...algorithms),
  reset: fc.constantFrom('delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'),
  window: fc.constantFrom('failed', 'minute', 'tightest', 'rotate'),
  rateHeadersOnErrors: fc.boolean(),
  retryAfter: fc.constantFrom('none', 'seconds', 'date'),
  bandAt: fc.constantFrom('admission', 'after-charge'),
  bandChange: fc.constantFrom('kept', 'reset', 'scaled'),
  sharedEdge: fc.constantFrom('upper', 'lower'),
  precedence: fc
    .shuffledSubarray(['rate', 'request', 'credits'] as const, { minLength: 3, maxLength: 3 })
    .map((rest) => ['key' as const, ...rest]),
  counts: fc.record({
    request: fc.boolean(),
    credits: fc.boolean(),
    rate: fc.boolean(),
    models: fc.boolean(),
    usage: fc.boolean(),
  }),
  clients: fc.constantFrom('specified', 'wide'),
  creditsHeader: fc.constantFrom('after', 'snapshot', 'before'),
  creditsBody: fc.constantFrom('flat', 'nested', 'renamed'),
  emptyAnswers: fc.constantFrom('charged', 'free'),
  // Nearly every check also reads balances; the price of a read is checked in open-answers.test.ts.
  readsCharged: fc.constant('none'),
  creditsHeaderOnStreams: fc.boolean(),
  creditsHeaderOnErrors: fc.boolean(),
  charge: fc.constantFrom('end', 'start'),
  abortedStream: fc.constantFrom('free', 'charged', 'after-first-token'),
  abortedPlain: fc.constantFrom('free', 'charged'),
  modelsAuth: fc.constantFrom('none', 'either', 'bearer', 'x-api-key'),
  creditsAuth: fc.constantFrom('either', 'bearer', 'x-api-key'),
  otherHeader: fc.constantFrom('accepted', 'refused'),
  sharedErrorShape: fc.constantFrom('chat', 'messages', 'other'),
  modelNotFound: fc.constantFrom(400, 404),
  contextExceeded: fc.constantFrom(400, 404),
  reasoning: fc.constantFrom('field', 'short-field', 'inline', 'nowhere'),
  maxTokens: fc.constantFrom('clamp', 'refuse', 'honour'),
  inputLimit: fc.constantFrom('limits', 'window'),
  listK25: fc.boolean(),
  permissionFields: fc.boolean(),
  streamUsage: fc.constantFrom('when-asked', 'always', 'in-choice', 'never'),
  messagesStream: fc.constantFrom('named-events', 'chat-chunks', 'json'),
  unknownFields: fc.constantFrom('ignored', 'refused'),
  emptyMessages: fc.constantFrom('refused', 'accepted'),
  topP: fc.constantFrom('refused', 'accepted'),
  maxN: fc.integer({ min: 4, max: 128 }),
  stopText: fc.constantFrom('excluded', 'included'),
  newKey: fc.constantFrom('fresh', 'inherited'),
  burnOrder: fc.constantFrom('expiry', 'purchase'),
  idempotencyKey: fc.constantFrom('ignored', 'replayed'),
})

/** A dozen with every algorithm twice, always the same; outside CI only the first three. */
const random = fc
  .sample(anyProfile, { seed: 20261120, numRuns: env.CI === undefined ? 3 : 12 })
  .map((profile, index) => ({ ...profile, algorithm: algorithms[index % algorithms.length]! }))

/** Limits of the hour and the day that a test can reach; all twelve still differ. */
const contract = {
  ...defaultContract,
  bands: defaultContract.bands.map((band) => ({
    ...band,
    requests: {
      minute: band.requests.minute,
      hour: band.requests.minute * 2 + 1,
      day: band.requests.minute * 3 + 1,
    },
  })),
}

const variants: readonly { readonly name: string; readonly profile: Profile | null }[] =
  elsewhereUrl === undefined
    ? [
        { name: 'the default profile', profile: defaultProfile },
        ...random.map((profile, index) => ({
          name: `profile ${index + 1} (${profile.algorithm})`,
          profile,
        })),
      ]
    : [{ name: elsewhereUrl, profile: null }]

for (const { name, profile } of variants)
  describe(name, () => {
    let service: RunningService | null = null
    let target: Target

    beforeAll(async () => {
      if (profile === null) {
        target = new Target({
          baseUrl: elsewhereUrl!,
          contract: defaultContract,
          key: env.ASSAY_CONTRACT_KEY ?? '',
          otherKey: env.ASSAY_CONTRACT_OTHER_KEY ?? '',
          operatorKey: env.ASSAY_CONTRACT_OPERATOR ?? null,
        })
        return
      }
      service = await startService({
        seed: 7,
        contract,
        profile,
        operatorKey,
        accounts: [
          { name: 'main', balance: 10_000_000 },
          { name: 'other', balance: 10_000_000 },
        ],
        shape: {
          timeToFirstUs: { kind: 'constant', value: 0 },
          betweenTokensUs: { kind: 'constant', value: 20 },
          lengthTokens: { kind: 'uniform', min: 4, max: 10 },
        },
      })
      target = new Target({
        baseUrl: service.baseUrl,
        contract,
        key: service.keys[0]!.apiKey,
        otherKey: service.keys[1]!.apiKey,
        operatorKey,
      })
    })
    afterAll(() => service?.close())

    const operator = profile !== null || env.ASSAY_CONTRACT_OPERATOR !== undefined
    // Other services have the limits per hour and day of the specification: thousands.
    const timeout = profile === null ? 300_000 : 30_000
    // Sequential: concurrent checks have accounts of their own, but would share one clock.
    for (const { rule, title, operated, run } of checks) {
      const skipped = operated && !operator
      test.skipIf(skipped)(`${rule} ${title}`, { tags: 'whole', timeout: timeout }, () =>
        run(target),
      )
    }
    if (!operator) operatorTold()
  })

/** Rules of 1.1 to 1.11 that this suite cannot check, and where they are checked. */
const heldElsewhere: Readonly<Record<string, string>> = {
  'LIM-04': 'streams.test.ts, on a clock that stands still',
  'LIM-05': "the client's own tests: it is about retries",
  'BILL-06': 'outage.test.ts: it takes a service that fails',
  'BILL-18': 'customers.test.ts',
  'BILL-19': 'customers.test.ts',
  'BILL-20': 'the list of prices is static',
  'PAGE-01': "the pages' tests, in Chromium",
}

test('every rule of the rulebook is checked here, or elsewhere', () => {
  const sizes = { TRN: 6, AUTH: 6, MODEL: 5, CHAT: 13, MSG: 7, SSE: 7, ERR: 6, LIM: 5 }
  const counts = { ...sizes, BILL: 20, RATE: 19, USE: 7, PAGE: 1 }
  const rules = Object.entries(counts).flatMap(([family, size]) =>
    Array.from({ length: size }, (_, index) => `${family}-${String(index + 1).padStart(2, '0')}`),
  )
  const walked = new Set(checks.map(({ rule }) => rule))
  expect(rules.filter((rule) => !walked.has(rule) && !(rule in heldElsewhere))).toEqual([])
})
