import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { tries } from '../nightly/tries.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

const opened: Store[] = []
afterEach(() => {
  for (const store of opened.splice(0)) store.close()
})

async function stored(runs: Readonly<Record<string, readonly AttemptRow[]>>): Promise<Store> {
  const store = await openStore(':memory:')
  opened.push(store)
  for (const [runId, rows] of Object.entries(runs)) {
    await startRun(store, startOf(runId))
    await appendAttempts(
      store,
      rows.map((row) => ({ ...row, runId })),
    )
  }
  return store
}

/** `n` successes of 10 tokens at a constant rate. */
const load = (n: number, perS: number, tookMs: (at: number) => number) =>
  Array.from({ length: n }, (_, slot) => {
    const intendedUs = Math.round((slot * 1e6) / perS)
    const closedUs = intendedUs + tookMs(slot) * 1000
    return attempt({
      ...{ slot, intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs },
      ...{ doneUs: closedUs, closedUs, completionTokens: 10 },
    })
  })

async function rateOf(store: Store, text: string) {
  const threshold = parseThreshold(text)
  if (typeof threshold === 'string') throw new Error(threshold)
  const objectives = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const scope = { runId: 'a', contract: defaultContract, objectives }
  return checkThreshold(store, threshold, scope)
}

test.each([
  ['of 5 ms', () => 5, 20, 20],
  ['of 1 s', () => 1000, 20, 20],
  ['of which one is 12 s late', (at: number) => (at === 60 ? 12_000 : 5), 20, 19.8],
  // A server that ends ten a second: its queue grows, and its answers become later and later.
  ['by half of what is sent', (at: number) => 100 + at * 50, 20, 10],
])(
  'of 20 requests a second for 5 s with answers %s',
  { tags: 'whole' },
  async (_how, tookMs, requests, ok) => {
    const store = await stored({ a: load(100, 20, tookMs) })
    const sent = await rateOf(store, 'requests.rate >= 19/s')
    expect([sent.result, sent.value]).toEqual(['held', requests])
    const tokens = await rateOf(store, 'tokens.rate > 0/s')
    expect(tokens.value! / 10).toBeCloseTo(ok, 0)
    const { all } = await summarise(store, 'a', defaultContract)
    expect(all).toMatchObject({
      sentPerS: requests,
      arrivalS: 5,
      completionTokensPerS: tokens.value,
    })
    expect(all.okPerS).toBeCloseTo(ok, 0)
  },
)

test('a rate of arrivals never depends on the answers', { tags: 'whole' }, async () => {
  const rows = fc.array(
    fc.record({ atMs: fc.nat({ max: 9000 }), tookMs: fc.nat({ max: 60_000 }), ok: fc.boolean() }),
    { minLength: 2, maxLength: 30 },
  )
  await fc.assert(
    fc.asyncProperty(rows, async (made) => {
      const of = (fast: boolean) =>
        made.map(({ atMs, tookMs, ok }, slot) => {
          const intendedUs = atMs * 1000
          const closedUs = intendedUs + (fast ? 1000 : tookMs * 1000)
          const ended = fast || ok ? {} : ({ outcome: 'timeout', doneUs: null } as const)
          return attempt({
            slot,
            intendedUs,
            sentUs: intendedUs,
            closedUs,
            doneUs: closedUs,
            ...ended,
          })
        })
      const [fast, slow] = [await stored({ a: of(true) }), await stored({ a: of(false) })]
      const rate = 'requests.rate > 0/s'
      expect((await rateOf(slow, rate)).value).toBe((await rateOf(fast, rate)).value)
    }),
    { numRuns: tries(6, 50) },
  )
})

test('one arrival has no rate, which is inconclusive', async () => {
  const store = await stored({ a: load(1, 20, () => 5) })
  for (const text of ['requests.rate > 0/s', 'tokens.rate > 0/s']) {
    expect(await rateOf(store, text)).toMatchObject({ result: 'inconclusive', value: null })
  }
  expect((await summarise(store, 'a', defaultContract)).all).toMatchObject({
    sentPerS: null,
    okPerS: null,
  })
})

test('one late answer is no loss of throughput, and half of the answers are', {
  tags: 'whole',
}, async () => {
  const late = load(1801, 30, (at) => (at === 100 ? 25_000 : 5))
  const half = load(1801, 30, () => 5).map((row, at) =>
    at % 2 === 0 ? row : { ...row, outcome: 'http_error', status: 500 },
  )
  const store = await stored({ a: load(1801, 30, () => 5), b: late, c: half })
  const gated = async (runId: string) => {
    const comparison = await compareRuns({ store, runId: 'a' }, { store, runId }, defaultContract)
    return judgeGate(comparison, parseGate('throughput < -5%'))
  }
  expect((await gated('b')).result).toBe('passed')
  expect((await gated('c')).result).toBe('failed')
})
