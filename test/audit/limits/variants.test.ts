import { describe, expect, test } from 'vitest'
import { rateRules } from '../../../src/audit/limits/rules.ts'
import type { ProfileAnswers } from '../../../src/service/profile.ts'
import { allRateTraffic, drive, rateAccounts } from './driver.ts'
import { evidenceOf } from './evidence.ts'

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
    const driver = await drive({ accounts: rateAccounts, profile: profile as ProfileAnswers })
    await allRateTraffic(driver)
    const evidence = await evidenceOf(driver.rows)
    const failed: unknown[] = []
    for (const rule of rateRules) {
      const verdict = await rule.decide(evidence)
      if (verdict.verdict === 'fail') failed.push({ rule: rule.id, ...verdict })
    }
    expect(failed).toEqual([])
  })
})
