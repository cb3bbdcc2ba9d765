import { expect, test } from 'vitest'
import { soldActs } from './sold-acts.ts'
import { verdictsOf } from './verdicts.ts'

const names = Object.keys(soldActs) as (keyof typeof soldActs)[]

test('an honest service that counts by the named encoding passes, and its hidden reasoning is none', async () => {
  const verdicts = await verdictsOf({}, names, ['SOLD'])
  expect([...verdicts].map(([rule, { verdict }]) => [rule, verdict.verdict])).toEqual([
    ['SOLD-01', 'pass'],
    ['SOLD-02', 'pass'],
    ['SOLD-03', 'pass'],
    ['SOLD-09', 'pass'],
    ['SOLD-10', 'not-observed'],
  ])
})
