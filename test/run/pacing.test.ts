import { expect, onTestFinished, test, vi } from 'vitest'
import { pace } from '../../src/run/send/pacing.ts'

const loopTurns = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Prevents sleeps from ending by themselves, however long the turns of the loop take. */
const timersStandStill = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** First due at 0, then at `nextUs`, by a clock that only moves when the test moves it. */
function paced(nextUs: number, expectsAnswers: boolean) {
  timersStandStill()
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const clock = { us: 0, perReading: 0 }
  const due = {
    ...{ nextUs: 0, expectsAnswers, readUs: Number.NaN, ticks: 0 },
    tick() {
      due.ticks++
      due.nextUs = nextUs
    },
  }
  const pacing = pace(due, 'timer', () => {
    clock.us += clock.perReading
    return clock.us
  })
  onTestFinished(pacing.stop)
  return { clock, due, pacing, timers }
}

test('overdue dense requests are sent at any wake-up, a few at a time', async () => {
  const { clock, due } = paced(800, true)
  expect(due.ticks).toBe(1)
  clock.us = 1099
  await loopTurns(3)
  expect(due.ticks).toBe(1)
  clock.us = 1100
  await loopTurns(1)
  expect(due.ticks).toBe(2)
})

test('a sparse request is sent as soon as it is due, at any wake-up', async () => {
  const { clock, due } = paced(1_000_000, true)
  clock.us = 999_999 - 2500
  await loopTurns(3)
  expect(due.ticks).toBe(1)
  clock.us = 1_000_000
  await loopTurns(1)
  expect(due.ticks).toBe(2)
})

test('a timer naps through the last milliseconds, unless answers to dense requests are expected', async () => {
  const { clock, due, pacing } = paced(800, true)
  // Each reading of the clock takes a microsecond, and there is a nap between two.
  clock.perReading = 1
  await loopTurns(3)
  expect(due.ticks).toBe(1)
  expect(pacing.nappedUs).toBe(0)
  due.expectsAnswers = false
  clock.us = 797
  await loopTurns(1)
  expect(due.ticks).toBe(2)
  expect(pacing.nappedUs).toBe(1)
})

test.each([
  ['the whole milliseconds that surely end in time', 5300, [], [5]],
  ['a millisecond at least', 1000, [], [1]],
  ['less after each wake-up, which has put it off', 9300, [2100], [9, 9, 7]],
  ['the longest sleep, whatever wakes it before the last one', 25_300, [2100], [20]],
])('before a sparse request the timer is set to %s', async (_what, dueUs, wakesUs, timersMs) => {
  const { clock, timers } = paced(dueUs, true)
  for (const wakeUs of wakesUs) {
    await loopTurns(1)
    clock.us = wakeUs
    await loopTurns(1)
  }
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual(timersMs)
})

test('between sparse requests, pacing naps in slices and checks for answers in between', async () => {
  const { clock, due, pacing } = paced(1100, true)
  clock.perReading = 1
  const startMs = performance.now()
  await loopTurns(4)
  expect(due.ticks).toBe(1)
  expect(pacing.nappedUs).toBe(4)
  // Four slices of 0.15 ms.
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(0.6)
})

test('a loop that is busy with answers does not nap before a sparse request', async () => {
  const { clock, due, pacing } = paced(1100, true)
  clock.perReading = 1
  await loopTurns(1)
  expect(pacing.nappedUs).toBe(1)
  for (let turn = 0; turn < 5; turn++) {
    due.readUs = clock.us + 1
    await loopTurns(1)
  }
  expect(pacing.nappedUs).toBe(1)
})

test.each([
  ['timer', true],
  ['timer', false],
  ['precise', true],
] as const)(
  '%s pacing sends nothing early, and ends when stopped (answers expected: %s)',
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
          readUs: Number.NaN,
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
  'sleeping %s pacing is woken for a request that became due sooner',
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
        readUs: Number.NaN,
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

test('a timer far from the next due time does not check at each wake-up', async () => {
  timersStandStill()
  let looks = 0
  const pacing = pace(
    {
      get nextUs() {
        looks++
        return Number.POSITIVE_INFINITY
      },
      expectsAnswers: false,
      readUs: Number.NaN,
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
