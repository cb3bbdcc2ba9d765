import { expect, onTestFinished, test, vi } from 'vitest'
import { pace } from '../../src/run/pacing.ts'

const loopTurns = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** So that no sleep ends by itself, however long the turns of the loop take. */
const timersStandStill = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('what is overdue goes with whatever wakes the thread, and what is hardly due waits', async () => {
  timersStandStill()
  const clock = { us: 0 }
  let ticks = 0
  const pacing = pace(
    { nextUs: 1_000_000, expectsAnswers: true, tick: () => void ticks++ },
    'timer',
    () => clock.us,
  )
  onTestFinished(pacing.stop)
  expect(ticks).toBe(1)
  clock.us = 1_000_100
  await loopTurns(3)
  expect(ticks).toBe(1)
  clock.us = 1_000_300
  await loopTurns(1)
  expect(ticks).toBe(2)
})

test('a timer waits out the last milliseconds by a nap, unless an answer may come meanwhile', async () => {
  timersStandStill()
  const clock = { us: 0 }
  const paced = { nextUs: 2000, expectsAnswers: true, ticks: 0, tick: () => void paced.ticks++ }
  // Each reading of the clock takes a microsecond, and a nap lies between two.
  const pacing = pace(paced, 'timer', () => clock.us++)
  onTestFinished(pacing.stop)
  await loopTurns(3)
  expect(paced.ticks).toBe(1)
  expect(pacing.nappedUs).toBe(0)
  paced.expectsAnswers = false
  await loopTurns(1)
  expect(paced.ticks).toBe(2)
  expect(pacing.nappedUs).toBe(1)
})

test.each([
  ['timer', true],
  ['timer', false],
  ['precise', true],
] as const)(
  '%s pacing sends nothing early, and ends when told (answers expected: %s)',
  async (kind, expectsAnswers) => {
    const now = () => performance.now() * 1000
    const due = [2000, 2500, 7000, 30_000].map((us) => now() + us)
    const early: number[] = []
    let ticks = 0
    let at = 0
    await new Promise<void>((done) => {
      const pacing = pace(
        {
          get nextUs() {
            return due[at] ?? Number.POSITIVE_INFINITY
          },
          expectsAnswers,
          tick() {
            ticks++
            const us = now()
            while (due[at] !== undefined && due[at]! <= us) at++
            early.push(...due.slice(0, at).filter((each) => each > us))
            if (at < due.length) return
            pacing.stop()
            done()
          },
        },
        kind,
        now,
      )
    })
    expect(early).toEqual([])
    const ended = ticks
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(ticks).toBe(ended)
  },
)

test.each(['timer', 'precise'] as const)(
  '%s pacing that sleeps is woken for what came to be due sooner',
  async (kind) => {
    const startMs = performance.now()
    const now = () => (performance.now() - startMs) * 1000
    let nextUs = Number.POSITIVE_INFINITY
    let ticks = 0
    const pacing = pace(
      {
        get nextUs() {
          return nextUs
        },
        expectsAnswers: true,
        tick: () => void ticks++,
      },
      kind,
      now,
    )
    onTestFinished(pacing.stop)
    // Nothing is due: it sleeps for twenty milliseconds. Timers fire in the order of their time.
    nextUs = now() + 2000
    pacing.look()
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(ticks).toBeGreaterThan(1)
  },
)

test('a timer far from all that is due does not look at each waking', async () => {
  timersStandStill()
  let looks = 0
  const pacing = pace(
    {
      get nextUs() {
        looks++
        return Number.POSITIVE_INFINITY
      },
      expectsAnswers: false,
      tick: () => {},
    },
    'timer',
    () => 0,
  )
  onTestFinished(pacing.stop)
  const slept = looks
  await loopTurns(5)
  expect(looks).toBe(slept)
})
