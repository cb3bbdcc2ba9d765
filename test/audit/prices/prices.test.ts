import { expect, test } from 'vitest'
import { faults } from './faults.ts'
import { play } from './gateway.ts'

const ruleOf = { stated: 'PRICE-03', log: 'PRICE-04', balance: 'PRICE-06' } as const

test('an honest gateway raises no alarm, and each part of a price that the traffic had passes', {
  tags: 'whole',
}, async () => {
  for (const dialect of ['chat', 'messages'] as const) {
    const { findings, failed } = await play({}, [], { dialect })
    expect(failed).toEqual([])
    expect(Object.fromEntries(findings.map((each) => [each.rule, each.verdict.verdict]))).toEqual({
      'PRICE-01': 'pass',
      'PRICE-02': 'pass',
      'PRICE-03': 'pass',
      'PRICE-03:big:input': 'pass',
      'PRICE-03:big:cache_read': 'pass',
      'PRICE-03:big:cache_write': 'pass',
      'PRICE-03:big:output': 'pass',
      'PRICE-03:big-2026:input': 'pass',
      'PRICE-03:big-2026:cache_read': 'not-observed',
      'PRICE-03:big-2026:cache_write': 'not-observed',
      'PRICE-03:big-2026:output': 'pass',
      'PRICE-04': 'pass',
      'PRICE-05': 'pass',
      'PRICE-06': 'pass',
      'PRICE-07': 'not-observed',
      'PRICE-08': 'pass',
    })
  }
})

const both = ['chat', 'messages'] as const

for (const { id, name, fault, places, summary, rules, dialects = both } of faults) {
  test(`${id} ${name} is told from each place where it shows`, { tags: 'whole' }, async () => {
    for (const dialect of dialects) {
      for (const place of places) {
        const { findings, failed } = await play(fault, [place], { dialect })
        const expected = rules ?? [ruleOf[place]]
        const words = findings
          .filter(({ rule }) => expected.includes(rule))
          .map(({ verdict }) => JSON.stringify(verdict))
        expect([id, dialect, place, failed]).toEqual([
          id,
          dialect,
          place,
          expect.arrayContaining([...expected]),
        ])
        expect([id, dialect, place, words.join(' ')]).toEqual([
          id,
          dialect,
          place,
          expect.stringMatching(summary),
        ])
      }
    }
  })
}

test('a spend above its limit that still serves, and a refusal that names another spend, fail', {
  tags: 'whole',
}, async () => {
  const spend = (limit: number) => ({ page: { max_budget: limit } })
  const { of: within } = await play({}, [], spend(10))
  expect(within('PRICE-07').verdict.verdict).toBe('pass')
  const { of: ignored } = await play({}, [], spend(0.001))
  expect(JSON.stringify(ignored('PRICE-07').verdict)).toMatch(
    /served at a spend of 0\.0\d+, above the limit of 0\.001 USD/,
  )
  const { of: doubled } = await play({}, [], {
    refusal: 'Budget has been exceeded! Current cost: 1.1',
  })
  expect(JSON.stringify(doubled('PRICE-07').verdict)).toMatch(
    /refused at a spend of 1\.1, where the service shows/,
  )
})

test.each([
  'Rate limit reached for gpt-5.6 in organization org-1 on tokens per min (TPM): Limit 30000, Used 29400, Requested 1200. Please try again in 1.2s.',
  'Rate limit reached for big on requests per day (RPD): Limit 200, Used 200, Requested 1.',
  'You have used 14 of 15 requests in this minute.',
  'Too many requests: current usage 200, at most 200 in this minute.',
])('a refusal that counts tokens or requests says nothing about the spend: %s', async (refusal) => {
  const { of } = await play({}, [], { refusal })
  // Neither it nor the page has a limit: nothing is compared.
  expect(of('PRICE-07').verdict.verdict).toBe('not-observed')
})

test.each([
  'ExceededTokenBudget: Current spend for token: 5.5; Max Budget for Token: 0.5',
  'Budget has been exceeded! Current cost: 5.5, Max budget: 0.5',
  'Quota exceeded: you have used 5.5 of your budget of 0.5 USD.',
])('a refusal that names twice the spend fails: %s', async (refusal) => {
  const { of } = await play({}, [], { refusal })
  expect(of('PRICE-07').verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('refused at a spend of 5.5, where the service shows'),
  })
})
