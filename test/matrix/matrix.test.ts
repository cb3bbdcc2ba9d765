import { describe, expect, test } from 'vitest'
import { faults } from '../../src/service/faults/list.ts'
import type { ActName } from './acts.ts'
import { randomVariants, singleVariants } from './variants.ts'
import { verdictsOf } from './verdicts.ts'

/**
 * The auditor's own audit: each fault of the reference service must be failed by the rule that it
 * was made for, and on a legal service nothing may fail. `npm run matrix` holds them all; here is a
 * part that is quick.
 */
const sample: Readonly<Record<string, ActName>> = {
  'latin1-body': 'errors',
  'auth-case-folded': 'errors',
  'model-created-ms': 'errors',
  'stop-ignored': 'errors',
  'messages-temperature-2': 'errors',
  'stream-utf8-cut': 'streams',
  'done-twice': 'streams',
  'stream-cut-60s': 'slow',
  'context-truncated': 'windows',
  'streams-free': 'billing',
  'charge-on-503': 'outages',
  'async-settle': 'billing',
  'lost-update': 'billing',
  'check-then-act': 'exhaustion',
  'per-key-balance': 'accounts',
  'ranges-not-additive': 'usage',
  'usage-cached-a-day': 'usage',
  'charged-at-start': 'breaking',
  'reward-on-every-payment': 'gifts',
  'self-invite': 'gifts',
  'starter-expires': 'gifts',
  'expired-spendable': 'gifts',
}

/** At a desk the first few; CI holds them all. */
const atDesk = <T>(all: readonly T[], few: number): readonly T[] =>
  process.env.CI === undefined ? all.slice(0, few) : all

describe.concurrent('a fault is failed by the rule that it was made for', () => {
  test.each(atDesk(Object.entries(sample), 6))('%s', async (name, act) => {
    const { rule } = faults.find((fault) => fault.name === name)!
    const verdicts = await verdictsOf({ faults: [name] }, [act], [rule])
    expect(verdicts.get(rule)?.verdict.verdict).toBe('fail')
  })
})

const quickActs: readonly ActName[] = ['billing', 'streams', 'exhaustion', 'accounts']

describe('nothing fails on a legal service', () => {
  const chosen = [
    { name: 'as it comes', profile: {} },
    ...singleVariants.filter(({ name }) =>
      ['creditsHeader=before', 'creditsHeader=snapshot', 'charge=start', 'algorithm=gcra'].includes(
        name,
      ),
    ),
    ...randomVariants(2, 20_261_120),
  ]
  // At a desk three; CI holds them all.
  test.each(process.env.CI === undefined ? chosen.slice(0, 3) : chosen)(
    '$name',
    async ({ profile }) => {
      const verdicts = await verdictsOf({ profile }, quickActs)
      // Rate rules have a suite of variants of their own, on traffic made for them (test/audit/rates).
      const failed = [...verdicts.values()].filter(
        ({ rule, verdict }) => verdict.verdict === 'fail' && !rule.startsWith('RATE'),
      )
      expect(failed).toEqual([])
    },
  )
})
