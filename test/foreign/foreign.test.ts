import { describe, expect, test } from 'vitest'
import { type AuditOptions, audit } from '../../src/audit/audit.ts'
import { isBroken } from '../../src/audit/verdict.ts'
import { contractOf, type Probed, probeForeign, startForeign } from './foreign.ts'

/** What an audit reports of each broken promise. */
async function failuresOf({ store, ...known }: Probed & Pick<AuditOptions, 'contract'>) {
  const { findings } = await audit(store, {
    ...{ ...known, auditId: 'audit-1', auditedAt: new Date(0) },
  })
  return Object.fromEntries(
    findings
      .filter(isBroken)
      .map(({ rule, verdict }) => [rule, verdict.verdict === 'fail' ? verdict.observed : '']),
  )
}

const draft6 = {
  rateLimit: ['ratelimit-limit'],
  rateRemaining: ['ratelimit-remaining'],
  rateReset: ['ratelimit-reset'],
} as const

/** The reset unit of each by its source, and its count per key by default. */
const limiters = [
  ['express-rate-limit', 'address', 'epoch-s', {}],
  ['fastify', 'route', 'delta-s', {}],
  ['rate-limiter-flexible', 'key', 'epoch-s', {}],
  ['koa-ratelimit', 'bearer', 'epoch-s', {}],
  ['hono-rate-limiter', 'route', 'delta-s', draft6],
] as const

describe.each(limiters)('%s, one count for each %s', (limiter, scope, unit, headers) => {
  test('has the probe answers of its source, and no false failure in the audit', {
    tags: 'whole',
  }, async () => {
    const contract = contractOf(headers)
    const { profile, store } = await probeForeign(await startForeign(limiter, scope), contract)
    expect(profile.answers['G-21']).toMatchObject({ status: 'answered', is: { unit } })
    expect(profile.answers['G-22']).toMatchObject({ is: { algorithm: 'fixed-anchored' } })
    // It has no credits.
    const accused = await failuresOf({ contract, profile, store })
    expect(Object.keys(accused)).toEqual(['TRN-05'])
  })
})

test('anchored windows that begin on the minute are distinguished from aligned windows', async () => {
  // The question begins after two minutes of rest and a second.
  const foreign = await startForeign('fastify', 'key', 59)
  const { profile } = await probeForeign(foreign, contractOf({}), ['G-22'])
  expect(profile.answers['G-22']).toMatchObject({ is: { algorithm: 'fixed-anchored' } })
})

test('a gateway like LiteLLM is probed, and fails only what it breaks', {
  tags: 'whole',
}, async () => {
  const { rateReset: _, ...headers } = contractOf({
    rateLimit: ['x-ratelimit-limit-requests'],
    rateRemaining: ['x-ratelimit-remaining-requests'],
  }).headers
  const contract = { ...contractOf({}), headers }
  // No minute ends within the burst, where a sliding counter would explain the answers as well.
  const foreign = await startForeign('like-litellm', 'key', 47)
  const { profile, store } = await probeForeign(foreign, contract)
  const { answers } = profile
  expect(answers['G-22']).toMatchObject({ is: { algorithm: 'fixed-aligned' } })
  expect(answers['G-21']).toMatchObject({ why: 'the contract names no reset header' })
  expect(answers['G-04']).not.toHaveProperty(['is', 'stop sequence'])
  expect(answers['G-33']).toMatchObject({ is: {} })
  expect(answers['G-06']).toMatchObject({ between: { key: ['none', 'either'] } })
  const accused = await failuresOf({ contract, profile, store })
  // Of the limit rules, only the count below zero; the others are missing credits, plain text and
  // stops.
  expect(Object.keys(accused).sort()).toEqual(['CHAT-07', 'RATE-08', 'RATE-10', 'TRN-02', 'TRN-05'])
  expect(accused).toMatchObject({ 'RATE-08': '-1', 'RATE-10': 'remaining -1 of 20' })
})
