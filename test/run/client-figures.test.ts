import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { StepCounters } from '../../src/run/count/attempt-counts.ts'
import { clientGaps, inFlightFigures, mediansOf } from '../../src/run/count/client-figures.ts'
import { Tally } from '../../src/run/count/tally.ts'
import { TimeHistogram } from '../../src/run/count/time-histogram.ts'
import type { PhaseRun } from '../../src/run/crew/messages.ts'
import { run } from '../../src/run/run.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { appendAttempts, type HealthRow, Recorder } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { tries } from '../nightly/tries.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'
import { answerChat, chatScenario, key, startTarget, withStorePath } from './target.ts'

/** An uneventful second of a thread, with these changes. */
const second = (change: Partial<HealthRow>): HealthRow => ({
  runId: 'r',
  shard: 0,
  atUs: 1e6,
  loopDelayP99Us: 0,
  loopGapUs: 0,
  loopGapEndUs: null,
  utilisation: 0,
  lagP99Us: null,
  inFlight: 0,
  queuedBatches: 0,
  ...change,
})

async function withRows<T>(
  rows: readonly Partial<AttemptRow>[],
  health: readonly HealthRow[],
  read: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(':memory:')
  try {
    await startRun(store, startOf('r'))
    await appendAttempts(
      store,
      rows.map((row, slot) => attempt({ slot, ...row })),
    )
    const recorder = await Recorder.open(store)
    recorder.append('health', health)
    await recorder.close()
    return await read(store)
  } finally {
    store.close()
  }
}

/** In flight from one millisecond to another. */
const from = (startMs: number, endMs: number, change: Partial<AttemptRow> = {}) => ({
  intendedUs: startMs * 1000,
  dispatchedUs: startMs * 1000,
  sentUs: startMs * 1000,
  doneUs: endMs * 1000,
  closedUs: endMs * 1000,
  ...change,
})

test('medians are taken per step from steady phases, or from all phases if none is steady', () => {
  const scenario = chatScenario('  - { name: p, load: constant, rate: 1/s, duration: 1s }')
  const medians = (parts: readonly ('warmup' | 'steady')[]) => {
    const phases = parts.map((part) => ({ part }) as PhaseRun)
    const tally = new Tally(scenario, 'r', phases)
    const steps = parts.map((part, ordinal) => {
      const [response, ttft, itl] = [new TimeHistogram(), new TimeHistogram(), new TimeHistogram()]
      for (const ms of part === 'steady' ? [100, 200, 300] : [8000]) {
        response.record(ms * 1000)
        ttft.record(ms * 100)
        itl.record(ms * 10)
      }
      const histograms = { response: response.slice(), ttft: ttft.slice(), itl: itl.slice() }
      return { ordinal, step: 0, counters: new StepCounters(), histograms }
    })
    tally.add({
      type: 'report',
      shard: 0,
      atUs: 1e6,
      steps,
      keys: [],
      inFlight: 0,
      health: second({}),
    })
    return mediansOf(scenario, phases, tally).map(({ of, step, us }) => [
      of,
      step,
      Number((us / 1000).toPrecision(3)),
    ])
  }
  expect(medians(['warmup', 'steady'])).toEqual([
    ['response', 'chat', 200],
    ['ttft', 'chat', 20],
    ['itl', 'chat', 2],
  ])
  expect(medians(['warmup'])).toContainEqual(['response', 'chat', 8000])
})

test('a request is tainted only if it was due or in flight during a gap of its own thread', async () => {
  const gap = { loopGapUs: 100_000, loopGapEndUs: 600_000 }
  const found = await withRows(
    [
      from(400, 500.1),
      from(590, 700),
      from(450, 650),
      // Due during the gap, and sent after it.
      from(620, 700, { intendedUs: 550_000 }),
      from(400, 499.9),
      from(600, 700),
      from(450, 650, { shard: 1 }),
      from(450, 650, { part: 'warmup' }),
      from(2450, 2650),
    ],
    [
      second(gap),
      second({ atUs: 2e6, loopGapUs: 30_000, loopGapEndUs: 1_500_000 }),
      second({ atUs: 3e6, loopGapUs: 20_000, loopGapEndUs: 2_500_000 }),
      second({ shard: 1, loopGapUs: 500_000, loopGapEndUs: 3_500_000 }),
    ],
    (store) => clientGaps(store, 'r', 20_000),
  )
  expect(found).toEqual({ greatestUs: 100_000, limitUs: 20_000, requests: 8, tainted: 4 })
})

test('the greatest gap is found even if each of its requests met a smaller one later', async () => {
  const found = await withRows(
    [from(500, 2100), from(600, 2200), from(2050, 2300)],
    [
      second({ atUs: 1e6, loopGapUs: 400_000, loopGapEndUs: 1_400_000 }),
      second({ atUs: 2e6, loopGapUs: 30_000, loopGapEndUs: 2_080_000 }),
    ],
    (store) => clientGaps(store, 'r', 20_000),
  )
  expect(found).toEqual({ greatestUs: 400_000, limitUs: 20_000, requests: 3, tainted: 3 })
})

