import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { isBroken } from '../../src/audit/verdict.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { loadFullContract } from '../../src/contract/load.ts'
import { gapIds } from '../../src/contract/profile.ts'
import { priceOf } from '../../src/probe/price.ts'
import { probe } from '../../src/probe/probe.ts'
import { algorithmOf } from '../../src/probe/questions/algorithm.ts'
import { questions } from '../../src/probe/questions/list.ts'
import { openStore } from '../../src/store/session/open.ts'
import { UserError } from '../../src/user/user-error.ts'
import { arrivalOf } from '../limits/limited-requests.ts'
import { probeService } from './probing.ts'

const circumstances = {
  ...{ contract: defaultContract, minuteLimit: 60, readCredits: 1 },
  ...{ hasOperator: false, secondKey: 'none' },
}

test('each of the 37 gaps is asked by exactly one question', () => {
  const asked = questions.flatMap(({ gaps }) => gaps)
  expect([...asked].sort()).toEqual([...gapIds])
  expect(gapIds).toHaveLength(37)
})

test('no question costs more than its price, and the probe no more than its budget', {
  tags: 'whole',
}, async () => {
  const prices = priceOf(
    { ...circumstances, hasOperator: true, secondKey: 'another' },
    [],
    null,
    90,
    2,
  )
  const { profile, store, service } = await probeService({ maxCredits: 90 })
  expect(profile.credits_spent).toBeLessThanOrEqual(90)
  const charged = await store.rows<{ phase: string; credits: number }>(
    `SELECT phase, sum(CASE WHEN outcome = 'http_error' OR endpoint NOT IN ('chat', 'messages') THEN 0
       WHEN model = 'svc-k2.5' THEN 2 ELSE 1 END)::INTEGER AS credits
     FROM attempts GROUP BY phase`,
  )
  for (const { phase, credits } of charged) {
    const price = prices.questions.find(({ gaps }) => gaps.join(' ') === phase)?.credits ?? 1
    expect([phase, credits]).toEqual([phase, Math.min(credits, price)])
  }
  const unasked = gapIds.filter((gap) => 'why' in profile.answers[gap])
  expect(unasked.length).toBeGreaterThan(4)
  expect(JSON.stringify(profile.answers['G-22'])).toMatch(
    /credits, and the budget has \d+ left; raise --max-credits/,
  )
  // The operator restored the balance, so the account is unchanged.
  expect(service.operator.balance(service.keys[0]!.account)).toBe(899 + 1)
})

test.each([
  // Two reads agree; whether they were free is not asked here, so they may have cost one each.
  ['nothing', 'none', { credits: 3, firstReadsCredits: 2, balance: 900 }],
  // Four show that each costs one, the fifth confirms it.
  ['a credit', 'both', { credits: 6, firstReadsCredits: 5, balance: 895 }],
] as const)(
  'if a read costs %s, the price includes the first reads',
  async (_, readsCharged, told) => {
    const { profile, price } = await probeService({ profile: { readsCharged }, only: ['G-02'] })
    expect(price).toMatchObject(told)
    expect(profile.credits_spent).toBe(told.credits)
  },
)

test.each([
  ['free', 'none', ['G-02', 'G-21'], 11],
  ['paid', 'both', ['G-13', 'G-14', 'G-15', 'G-18', 'G-37'], 148],
] as const)(
  'with %s reads, the probe spends no more than its price',
  { tags: 'whole' },
  async (_, readsCharged, only, credits) => {
    const { profile, price, store } = await probeService({ profile: { readsCharged }, only })
    expect(price.credits).toBe(credits)
    expect(profile.credits_spent).toBeLessThanOrEqual(credits)
    expect(profile.answers[only.at(-1)!].status).toBe('answered')
    const [served] = await store.rows<{ n: number }>(
      "SELECT count(*)::INTEGER AS n FROM attempts WHERE outcome != 'http_error'",
    )
    expect(served!.n).toBeLessThanOrEqual(credits)
  },
)

test('an account of 100 credits pays for all that an audit reads but the limiter', {
  tags: 'whole',
}, async () => {
  const { profile, tooDear } = await probeService({ balance: 100 })
  const status = (['G-14', 'G-15', 'G-18', 'G-21'] as const).map((gap) => profile.answers[gap])
  expect(status.map((each) => each.status)).not.toContain('not-askable')
  expect(tooDear.map(({ gaps }) => gaps.join(' '))).toEqual(['G-22 G-32'])
})

test('a question that the account may not cover is not asked', { tags: 'whole' }, async () => {
  const { profile, store, tooDear } = await probeService({ balance: 40, only: ['G-09', 'G-22'] })
  expect(tooDear).toEqual([{ gaps: ['G-22', 'G-32'], credits: 80 }])
  expect(profile.answers['G-09'].status).toBe('answered')
  expect(profile.answers['G-22']).toEqual({
    status: 'not-askable',
    why: expect.stringMatching(/^needs up to 80 credits, and the account has \d\d$/),
  })
  const [refused] = await store.rows(
    'SELECT count(*)::INTEGER AS n FROM attempts WHERE status = 403',
  )
  expect(refused).toEqual({ n: 0 })
})

// They wait for answers most of the time: several run at once, each with its own service and store.
test.concurrent.for(questions.map(({ gaps }) => [gaps.join(', '), gaps] as const))(
  '%s can be asked alone',
  { tags: 'whole' },
  async ([, gaps], { onTestFinished }) => {
    const { profile, asked, price } = await probeService({ only: gaps, atEnd: onTestFinished })
    expect([...asked].sort()).toEqual([...gaps].sort())
    expect(profile.credits_spent).toBeLessThanOrEqual(price.credits)
    expect(gaps.map((gap) => profile.answers[gap])).not.toContainEqual({
      status: 'not-asked',
      why: 'not among the questions asked',
    })
  },
)

