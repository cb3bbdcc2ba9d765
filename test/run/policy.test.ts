import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { run } from '../../src/run/run.ts'
import { openStore } from '../../src/store/session/open.ts'
import {
  answerChat,
  chatScenario,
  key,
  query,
  refuse,
  startTarget,
  withStorePath,
} from './target.ts'

const keys = { default: key }

test('a request that may not be sent is a row with its reason, and the counts add up', {
  tags: 'whole',
}, async () => {
  const target = await startTarget(
    (_, response) => void setTimeout(() => answerChat(response), 300),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 100/s, max_requests: 50 }',
      'max_in_flight: 7',
    )
    const { counts, verdict } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts.planned).toBe(50)
    expect(counts.notSent).toBeGreaterThan(20)
    expect(counts.planned).toBe(counts.sent + counts.notSent)
    expect(verdict.tests.find((each) => each.name === 'not sent')!.result).toBe('failed')
    const rows = await query(
      dbPath,
      `SELECT DISTINCT reason, dispatched_us, closed_us, status FROM attempts WHERE outcome = 'not_sent'`,
    )
    expect(rows).toEqual([
      { reason: 'max-in-flight', dispatched_us: null, closed_us: null, status: null },
    ])
  })
  target.close()
})

test('a budget is never exceeded, because requests in flight count as spent', {
  tags: 'whole',
}, async () => {
  let open = 0
  let most = 0
  const target = await startTarget((_, response) => {
    most = Math.max(most, ++open)
    setTimeout(() => answerChat(response), 100)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 400/s, duration: 5s }',
      'max_credits: 30\nthreads: 2',
    )
    const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(summary.counts.ok).toBe(30)
    expect(open).toBe(30)
    expect(summary.stopped).toBe('budget')
    expect(summary.counts.planned).toBeLessThan(2000)
    const [row] = await query<{ n: number }>(
      dbPath,
      `SELECT count(*)::INTEGER AS n FROM attempts WHERE reason = 'budget'`,
    )
    expect(row!.n).toBe(summary.counts.notSent)
  })
  target.close()
})

test('a refused request returns its credits, so a budget counts only charges', async () => {
  let seen = 0
  const target = await startTarget((_, response) =>
    ++seen % 2 === 0 ? refuse(response, 500, 'oops') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: concurrency, users: 1, max_requests: 58 }',
      'max_credits: 30',
    )
    const { counts } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 58, ok: 29, httpError: 29, notSent: 0 })
  })
  target.close()
})

test('retries by the specification are separate rows that name their parent', {
  tags: 'whole',
}, async () => {
  let seen = 0
  const target = await startTarget((_, response) =>
    ++seen === 1 ? refuse(response, 429, 'rate_limit_exceeded') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const phases = '  - { name: steady, load: constant, rate: 5/s, max_requests: 2 }'
    const scenario = chatScenario(phases, 'retries: specification')
    const { counts } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 3, ok: 2, httpError: 1 })
    const rows = await query<{ slot: number; retry: number; waited: number }>(
      dbPath,
      `SELECT slot, retry, (intended_us - lag(closed_us) OVER (PARTITION BY slot ORDER BY retry)) / 1e6 AS waited
       FROM attempts ORDER BY slot, retry`,
    )
    expect(rows.map(({ slot, retry }) => [slot, retry])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ])
    // Base delay of a second and up to a second of jitter.
    expect(rows[1]!.waited).toBeGreaterThanOrEqual(0.99)
    expect(rows[1]!.waited).toBeLessThan(2.1)
  })
  target.close()
})

