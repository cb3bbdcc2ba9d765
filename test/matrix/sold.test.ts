import { expect, test } from 'vitest'
import type { ActName } from './acts.ts'
import { soldActs } from './sold-acts.ts'
import { verdictsOf } from './verdicts.ts'

/** Acts about times run alone: other work at the same time is a load of its own. */
const timed: readonly ActName[] = ['cached', 'tiers']
const counted = (Object.keys(soldActs) as ActName[]).filter((name) => !timed.includes(name))

const saidOf = async (names: readonly ActName[], rules: readonly string[]) =>
  [...(await verdictsOf({}, names, rules))].map(([rule, { verdict }]) => [rule, verdict.verdict])

test('an honest service that counts by the named encoding passes, and its hidden reasoning is none', {
  tags: 'whole',
}, async () => {
  const said = await saidOf(counted, ['SOLD'])
  // By chance about one honest play in twenty-five decides nothing about the model under load (docs/decisions/1016).
  expect(['pass', 'inconclusive']).toContain(said.at(-1)![1])
  expect(said.slice(0, -1)).toEqual([
    ['SOLD-01', 'pass'],
    ['SOLD-02', 'pass'],
    ['SOLD-03', 'pass'],
    ['SOLD-04', 'not-observed'],
    ['SOLD-05', 'pass'],
    ['SOLD-06', 'pass'],
    ['SOLD-07', 'pass'],
    ['SOLD-08', 'not-observed'],
    ['SOLD-09', 'pass'],
    ['SOLD-10', 'not-observed'],
  ])
})

test('an honest service without a cache, whose paid tier is faster than sold, fails nothing', {
  tags: 'whole',
}, async () => {
  const [[, cache], [, tier]] = [
    (await saidOf(['cached'], ['SOLD-04']))[0]!,
    (await saidOf(['tiers'], ['SOLD-08']))[0]!,
  ]
  expect(['pass', 'inconclusive']).toContain(cache)
  expect(['pass', 'inconclusive']).toContain(tier)
})
