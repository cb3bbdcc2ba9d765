import { describe, expect, test } from 'vitest'
import type { ProfileAnswers } from '../../../src/service/profile.ts'
import { verdictsOf } from '../../matrix/verdicts.ts'

const algorithms = [
  'fixed-aligned',
  'fixed-anchored',
  'sliding-log',
  'sliding-counter',
  'token-bucket',
  'gcra',
] as const
const counting = { request: true, credits: true, rate: true, models: true, usage: true }

const variants = [
  ...algorithms.flatMap((algorithm) => [
    {
      name: `${algorithm} that counts all, windows in turn`,
      profile: {
        algorithm,
        counts: counting,
        window: 'rotate',
        reset: 'epoch-ms',
        bandAt: 'after-charge',
        retryAfter: 'date',
      } as const,
    },
    {
      name: `${algorithm}, minute always`,
      profile: {
        algorithm,
        window: 'minute',
        reset: 'delta-ms',
        bandChange: 'reset',
        creditsHeader: 'before',
      } as const,
    },
    {
      name: `${algorithm}, the tightest window`,
      profile: {
        algorithm,
        window: 'tightest',
        creditsHeader: 'snapshot',
        charge: 'start',
        rateHeadersOnErrors: false,
        creditsHeaderOnErrors: false,
        precedence: ['key', 'request', 'credits', 'rate'],
      } as const,
    },
  ]),
]

const failedIn = async (...asked: Parameters<typeof verdictsOf>) =>
  [...(await verdictsOf(...asked)).values()].filter(({ verdict }) => verdict.verdict === 'fail')

describe('no rate rule fails on a legal service', () => {
  // `npm run matrix` also runs random variants at night.
  test.each(
    process.env.NIGHTLY === undefined ? variants.filter((_, at) => at % 4 === 0) : variants,
  )('$name', { tags: 'whole' }, async ({ profile }) => {
    // An account that is spent by its header alone: what it covered depends on that header.
    const rules = ['RATE', 'BILL-13', 'BILL-14']
    expect(await failedIn({ profile: profile as ProfileAnswers }, ['limits'], rules)).toEqual([])
  })

  test.each([
    ['a full day shown in place of the minute', { window: 'minute' }],
    ['counters of three windows in rotation', { window: 'rotate', algorithm: 'gcra' }],
  ] as const)('%s', async (_name, profile) => {
    expect(await failedIn({ profile }, ['hours'], ['RATE'])).toEqual([])
  })
})
