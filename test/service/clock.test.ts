import fc from 'fast-check'
import { expect, test } from 'vitest'
import { realClock } from '../../src/service/clock.ts'
import { manualClock } from './manual-clock.ts'

test('due callbacks run in order of time, once, and not early', () => {
  const timer = fc.record({ dueUs: fc.integer({ min: 0, max: 500 }), cancelled: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(timer, { maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 12 }),
      (timers, moves) => {
        const clock = manualClock(0)
        const ran: { due: number; at: number; order: number }[] = []
        const cancels = timers.map(({ dueUs }, order) =>
          clock.at(dueUs, () => ran.push({ due: dueUs, at: clock.nowUs(), order })),
        )
        for (const [index, { cancelled }] of timers.entries()) if (cancelled) cancels[index]!()
        let end = 0
        for (const us of moves) {
          clock.advance(us)
          end += us
        }
        const expected = timers
          .map(({ dueUs, cancelled }, order) => ({ due: dueUs, cancelled, order }))
          .filter(({ due, cancelled }) => !cancelled && due <= end)
          .sort((a, b) => a.due - b.due || a.order - b.order)
        expect(ran.map(({ order }) => order)).toEqual(expected.map(({ order }) => order))
        for (const { due, at } of ran) expect(at).toBe(Math.max(due, 0))
      },
    ),
  )
})

test('a callback may schedule another within the same move', () => {
  const clock = manualClock(0)
  const times: number[] = []
  const tick = () => {
    times.push(clock.nowUs())
    if (times.length < 4) clock.at(clock.nowUs() + 10, tick)
  }
  clock.at(5, tick)
  clock.advance(30)
  expect(times).toEqual([5, 15, 25])
})

test('real time passes at its scale, and jumps when it is moved', async () => {
  const clock = realClock(1000)
  // Read before and after it, so no pause in between counts as its error.
  const before = performance.now()
  const startUs = clock.nowUs()
  const after = performance.now()
  // Ten seconds of service time in ten milliseconds.
  await new Promise<void>((resolve) => {
    clock.at(startUs + 10e6, resolve)
  })
  expect(performance.now() - before).toBeGreaterThan(9)
  expect(clock.nowUs() - startUs).toBeGreaterThanOrEqual(10e6)
  expect((clock.nowUs() - startUs) / 1e6).toBeLessThan(performance.now() - before + 2)
  const leastMs = performance.now() - after
  expect((clock.nowUs() - startUs) / 1e6).toBeGreaterThan(leastMs - 2)
  let jumped = false
  clock.at(clock.nowUs() + 1e12, () => {
    jumped = true
  })
  clock.advance(1e12)
  expect(jumped).toBe(true)
})

test('a paced callback runs at each time that it returns, in order with all others, until it returns null', () => {
  const clock = manualClock(0)
  const ran: string[] = []
  let left = 3
  clock.pace(10, (nowUs) => {
    ran.push(`paced ${nowUs}`)
    return --left === 0 ? null : nowUs + 10
  })
  clock.at(20, () => ran.push('asked first'))
  clock.at(25, () => ran.push('between'))
  clock.advance(100)
  expect(ran).toEqual(['paced 10', 'asked first', 'paced 20', 'between', 'paced 30'])
})

test('a paced callback ends when it is cancelled, even from inside itself', () => {
  const clock = manualClock(0)
  const times: number[] = []
  const outside = clock.pace(1, (nowUs) => times.push(nowUs) && nowUs + 1)
  const inside = clock.pace(100, (nowUs) => {
    times.push(nowUs)
    inside()
    return nowUs + 1
  })
  clock.advance(2)
  outside()
  clock.advance(200)
  expect(times).toEqual([1, 2, 100])
})

test('catching up runs due callbacks at once, and never early', () => {
  const clock = realClock()
  const startUs = clock.nowUs()
  const ran: string[] = []
  clock.pace(startUs, (nowUs) => {
    ran.push('due')
    clock.at(startUs, () => ran.push('due meanwhile'))
    clock.catchUp()
    ran.push('done')
    return nowUs + 1e12
  })
  clock.at(startUs + 1e12, () => ran.push('far off'))
  expect(ran).toEqual([])
  clock.catchUp()
  expect(ran).toEqual(['due', 'done', 'due meanwhile'])
  clock.catchUp()
  expect(ran).toEqual(['due', 'done', 'due meanwhile'])
})
