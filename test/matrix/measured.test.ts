import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { formatsOnly } from '../../src/contract/formats-only.ts'
import type { ActName } from './acts.ts'
import { auditStages } from './stage.ts'
import { playAct } from './verdicts.ts'

/** What a sentence of each rule says of these acts, by a contract that promises nothing of it. */
const measured: readonly (readonly [string, ActName, RegExp])[] = [
  ['SOLD-01', 'repeats', /^svc-k2: time 1\.000, year 1\.000, people 1\.000/],
  ['SOLD-02', 'repeats', /^svc-k2: 7 tokens beside the text$/],
  ['SOLD-03', 'codes', /^svc-k2: 160 of 160 codes of a prompt of 7,\d\d\d tokens found$/],
  ['SOLD-04', 'cached', /^svc-k2: repeated prompts began \d+\.\d\d times as fast/],
  ['SOLD-05', 'watched', /^svc-k2: 50 sessions since the 10 of the reference fit/],
  [
    'SOLD-06',
    'referenced',
    /^the likeliest first token of a prompt has \d\d % of the answers of 10/,
  ],
  ['SOLD-07', 'tools', /^svc-k2: 0 of 100 calls have arguments that do not fit the schema/],
  [
    'SOLD-08',
    'tiers',
    /^svc-k2: priority took \d\.\d\d of the default's time to the first token \(\d+ pairs\)$/,
  ],
  ['SOLD-09', 'long', /^svc-k2: 10 answers of 2,000 counted tokens have [\d,]+ by o200k$/],
]

test.each(measured)(
  '%s measures what is not promised, says it beside the missing promise, and accuses nobody',
  { tags: 'whole' },
  async (rule, name, said) => {
    const stage = await playAct(name, {})
    const { findings } = await auditStages([stage], formatsOnly, { rules: [rule] })
    const { verdict } = findings[0]!
    expect(verdict).toMatchObject({ verdict: 'not-promised', note: expect.stringMatching(said) })
    expect('note' in verdict && verdict.note).not.toContain('promises')
  },
)

test('SOLD-10 says the most reasoning of an answer, and that hidden text cannot be counted', async () => {
  const stage = await playAct('long', { faults: ['reasoning-inflation'] })
  const { findings } = await auditStages([stage], defaultContract, { rules: ['SOLD-10'] })
  expect(findings[0]!.verdict).toMatchObject({
    verdict: 'not-promised',
    promises: ['models.max_reasoning_tokens'],
    note: expect.stringContaining('tokens of reasoning'),
  })
})