test('a contract with a free model and one header is probed with a paid model', {
  tags: 'whole',
}, async () => {
  const contract = loadFullContract(
    resolve(import.meta.dirname, '../../contracts/open-gateway.yaml'),
  )
  const { profile, store } = await probeService({
    ...{ contract, balance: 6_000, secondKey: false },
    ...{ only: ['G-02', 'G-08', 'G-14', 'G-16', 'G-37'] },
    profile: { abortedStream: 'charged' },
    // A stream so long that it is aborted in time even if this machine stalls meanwhile.
    shape: { betweenTokensUs: { kind: 'constant', value: 20_000 } },
  })
  const { answers } = profile
  expect(answers['G-16']).toMatchObject({ is: { 'one token': 'charged' } })
  expect(answers['G-14']).toMatchObject({ is: { 'after four events': 'charged' } })
  expect(answers['G-37']).toMatchObject({ is: { 'second time': 'charged' } })
  expect(answers['G-02']).toMatchObject({ why: 'the contract has every model listed' })
  expect(answers['G-08']).toMatchObject({ why: 'both endpoints take authorization' })
  const { findings } = await audit(store, {
    ...{ contract, rules: ['AUTH', 'BILL'], auditId: 'a', auditedAt: new Date(0) },
  })
  expect(findings.filter(isBroken)).toEqual([])
})

const neverKept = ['no limit', 'a higher limit']
const belowLimit = 'a bucket of fewer than the limit'

test.each([
  [40, 4, 20, null],
  // Twice the limit over an edge of two windows, or from a bucket that refills meanwhile.
  [40, 2, 20, [...neverKept, 'fixed-aligned', belowLimit, 'token-bucket']],
  [61, 1, 20, neverKept],
  [104, 0.9, 60, [...neverKept, 'fixed-aligned', belowLimit, 'token-bucket']],
])('%i admissions, one per %d s, fit models of a limit of %i', (requests, s, limit, fits) => {
  const limited = Array.from({ length: requests }, (_, slot) => {
    const us = slot * s * 1e6
    return arrivalOf(slot, us, us + 0.6e6, { decision: 'admitted', status: 200, limit })
  })
  const answer = algorithmOf({ limited, contract: defaultContract }, 0, limit)
  expect(answer).toMatchObject(
    fits === null
      ? {
          status: 'not-askable',
          why: 'answers came too slowly to pass the limit: 15 of 20 in one minute',
        }
      : { status: 'ambiguous', between: { algorithm: fits } },
  )
})

test('a probe that is stopped while a service hangs is reported as interrupted', async () => {
  const stop = new AbortController()
  const server = createServer(() => stop.abort())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const { port } = server.address() as AddressInfo
  const { interrupted, profile } = await probe({
    ...{ store, contract: defaultContract, baseUrl: `http://127.0.0.1:${port}` },
    ...{ runId: 'a', apiKey: 'k', secondKey: null, operator: null, maxCredits: 9, timeScale: 1 },
    ...{ only: [], startedAt: new Date(0), now: () => performance.now() * 1000 },
    ...{ sleep: async () => {}, signal: stop.signal },
  })
  expect(interrupted).toBe(true)
  expect(profile.answers['G-02']).toMatchObject({ why: 'the probe was interrupted before it' })
})

test('numbers of ledger entries are not taken for counts of requests', {
  tags: 'whole',
}, async () => {
  const { profile } = await probeService({ only: ['G-09'] })
  const told = profile.answers['G-09']
  expect(told).toMatchObject({ status: 'answered' })
  expect(JSON.stringify(told)).toMatch(/by_day\.\d\.requests/)
  expect(JSON.stringify(told)).not.toMatch(/\bid\b/)
})

test('without a budget for a generation, questions about its headers are not asked', async () => {
  const { profile } = await probeService({ only: ['G-02', 'G-19'], maxCredits: 3 })
  expect(profile.answers['G-19']).toEqual({
    status: 'not-askable',
    why: 'no generation was asked for',
  })
})

test('answers are kept, and the run ends, if the operator cannot restore the balance', async () => {
  const { profile, asked, unrestored, store } = await probeService({
    only: ['G-12'],
    setBalance: () => Promise.reject(new Error('no response')),
  })
  expect(asked).toEqual(['G-12'])
  expect(profile.answers['G-12'].status).not.toBe('not-asked')
  expect(unrestored).toMatch(
    /^The balance before the probe was \d+ credits, and the operator could not restore it: no response/,
  )
  expect(await store.rows('SELECT verdict, ended_us IS NOT NULL AS ended FROM runs')).toEqual([
    { verdict: 'valid', ended: true },
  ])
})

test('an error that ends a probe tells also that the balance could not be restored', async () => {
  const down = () => Promise.reject(new UserError('operator', 'The operator is down.'))
  const ended = probeService({ only: ['G-24'], setBalance: down })
  await expect(ended).rejects.toMatchObject({
    code: 'operator',
    message:
      'The operator is down.\nThe balance before the probe was 900 credits, and the operator could not restore it: The operator is down.',
  })
  const wrong = probeService({
    only: ['G-24'],
    setBalance: () => Promise.reject(new TypeError('no such thing')),
  })
  await expect(wrong).rejects.toThrow(
    /^The balance before the probe was 900 credits, .* no such thing\nTypeError: no such thing\n +at /,
  )
})
