import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Armed, DeadlineTimer, disarmed, type Stage } from '../../src/client/call/deadlines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const lengthsUs = { connect: 30_000, 'first-byte': 70_000, idle: 20_500, total: 200_000 }

/** A timer over virtual time, and what passed in it. */
function virtual() {
  const now = () => performance.now() * 1000
  const passed: { readonly name: string; readonly reason: Stage; readonly atUs: number }[] = []
  const timer = new DeadlineTimer(now, {
    connectUs: lengthsUs.connect,
    firstByteUs: lengthsUs['first-byte'],
    idleUs: lengthsUs.idle,
    totalUs: lengthsUs.total,
  })
  const named = (name: string) => disarmed((reason) => passed.push({ name, reason, atUs: now() }))
  return { timer, now, passed, named }
}

test('a deadline passes once, not early, and within a millisecond', () => {
  const { timer, now, passed, named } = virtual()
  const startUs = now()
  timer.arm(named('a'), 'idle', startUs)
  vi.advanceTimersByTime(1000)
  expect(passed.map(({ name, reason }) => [name, reason])).toEqual([['a', 'idle']])
  expect(passed[0]!.atUs - startUs).toBeGreaterThanOrEqual(20_500)
  expect(passed[0]!.atUs - startUs).toBeLessThanOrEqual(21_500)
})

test('a disarmed deadline does not pass', () => {
  const { timer, now, passed, named } = virtual()
  const [a, b] = [named('a'), named('b')]
  timer.arm(a, 'total', now())
  timer.arm(b, 'total', now())
  timer.disarm(a)
  vi.advanceTimersByTime(1000)
  expect(passed.map(({ name }) => name)).toEqual(['b'])
})

test('rearming postpones a deadline or changes its length', () => {
  const { timer, now, passed, named } = virtual()
  const a = named('a')
  const startUs = now()
  timer.arm(a, 'idle', startUs)
  vi.advanceTimersByTime(15)
  timer.arm(a, 'idle', now())
  vi.advanceTimersByTime(15)
  timer.arm(a, 'first-byte', now())
  vi.advanceTimersByTime(1000)
  expect(passed).toHaveLength(1)
  expect([passed[0]!.reason, (passed[0]!.atUs - startUs) / 1000]).toEqual(['first-byte', 100])
})

test('an infinite deadline never passes', () => {
  const passed: string[] = []
  const never = Number.POSITIVE_INFINITY
  const timer = new DeadlineTimer(() => performance.now() * 1000, {
    connectUs: never,
    firstByteUs: never,
    idleUs: never,
    totalUs: never,
  })
  timer.arm(
    disarmed(() => passed.push('a')),
    'total',
    0,
  )
  vi.advanceTimersByTime(1e9)
  expect(passed).toEqual([])
})

test('exactly the right deadlines pass, for any order of arming and disarming', () => {
  const reasons = Object.keys(lengthsUs) as (keyof typeof lengthsUs)[]
  const step = fc.record({
    waitMs: fc.nat(40),
    which: fc.nat(5),
    reason: fc.constantFrom(...reasons, null),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { timer, now, passed, named } = virtual()
      const dueUs = new Map<number, number>()
      const expected: string[] = []
      const armed: Armed[] = Array.from({ length: 6 }, (_, at) => named(`${at}`))
      const expire = () => {
        for (const [at, due] of dueUs) {
          if (Math.ceil(due / 1000) * 1000 <= now()) {
            expected.push(`${at}`)
            dueUs.delete(at)
          }
        }
      }
      for (const { waitMs, which, reason } of steps) {
        vi.advanceTimersByTime(waitMs)
        expire()
        if (reason === null) {
          timer.disarm(armed[which]!)
          dueUs.delete(which)
        } else {
          timer.arm(armed[which]!, reason, now())
          dueUs.set(which, now() + lengthsUs[reason])
        }
      }
      vi.advanceTimersByTime(1000)
      expire()
      expect(passed.map(({ name }) => name).sort()).toEqual(expected.sort())
    }),
  )
})
