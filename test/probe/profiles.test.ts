import { describe, expect, test } from 'vitest'
import { rateRules } from '../../src/audit/rules/rates/list.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { type GapAnswer, type GapId, gapIds } from '../../src/contract/profile.ts'
import { defaultProfile, type Profile, type ProfileAnswers } from '../../src/service/profile.ts'
import type { Store } from '../../src/store/session/open.ts'
import { probeService } from './probing.ts'

/** The path of each figure in each body of the credits endpoint. */
const creditsPaths = {
  flat: { remaining: 'remaining', consumed: 'total_consumed' },
  nested: { remaining: 'balance.remaining', consumed: 'usage.total_consumed' },
  renamed: { remaining: 'credits_left', consumed: 'total_used' },
} as const

/** The value in the service's profile for each facet that the probe may answer. */
function truths(profile: Profile): readonly (readonly [GapId, string, unknown])[] {
  const counted = (yes: boolean) => (yes ? 'counted' : 'not counted')
  const before = (a: string, b: string) =>
    profile.precedence.indexOf(a as never) < profile.precedence.indexOf(b as never)
  const status = { rate: '429', request: '400', credits: '403' } as const
  const first = (a: keyof typeof status, b: keyof typeof status) => status[before(a, b) ? a : b]
  const shown = { after: 'after own charge', before: 'before own charge' } as const
  const header =
    profile.creditsHeader === 'snapshot' ? 'after own charge' : shown[profile.creditsHeader]
  return [
    [
      'G-01',
      'chat',
      {
        field: 'reasoning_content',
        'short-field': 'reasoning',
        inline: 'inline <think>',
        nowhere: 'nowhere',
      }[profile.reasoning],
    ],
    ['G-02', 'svc-k2.5', profile.listK25],
    ['G-03', 'elements', profile.permissionFields],
    ['G-06', 'key', profile.modelsAuth],
    ['G-07', 'key', profile.creditsAuth],
    ['G-08', 'chat', profile.otherHeader],
    ['G-08', 'messages', profile.otherHeader],
    [
      'G-10',
      'framing',
      { 'named-events': 'named events', 'chat-chunks': 'chat chunks', json: 'JSON' }[
        profile.messagesStream
      ],
    ],
    [
      'G-11',
      'usage',
      { always: 'chunk without choices', 'in-choice': 'inside a choice' }[
        profile.streamUsage as string
      ] ?? 'none',
    ],
    ['G-12', 'chat', header],
    ...(profile.creditsHeaderOnStreams ? [] : [['G-12', 'chat stream', 'absent'] as const]),
    ['G-13', 'charge', profile.charge],
    ['G-14', 'before headers', profile.abortedStream === 'charged' ? 'charged' : 'free'],
    ['G-14', 'after four events', profile.abortedStream === 'free' ? 'free' : 'charged'],
    ['G-15', 'charge', profile.abortedPlain],
    ['G-09', 'consumed', creditsPaths[profile.creditsBody].consumed],
    ['G-09', 'remaining', creditsPaths[profile.creditsBody].remaining],
    ['G-16', 'no token', profile.emptyAnswers],
    [
      'G-17',
      'models',
      ['models', 'both'].includes(profile.readsCharged) ? '1 credit each' : 'free',
    ],
    [
      'G-17',
      'credits',
      ['credits', 'both'].includes(profile.readsCharged) ? '1 credit each' : 'free',
    ],
    ['G-18', '400', counted(profile.counts.request)],
    ['G-18', 'models', counted(profile.counts.models)],
    ['G-18', 'credits', counted(profile.counts.usage)],
    ['G-19', 'rate on 400', profile.rateHeadersOnErrors ? 'always' : 'never'],
    ['G-19', 'credits on 400', profile.creditsHeaderOnErrors ? 'always' : 'never'],
    ['G-20', 'window', profile.window],
    ['G-21', 'unit', profile.reset],
    ['G-22', 'algorithm', profile.algorithm],
    ['G-23', 'counts', profile.bandChange],
    ['G-24', 'basis', profile.bandAt === 'admission' ? 'before the charge' : 'after the charge'],
    ['G-25', 'shared edge', profile.sharedEdge],
    ['G-26', '403 or 400', first('credits', 'request')],
    ['G-26', '429 or 400', first('rate', 'request')],
    ['G-27', 'unknown model on chat', `${profile.modelNotFound}`],
    ['G-27', 'context too long', `${profile.contextExceeded}`],
    ['G-28', 'credits', profile.sharedErrorShape],
    [
      'G-29',
      '8193',
      { clamp: 'clamped', refuse: 'refused', honour: 'honoured' }[profile.maxTokens],
    ],
    ['G-30', 'binds', profile.inputLimit],
    ['G-31', 'empty messages', profile.emptyMessages],
    ['G-31', 'unknown field', profile.unknownFields === 'ignored' ? 'accepted' : 'refused'],
    ['G-32', 'form', profile.retryAfter],
    ['G-33', 'chat', profile.stopText],
    ['G-36', 'counts', profile.newKey],
    ['G-37', 'answer', profile.idempotencyKey === 'ignored' ? 'new' : 'replayed'],
  ]
}

