import { expect, test } from 'vitest'
import { soldRules } from '../../src/audit/rules/sold/list.ts'
import { soldFaults } from '../../src/service/faults/sold.ts'
import type { ActName } from './acts.ts'
import { verdictsOf } from './verdicts.ts'

interface Told {
  readonly fault: string
  /** What the reference does, where it is no honest service of the usual kind. */
  readonly atReference?: string
  readonly rule: string
  readonly acts: readonly ActName[]
  readonly said: RegExp
}

/** Each fault, in the strengths that the rules speak of: the rule that fails, and what it says. */
const told: readonly Told[] = [
  {
    fault: 'token-inflation',
    rule: 'SOLD-01',
    acts: ['texts'],
    said: /counts 1\.100 tokens \(1\.099 to 1\.101\) for each token of cl100k, alike in three scripts/,
  },
  {
    fault: 'token-inflation:1.02',
    rule: 'SOLD-01',
    acts: ['texts'],
    said: /counts 1\.020 tokens .* alike in three scripts/,
  },
  {
    fault: 'token-inflation:1.05',
    rule: 'SOLD-01',
    acts: ['repeats'],
    said: /time 1\.050, year 1\.050/,
  },
  {
    fault: 'stream-inflation',
    rule: 'SOLD-01',
    acts: ['texts'],
    said: /In streams: the service counts 1\.100 tokens .* alike in three scripts.* in 12 requests/,
  },
  { fault: 'token-rounding', rule: 'SOLD-01', acts: ['texts'], said: /multiples? of 64/ },
  {
    fault: 'hidden-prompt',
    rule: 'SOLD-02',
    acts: ['short'],
    said: /counted 37 tokens more than its text; .* at most 7/,
  },
  {
    fault: 'hidden-prompt',
    rule: 'SOLD-02',
    acts: ['compared'],
    said: /counted 30 tokens more than at the reference/,
  },
  {
    fault: 'context-lost',
    rule: 'SOLD-03',
    acts: ['codes'],
    said: /Of .* codes between .* none was found/,
  },
  {
    fault: 'cached-not-told',
    rule: 'SOLD-04',
    acts: ['cached'],
    said: /the cache is used and not credited/,
  },
  { fault: 'cached-too-many', rule: 'SOLD-04', acts: ['cached'], said: /cached/ },
  {
    fault: 'model-swap-after',
    rule: 'SOLD-05',
    acts: ['watched'],
    said: /^svc-k2: Since .* differ from the \d+ sessions before/,
  },
  {
    fault: 'other-model',
    rule: 'SOLD-06',
    acts: ['referenced'],
    said: /differ from the reference by 0\.[2-9]/,
  },
  {
    fault: 'other-model-under-load',
    rule: 'SOLD-11',
    acts: ['loaded'],
    said: /another model, or another way to run it/,
  },
  {
    fault: 'quantized',
    rule: 'SOLD-06',
    acts: ['referenced'],
    said: /differ from the reference by 0\.[1-9]/,
  },
  {
    fault: 'tool-rewritten',
    rule: 'SOLD-07',
    acts: ['tools'],
    said: /"pip instal .*" in place of "pip install /,
  },
  {
    fault: 'tool-broken',
    rule: 'SOLD-07',
    acts: ['tools'],
    said: /arguments that do not fit the schema/,
  },
  {
    fault: 'tier-ignored',
    rule: 'SOLD-08',
    acts: ['tiers'],
    said: /priority took \d\.\d\d of the default's time/,
  },
  {
    fault: 'output-inflation',
    rule: 'SOLD-09',
    acts: ['long'],
    said: /10 answers of 2,000 counted tokens have 1,8\d\d by cl100k\. /,
  },
  {
    fault: 'output-inflation',
    rule: 'SOLD-09',
    acts: ['compared'],
    said: /have 1,8\d\d by cl100k; those of the reference have 100\.0 % of theirs/,
  },
  {
    fault: 'reasoning-inflation',
    rule: 'SOLD-10',
    acts: ['long'],
    said: /1000 tokens of reasoning; the contract promises at most 400/,
  },
  {
    fault: 'reasoning-inflation',
    rule: 'SOLD-10',
    acts: ['thought'],
    said: /300 tokens of reasoning beside 60 of text in 0\.\d+ s; twice the highest speed seen gives/,
  },
  {
    ...{ fault: 'reasoning-inflation', atReference: 'reasoning-inflation:1' },
    rule: 'SOLD-10',
    acts: ['reasoned'],
    said: /For 24 questions, 4\.84 times the reasoning of the reference \(p 0\.001\)\. .* tokens too many in 24 requests/,
  },
]

test.each(told)(
  '$fault is told by $rule in $acts: $said',
  { tags: 'whole' },
  async ({ fault, atReference, rule, acts, said }) => {
    const faults = atReference === undefined ? [] : [atReference]
    const own = { faults: [fault], seed: 3 }
    const { verdict } = (await verdictsOf(own, acts, [rule], { faults })).get(rule)!
    expect(verdict).toMatchObject({ verdict: 'fail', observed: expect.stringMatching(said) })
  },
)

test('with a reference the excess of output tokens is no advice: the rule is a must', {
  tags: 'whole',
}, async () => {
  const severityOf = async (act: ActName) =>
    (await verdictsOf({ faults: ['output-inflation'] }, [act], ['SOLD-09'])).get('SOLD-09')!
      .severity
  expect(await severityOf('long')).toBe('advice')
  expect(await severityOf('compared')).toBe('must')
})

test('each rule of what is sold has a fault, and each fault its row here', () => {
  const names = told.map(({ fault }) => fault.split(':')[0])
  expect(soldFaults.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([])
  const rules = soldFaults.map(({ rule }) => rule)
  expect(soldRules.map(({ id }) => id).filter((id) => !rules.includes(id))).toEqual([])
})