test('the gaps that each request met are those of a comparison of every pair', {
  tags: 'whole',
}, async () => {
  const [limitUs, seconds] = [5000, 20]
  const thread = fc.record({
    gaps: fc.array(fc.record({ us: fc.integer({ min: 1, max: 40_000 }), at: fc.nat(950_000) }), {
      minLength: seconds,
      maxLength: seconds,
    }),
    requests: fc.array(
      fc.record({
        nth: fc.nat(seconds - 1),
        // Shortly before the gap begins, or in it, or shortly after it.
        offsetUs: fc.integer({ min: -30_000, max: 60_000 }),
        us: fc.oneof(fc.integer({ min: 1, max: 19_999 }), fc.integer({ min: 1, max: 3e6 })),
      }),
      { maxLength: 100 },
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.tuple(thread, thread), async (threads) => {
      const gaps = threads.flatMap((each, shard) =>
        each.gaps.map(({ us, at }, nth) => ({ shard, us, endUs: nth * 1e6 + at + us })),
      )
      const requests = threads.flatMap((each, shard) =>
        each.requests.map(({ nth, offsetUs, us }) => {
          const atUs = Math.max(0, nth * 1e6 + each.gaps[nth]!.at + offsetUs)
          return { shard, atUs, endUs: atUs + us }
        }),
      )
      const metBy = ({ shard, atUs, endUs }: (typeof requests)[number]) =>
        gaps.filter(
          (gap) =>
            gap.shard === shard &&
            gap.us > limitUs &&
            gap.endUs > atUs &&
            gap.endUs - gap.us < endUs,
        )
      const met = requests.flatMap(metBy)
      const found = await withRows(
        requests.map(({ shard, atUs, endUs }) => from(atUs / 1000, endUs / 1000, { shard })),
        gaps.map(({ shard, us, endUs }) =>
          second({ shard, atUs: endUs, loopGapUs: us, loopGapEndUs: endUs }),
        ),
        (store) => clientGaps(store, 'r', limitUs),
      )
      expect(found).toEqual({
        greatestUs: Math.max(...(met.length > 0 ? met : gaps).map(({ us }) => us)),
        limitUs,
        requests: requests.length,
        tainted: requests.filter((request) => metBy(request).length > 0).length,
      })
    }),
    { numRuns: tries(6, 40) },
  )
})

test('if no gap exceeds the limit, the greatest gap is reported and no request is tainted', async () => {
  const found = await withRows(
    [from(0, 900)],
    [second({ loopGapUs: 3000, loopGapEndUs: 500_000 }), second({ loopGapUs: 1000 })],
    (store) => clientGaps(store, 'r', 20_000),
  )
  expect(found).toEqual({ greatestUs: 3000, limitUs: 20_000, requests: 1, tainted: 0 })
})

test('a row is in flight from its dispatch to its end, on its own thread', async () => {
  const found = await withRows(
    [
      from(0, 1000),
      from(500, 1500),
      from(999, 1001),
      from(1000, 3000),
      from(0, 3000, { shard: 1 }),
    ],
    [
      second({ atUs: 1e6, inFlight: 3 }),
      second({ atUs: 2e6, inFlight: 1 }),
      second({ atUs: 2e6, inFlight: 1, shard: 1 }),
      second({ atUs: 2e6, inFlight: 7, shard: -1 }),
    ],
    (store) => inFlightFigures(store, 'r'),
  )
  expect(found).toEqual({ instants: 3, counted: 5, byRows: 5 })
})

test('the senders of two threads are compared with the rows of both', async () => {
  const seconds = Array.from({ length: 60 }, (_, at) => (at + 1) * 1e6)
  const found = await withRows(
    [from(0, 61_000, { shard: 1 })],
    // The second thread counts one request too many.
    seconds.flatMap((atUs) => [second({ atUs }), second({ atUs, shard: 1, inFlight: 2 })]),
    (store) => inFlightFigures(store, 'r'),
  )
  expect(found).toEqual({ instants: 10, counted: 10, byRows: 5 })
})

test('of many threads, some are compared from the start of the run to its end', async () => {
  const shards = Array.from({ length: 40 }, (_, shard) => shard)
  const found = await withRows(
    // Each thread has a request in the second half.
    shards.map((shard) => from(5500, 11_000, { shard })),
    Array.from({ length: 10 }, (_, at) => (at + 1) * 1e6).flatMap((atUs) =>
      shards.map((shard) => second({ atUs, shard, inFlight: atUs > 5.5e6 ? 1 : 0 })),
    ),
    (store) => inFlightFigures(store, 'r'),
  )
  expect(found).toEqual({ instants: 10, counted: 5, byRows: 5 })
})

test('a client stall in a closed load makes the run invalid, by the requests that it tainted', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => setTimeout(() => answerChat(response), 20))
  const folder = mkdtempSync(join(tmpdir(), 'assay-gap-'))
  const path = join(folder, 'stops.mjs')
  writeFileSync(
    path,
    `const stand = () => { const until = performance.now() + 400; while (performance.now() < until); return 'a' }
export default {
  name: 'stops', question: 'q', model: 'svc-k2',
  steps: { chat: { endpoint: 'chat', prompt: ({ index }) => (index === 300 ? stand() : 'a') } },
  phases: [{ name: 'steady', load: 'concurrency', users: 10, max_requests: 700 }],
}`,
  )
  await withStorePath(async (dbPath) => {
    const { verdict } = await run(await loadScenario(path), {
      baseUrl: target.baseUrl,
      dbPath,
      keys: { default: key },
    })
    expect(verdict.verdict).toBe('invalid')
    const gap = verdict.tests.find(({ name }) => name === 'event-loop gap')!
    expect(gap.result).toBe('failed')
    expect(Number.parseFloat(gap.figure)).toBeGreaterThan(390)
    const counted = verdict.tests.find(({ name }) => name === 'in flight')!
    expect(counted.result).toBe('held')
  })
  rmSync(folder, { recursive: true })
  target.close()
})
