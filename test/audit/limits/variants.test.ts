import { describe, expect, test } from 'vitest'
import type { ProfileAnswers } from '../../../src/service/profile.ts'
import { verdictsOf } from '../../matrix/acts.ts'

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

describe('no rate rule fails on a legal service', () => {
  test.each(variants)('$name', async ({ profile }) => {
    const verdicts = await verdictsOf({ profile: profile as ProfileAnswers }, ['limits'], ['RATE'])
    expect([...verdicts.values()].filter(({ verdict }) => verdict.verdict === 'fail')).toEqual([])
  })
})