/** The possible values of a facet by an answer; null if it does not mention the facet. */
function possible(answer: GapAnswer, facet: string): readonly unknown[] | null {
  if ('why' in answer) return null
  // A list names all possible values.
  if (facet in answer.is) return [answer.is[facet]].flat()
  return answer.status === 'ambiguous' ? (answer.between[facet] ?? null) : null
}

const services: readonly { readonly name: string; readonly profile: ProfileAnswers }[] = [
  { name: 'the standard service', profile: {} },
  {
    name: 'a service with all other answers',
    profile: {
      algorithm: 'sliding-counter',
      reset: 'epoch-us',
      window: 'rotate',
      rateHeadersOnErrors: false,
      retryAfter: 'date',
      bandAt: 'after-charge',
      bandChange: 'scaled',
      sharedEdge: 'lower',
      precedence: ['key', 'credits', 'request', 'rate'],
      counts: { request: true, credits: true, rate: true, models: true, usage: true },
      creditsHeader: 'before',
      creditsBody: 'nested',
      creditsHeaderOnErrors: false,
      charge: 'start',
      abortedStream: 'charged',
      abortedPlain: 'charged',
      emptyAnswers: 'free',
      readsCharged: 'both',
      modelsAuth: 'none',
      creditsAuth: 'x-api-key',
      otherHeader: 'refused',
      sharedErrorShape: 'other',
      modelNotFound: 404,
      contextExceeded: 404,
      reasoning: 'inline',
      maxTokens: 'refuse',
      inputLimit: 'window',
      listK25: true,
      permissionFields: false,
      streamUsage: 'in-choice',
      messagesStream: 'chat-chunks',
      unknownFields: 'refused',
      emptyMessages: 'accepted',
      topP: 'accepted',
      maxN: 4,
      newKey: 'inherited',
      stopText: 'included',
      idempotencyKey: 'replayed',
    },
  },
  {
    name: 'a service with a token bucket',
    profile: {
      algorithm: 'token-bucket',
      reset: 'epoch-s',
      window: 'minute',
      retryAfter: 'none',
      creditsHeader: 'snapshot',
      creditsHeaderOnStreams: false,
      abortedStream: 'free',
      creditsBody: 'renamed',
      readsCharged: 'credits',
      messagesStream: 'json',
      modelsAuth: 'bearer',
      reasoning: 'short-field',
      maxTokens: 'honour',
    },
  },
]

describe('the answers of a probe match the settings of the service', () => {
  // A quarter of a minute each, so the third runs only at night. Most of it is waiting: they run at once.
  test.concurrent.for(process.env.NIGHTLY === undefined ? services.slice(0, 2) : services)(
    '$name',
    { tags: 'whole', timeout: 240_000 },
    async ({ profile }, { onTestFinished }) => {
      const whole = {
        ...defaultProfile,
        ...profile,
        counts: { ...defaultProfile.counts, ...profile.counts },
      } as Profile
      const told = { answered: new Set<GapId>(), askable: new Set<GapId>() }
      // A machine that stalls at a bad moment leaves an answer open, which is asked again.
      for (
        let asked = 0;
        asked < 3 && (told.answered.size < 28 || told.askable.size < 33);
        asked++
      ) {
        const { profile: found, store } = await probeService({ profile, atEnd: onTestFinished })
        const wrong = truths(whole).flatMap(([gap, facet, truth]) => {
          const values = possible(found.answers[gap], facet)
          return values === null || values.includes(truth)
            ? []
            : [{ gap, facet, truth, answer: found.answers[gap] }]
        })
        expect(wrong).toEqual([])
        expect(await failedOf(store)).toEqual([])
        for (const gap of gapIds) {
          const { status } = found.answers[gap]
          if (status === 'answered') told.answered.add(gap)
          if (status !== 'not-askable') told.askable.add(gap)
        }
      }
      expect(told.answered.size).toBeGreaterThanOrEqual(28)
      expect(told.askable.size).toBeGreaterThanOrEqual(33)
    },
  )
})

/** The rules of rates that a probe's own traffic breaks. */
async function failedOf(store: Store): Promise<readonly unknown[]> {
  const session = await store.session()
  const evidence = { store: session, runIds: ['probe-1'], contract: defaultContract }
  const failed: unknown[] = []
  for (const rule of rateRules) {
    const verdict = await rule.decide(evidence)
    if (verdict.verdict === 'fail') failed.push({ rule: rule.id, ...verdict })
  }
  session.close()
  return failed
}
