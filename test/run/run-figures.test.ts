import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { runFigures } from '../../src/run/count/run-figures.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

/** Requests of one phase, as many in a second. */
const phaseOf = (
  name: string,
  part: 'warmup' | 'steady',
  perS: number,
  n: number,
  fromUs: number,
  events: number,
) =>
  Array.from({ length: n }, (_, at) =>
    attempt({
      events,
      slot: fromUs + at,
      phase: name,
      part,
      model: at % 3 === 1 ? 'svc-k2.5' : 'svc-k2',
      intendedUs: fromUs + (at * 1e6) / perS,
    }),
  )

test('the rates of a run are those of its busiest steady phase, not a mean over all phases', async () => {
  const { busiestPerS, busiestEventsPerS } = await figuresOf([
    ...phaseOf('warm', 'warmup', 5000, 500, 0, 500),
    ...phaseOf('slow', 'steady', 100, 400, 1e6, 900),
    ...phaseOf('fast', 'steady', 2000, 1000, 5e6, 30),
    // A handful of concurrent requests is not a load.
    ...phaseOf('few', 'steady', 1e6, 50, 6e6, 70),
  ])
  expect(busiestPerS).toBeCloseTo(2000, 6)
  // 30 events per request of that phase, whatever the other phases read and however long they took.
  expect(busiestEventsPerS).toBeCloseTo(60_000, 4)
})

test('of two phases that are as busy, the one that reads more events counts, the first or the last', async () => {
  const inTurn = async (first: number, last: number) =>
    (
      await figuresOf([
        ...phaseOf('a', 'steady', 100, 100, 0, first),
        ...phaseOf('b', 'steady', 100, 100, 2e6, last),
      ])
    ).busiestEventsPerS
  expect([await inTurn(3, 7), await inTurn(7, 3)]).toEqual([700, 700])
})

test('a phase of one request in two seconds has a rate', async () => {
  const figures = await figuresOf(phaseOf('slow', 'steady', 0.5, 100, 0, 4))
  expect([figures.busiestPerS, figures.busiestEventsPerS]).toEqual([0.5, 2])
})

/** Rows of a warm-up and of a steady phase: each figure differs by the part it is taken from. */
const warm = Array.from({ length: 4 }, (_, slot) =>
  attempt({
    slot,
    phase: 'warm',
    part: 'warmup',
    intendedUs: slot * 10,
    dispatchedUs: slot * 10 + 7_000,
  }),
)
const steady = Array.from({ length: 5 }, (_, at) =>
  attempt({
    slot: 10 + at,
    intendedUs: 1_000_000 + at * 1_000,
    dispatchedUs: 1_000_000 + at * 1_000 + (at + 1) * 100,
    closedUs: 1_100_000 + at,
    events: 3,
  }),
)
const ends = (['http_error', 'broken', 'timeout', 'aborted', 'not_sent'] as const).map(
  (outcome, at) =>
    attempt({
      slot: 20 + at,
      step: outcome === 'timeout' ? 'chat' : `only-${outcome}`,
      outcome,
      intendedUs: 1_010_000,
      dispatchedUs: null,
      closedUs: outcome === 'not_sent' ? null : 1_050_000,
    }),
)
const figuresOf = async (rows: readonly AttemptRow[]) => {
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  await appendAttempts(store, rows)
  const figures = await runFigures(store, 'r', defaultContract)
  store.close()
  return figures
}

const rare = { step: 'rare', intendedUs: 1_020_000 }

test('counts cover all rows, lag and samples only the steady part', async () => {
  const figures = await figuresOf([
    ...warm,
    ...steady,
    ...ends,
    attempt({ ...rare, slot: 30, closedUs: 1_090_000, events: 2 }),
    attempt({ ...rare, slot: 31, closedUs: 1_400_000, events: 4, model: 'svc-k2.5' }),
    attempt({ ...rare, slot: 32, closedUs: 1_300_000, model: 'svc-k2.5' }),
  ])
  expect(figures).toEqual({
    rows: {
      planned: 17,
      sent: 16,
      notSent: 1,
      ok: 12,
      httpError: 1,
      broken: 1,
      timeout: 1,
      aborted: 1,
    },
    lag: { p50Us: 300, p90Us: 460, p99Us: expect.closeTo(496, 6), samples: 5 },
    fewestSamples: 3,
    // Ten successes at 1, two at 2.
    creditsByContract: 14,
    busiestPerS: null,
    busiestEventsPerS: null,
    lastUs: 1_400_000,
  })
})

test('a run without a steady part is measured by all its rows, and a run without rows has no figures', {
  tags: 'whole',
}, async () => {
  const { lag, fewestSamples, busiestPerS } = await figuresOf(warm)
  expect([lag, fewestSamples, busiestPerS]).toEqual([
    { p50Us: 7_000, p90Us: 7_000, p99Us: 7_000, samples: 4 },
    4,
    null,
  ])
  expect((await figuresOf(warm.slice(0, 1))).lag?.samples).toBe(1)
  expect((await figuresOf([...warm, steady[2]!])).lag).toEqual({
    ...{ p50Us: 300, p90Us: 300, p99Us: 300, samples: 1 },
  })
  const none = await figuresOf([])
  expect([none.lag, none.fewestSamples, none.lastUs, none.rows.planned]).toEqual([null, null, 0, 0])
})

test('a rate needs a hundred requests at more than one instant', async () => {
  const burst = (n: number, apartUs: number) =>
    Array.from({ length: n }, (_, slot) =>
      attempt({
        slot,
        model: slot % (n - 1) === 0 ? 'svc-k2' : 'svc-k2.5',
        step: slot === 0 ? 'first' : 'chat',
        intendedUs: slot * apartUs,
      }),
    )
  const rates = []
  for (const rows of [burst(99, 1000), burst(100, 1000), burst(100, 0)]) {
    const { busiestPerS, busiestEventsPerS } = await figuresOf(rows)
    rates.push([busiestPerS, busiestEventsPerS])
  }
  expect(rates).toEqual([
    [null, null],
    [1000, 0],
    [null, null],
  ])
})

test('samples of lag are those of all models of a step', async () => {
  const mixed = steady.map((row, at) => ({ ...row, model: at % 2 === 0 ? 'svc-k2' : 'svc-k2.5' }))
  expect((await figuresOf(mixed)).lag?.samples).toBe((await figuresOf(steady)).lag!.samples)
})
