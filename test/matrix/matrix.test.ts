import { describe, expect, test } from 'vitest'
import { faults } from '../../src/service/faults/list.ts'
import type { ActName } from './acts.ts'
import { singleVariants } from './variants.ts'
import { verdictsOf } from './verdicts.ts'

/**
 * The audit of the auditor: the rule of each fault of the reference service must fail on it, and
 * nothing may fail on a legal service. `npm run matrix` runs them all at night; here is one fault
 * of each act, and a few services.
 */
const sample: Readonly<Record<string, ActName>> = {
  'latin1-body': 'errors',
  'stream-utf8-cut': 'streams',
  'stream-cut-60s': 'slow',
  'context-truncated': 'windows',
  'streams-free': 'billing',
  'charge-on-503': 'outages',
  'check-then-act': 'exhaustion',
  'per-key-balance': 'accounts',
  'charges-last-account': 'accounts',
  'ranges-not-additive': 'usage',
  'charged-at-start': 'breaking',
  'reward-on-every-payment': 'gifts',
  'token-inflation': 'texts',
  'other-model-under-load': 'loaded',
}

describe.concurrent('the rule of a fault fails on it', () => {
  test.each(Object.entries(sample))('%s', { tags: 'whole' }, async (name, act) => {
    const { rule } = faults.find((fault) => fault.name === name)!
    const verdicts = await verdictsOf({ faults: [name] }, [act], [rule])
    expect(verdicts.get(rule)?.verdict.verdict).toBe('fail')
  })
})

const quickActs: readonly ActName[] = ['billing', 'streams', 'exhaustion', 'accounts']

describe('nothing fails on a legal service', () => {
  const chosen = ['creditsHeader=snapshot', 'algorithm=gcra']
  const variants = singleVariants.filter(({ name }) => chosen.includes(name))
  const isJust = async (profile: object, acts = quickActs) => {
    const verdicts = await verdictsOf({ profile }, acts)
    // Rate rules have their own suite of variants, on traffic made for them (test/audit/rates).
    const failed = [...verdicts.values()].filter(
      ({ rule, verdict }) => verdict.verdict === 'fail' && !rule.startsWith('RATE'),
    )
    expect(failed).toEqual([])
  }
  test('the default service', () => isJust({}))
  test.each(variants)('$name, by what it charges', ({ profile }) => isJust(profile, ['billing']))
  test.each(variants)('$name', { tags: 'whole' }, ({ profile }) => isJust(profile))
})
