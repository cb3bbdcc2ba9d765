import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { likelyRemaining } from '../../src/credits/said.ts'
import { leavesOf, movedBy } from '../../src/probe/credits-body.ts'
import { readCreditsBody } from '../../src/probe/usage-body.ts'
import { type FakeState, probeFake } from './fake-api.ts'

const used = ({ balance }: FakeState) => 900 - balance
const body = (state: FakeState) => ({
  ...{ remaining: state.balance, used: used(state), requests: state.requests },
})

test.each<[string, (state: FakeState) => object]>([
  ['seconds', ({ seconds }) => ({ as_of: Math.floor(seconds), due_s: 2e6 - Math.floor(seconds) })],
  ['seconds and a quarter', ({ seconds }) => ({ up: seconds * 1.25, due: -seconds * 1.25 })],
  ['reads', ({ reads }) => ({ served_reads: reads.credits })],
])('a clock of %s that moves by the same amount is not taken for a figure', async (_, clock) => {
  const { answers } = await probeFake(
    { creditsBody: (state) => ({ ...clock(state), ...body(state) }) },
    ['G-09'],
  )
  expect(answers['G-09']).toMatchObject({
    status: 'answered',
    is: { remaining: ['remaining'], consumed: ['used'], requests: ['requests'], tokens: [] },
  })
})

test('a balance with a fraction moves by a whole amount as others do', async () => {
  const { answers } = await probeFake(
    { creditsBody: (state) => ({ ...body(state), remaining: state.balance + 0.35 }) },
    ['G-09'],
  )
  expect(answers['G-09']).toMatchObject({ is: { remaining: ['remaining'] } })
  const bodies = [4.35, 3.35, 3.35].map((left) => leavesOf({ left }))
  expect(movedBy(bodies, [-1, 0])).toEqual(['left'])
})

test('a document as deep as it is long has the figures near its root', () => {
  const deep = JSON.parse(`{"left":7,"a":${'['.repeat(100_000)}1${']'.repeat(100_000)}}`) as unknown
  expect([...leavesOf(deep)]).toEqual([['left', 7]])
})

test.each([0, 1])('figures are found if a read costs %i', async (readPrice) => {
  const { answers, state } = await probeFake({ readPrice, creditsBody: body }, ['G-09'])
  expect(answers['G-09']).toMatchObject({
    status: 'answered',
    is: { remaining: ['remaining'], consumed: ['used'], requests: ['requests'] },
  })
  expect(state.reads.credits).toBeLessThan(16)
})

test('credits and requests are not distinguished if every request costs one credit', async () => {
  const models = defaultContract.models.map((model) => ({ ...model, costCredits: 1 }))
  const { answers } = await probeFake(
    { creditsBody: body, contract: { ...defaultContract, models } },
    ['G-09'],
  )
  expect(answers['G-09']).toMatchObject({
    status: 'ambiguous',
    is: { remaining: ['remaining'] },
    between: { consumed: ['used', 'requests'], requests: ['used', 'requests'] },
  })
})

test.each([
  { limits: { remaining_requests: 19 }, balance: 97 },
  { days_left: 12, balance: 97 },
  { low_balance_threshold: 10, balance: 97 },
  { opening_balance: 100, credits_remaining: '97' },
  { packages: [{ remaining: 50 }], total_remaining: 97 },
  { requests: { remaining: 19 }, data: { balance: 97 } },
  { balance: { amount: 97, pending: 3 } },
  { balance_infos: [{ currency: 'CNY', total_balance: '97.00' }] },
])('what remains is not another number: %j', (document) => {
  expect(likelyRemaining(document)).toBe(97)
})

test('figures may be texts, and an expiry may be Unix time as text, or be unreadable', () => {
  const grants = (expires_at: unknown) =>
    readCreditsBody({ grants: [{ name: 'a', remaining: '97.5', expires_at }] }).grants
  expect(readCreditsBody({ balance: '97.5' }).remaining).toBe(97.5)
  expect(grants('1793000000')).toEqual([{ name: 'a', credits: 97.5, expiresUs: 1793000000e6 }])
  expect(grants('2026-10-01T00:00:00')[0]?.expiresUs).toBe(Date.UTC(2026, 9, 1) * 1000)
  expect(grants(null)[0]?.expiresUs).toBeNull()
  expect(grants('soon')).toEqual([])
})