test.each([
  ['retry-after-ms', () => '2400', 1, 2.4],
  ['retry-after', () => '3', 1, 3],
  // Date has whole seconds, so the wait is one of them at most longer.
  ['retry-after', () => new Date(Date.now() + 4000).toUTCString(), 1, 3],
  // A minute of the service is a second here.
  ['retry-after', () => '150', 60, 2.5],
])(
  'a retry waits as long as %s asks',
  { tags: 'whole' },
  async (name, value, timeScale, leastS) => {
    const seenMs: number[] = []
    const target = await startTarget((_, response) => {
      seenMs.push(performance.now())
      if (seenMs.length > 1) return answerChat(response)
      response.setHeader(name, value())
      refuse(response, 429, 'rate_limit_exceeded')
    })
    await withStorePath(async (dbPath) => {
      const phases = '  - { name: steady, load: constant, rate: 5/s, max_requests: 1 }'
      const scenario = chatScenario(phases, 'retries: specification')
      await run(scenario, { baseUrl: target.baseUrl, dbPath, keys, timeScale })
      expect(seenMs).toHaveLength(2)
      const waitedS = (seenMs[1]! - seenMs[0]!) / 1000
      expect(waitedS).toBeGreaterThanOrEqual(leastS)
      expect(waitedS).toBeLessThan(leastS + 1.5)
    })
    target.close()
  },
)

test('a run stops by itself after consecutive failures', { tags: 'whole' }, async () => {
  const target = await startTarget((_, response) => refuse(response, 500, 'oops'))
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 100/s, duration: 20s }',
      'stop: { consecutive_failures: 50 }',
    )
    const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(summary.stopped).toBe('errors')
    expect(summary.counts.planned).toBeLessThan(2000)
  })
  target.close()
})

test('a deadline ends an attempt as a timeout that is at least as long', {
  tags: 'whole',
}, async () => {
  const target = await startTarget(() => {})
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 50/s, max_requests: 4 }',
      'timeouts: { first_byte: 300ms }',
    )
    const { counts, runId } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(counts).toMatchObject({ planned: 4, timeout: 4 })
    const store = await openStore(dbPath)
    const { all } = await summarise(store, runId, defaultContract)
    store.close()
    const { n, censored, p50 } = all.metrics.service
    expect([n, censored]).toEqual([4, 4])
    expect(p50.us).toBeGreaterThanOrEqual(300_000)
    const rows = await query(dbPath, 'SELECT DISTINCT reason FROM attempts')
    expect(rows).toEqual([{ reason: 'first-byte' }])
  })
  target.close()
})

test('a threshold with abort ends the run as soon as it is missed', { tags: 'whole' }, async () => {
  let seen = 0
  const target = await startTarget((_, response) =>
    ++seen % 2 === 0 ? refuse(response, 429, 'rate_limit_exceeded') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 200/s, duration: 20s }',
      `thresholds:
  - { check: 'errors{code=429} < 10%', abort: true }
  - chat.response.p50 < 10s`,
    )
    const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(summary.stopped).toBe('threshold')
    expect(summary.thresholds.map((threshold) => threshold.result)).toEqual(['missed', 'held'])
    expect(summary.counts.planned).toBeLessThan(4000)
  })
  target.close()
})

test('a run that is interrupted while a sweep cools down ends at once', {
  tags: 'whole',
  timeout: 30_000,
}, async () => {
  let isSlow = false
  const target = await startTarget((_, response) => {
    setTimeout(() => answerChat(response), isSlow ? 500 : 0)
  })
  const [drain, leave] = [new AbortController(), new AbortController()]
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: sweep, start: 20/s, max: 40/s, cool_down: 30s }',
      'objectives: { service: 400ms }',
    )
    const running = run(scenario, {
      baseUrl: target.baseUrl,
      dbPath,
      keys,
      onProgress: ({ phase, inFlight, searching }) => {
        if (searching?.step !== 'bracket') return
        isSlow = true
        // The first rate has failed, and the pause before the next has begun.
        if (searching.ratePerS === 20 || inFlight > 0 || drain.signal.aborted) return
        expect(phase).not.toBe(null)
        drain.abort()
      },
      signal: drain.signal,
      stopNow: leave.signal,
    })
    const giveUp = setTimeout(() => leave.abort(), 25_000)
    const { stopped, sweeps, counts } = await running
    clearTimeout(giveUp)
    expect(leave.signal.aborted).toBe(false)
    expect(stopped).toBe('interrupted')
    const rated = sweeps[0]!.trials.filter(({ step }) => step !== 'warm-up')
    expect(rated.map(({ result }) => result)).toEqual(['failed'])
    expect(counts.planned).toBe(counts.ok)
  })
  target.close()
})
