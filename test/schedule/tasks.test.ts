import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TaskProgress } from '../../src/run/tasks/task-progress.ts'
import type { Task, Turn } from '../../src/scenario/tasks.ts'
import { RandomStream } from '../../src/schedule/random.ts'
import { begunAt, meanDelaysUs, mostRequests, planTask, whole } from '../../src/schedule/tasks.ts'
import { randomTask, turnLike } from './random-tasks.ts'

const draws = (seed: number) => new RandomStream(seed, 'turns of main')

const taskOf = (...turns: readonly Turn[]): Task => ({
  ...{ name: 'task', weight: 1, turns },
  ...{ deadlineUs: null, affinity: null, context: null, prefix: null },
})

test('a plan is the same for the same seed and index, and stays within the most requests of its task', () => {
  fc.assert(
    fc.property(randomTask, fc.nat(9), fc.nat(500), (task, seed, index) => {
      const plan = planTask(task, draws(seed), index)
      expect(planTask(task, draws(seed), index)).toEqual(plan)
      expect(plan.length).toBeLessThanOrEqual(mostRequests(task))
      expect(plan.length).toBeGreaterThanOrEqual(task.turns.length)
      for (const [number, { after }] of plan.entries()) {
        for (const before of after) expect(before).toBeLessThan(number)
      }
    }),
  )
})

test('every request begins when all before it have ended and its delay is over, never before, from any start', () => {
  const isInMiddle = fc.boolean()
  fc.assert(
    fc.property(randomTask, fc.nat(9), fc.nat(50), fc.nat(1000), isInMiddle, (...drawn) => {
      const [task, seed, index, speed, inMiddle] = drawn
      const plan = planTask(task, draws(seed), index)
      const begun = inMiddle ? begunAt(task, plan, draws(seed), index) : whole
      expect(begun.from).toBeLessThan(plan.length)
      const service = new RandomStream(seed, 'service')
      const progress = new TaskProgress(plan, 5, begun)
      const began = plan.map(() => Number.NaN)
      /** A request that ended before the start ended at the start. */
      const ended = plan.map((_, number) => (number < begun.from ? 5 : Number.NaN))
      /** Requests in flight, with the time of their end. */
      let flying: { number: number; atUs: number }[] = []
      const begin = (due: readonly { number: number; atUs: number }[]) => {
        for (const { number, atUs } of due) {
          expect(began[number]).toBeNaN()
          began[number] = atUs
          flying.push({ number, atUs: atUs + Math.floor(service.at(number) * speed) })
        }
      }
      begin(progress.begin())
      while (flying.length > 0) {
        flying.sort((a, b) => a.atUs - b.atUs)
        const { number, atUs } = flying.shift()!
        ended[number] = atUs
        const { due, dropped } = progress.end(number, true, atUs)
        flying = flying.filter((each) => !dropped.includes(each.number))
        for (const left of dropped) progress.leave(left)
        begin(due)
      }
      expect(progress.outcome).toBe('ok')
      for (const [number, { after, join, delayUs }] of plan.entries()) {
        if (Number.isNaN(began[number])) continue
        const ends = after.map((before) => ended[before]!).filter((atUs) => !Number.isNaN(atUs))
        const from =
          after.length === 0 ? 5 : join === 'first' ? Math.min(...ends) : Math.max(...ends)
        if (join === 'all') expect(ends).toHaveLength(after.length)
        expect(number).toBeGreaterThanOrEqual(begun.from)
        // Of a task that has begun, a part of the delay is over for those that begin at once.
        const isNext = begun.from > 0 && after.every((before) => before < begun.from)
        if (isNext) expect(began[number]).toBeGreaterThanOrEqual(from)
        if (isNext) expect(began[number]).toBeLessThanOrEqual(from + delayUs)
        else if (join === 'all' || after.every((before) => before >= begun.from)) {
          expect(began[number]).toBe(from + delayUs)
        }
      }
      expect(progress.lastUs).toBe(Math.max(...ended.filter((atUs) => !Number.isNaN(atUs))))
      expect(progress.lastUs - 5 - progress.waitUs).toBeGreaterThanOrEqual(0)
    }),
  )
})

test('against a constant time of service, a task takes its longest path, and its waits are those of that path', () => {
  const fixed = (us: number) => ({ kind: 'fixed', us }) as const
  const task = taskOf(
    turnLike('plan', []),
    turnLike('look', ['plan'], { repeat: { min: 3, max: 3 }, delay: fixed(10) }),
    turnLike('search', ['plan'], { children: 4, delay: fixed(70) }),
    turnLike('write', ['look', 'search'], { delay: fixed(5) }),
  )
  const progress = new TaskProgress(planTask(task, draws(1), 0), 0)
  const queue = [...progress.begin()]
  while (queue.length > 0) {
    queue.sort((a, b) => a.atUs - b.atUs)
    const { number, atUs } = queue.shift()!
    queue.push(...progress.end(number, true, atUs + 100).due)
  }
  // plan 100, then three looks of 110 each (430) or a search of 170 (270), then write 105.
  expect([progress.lastUs, progress.waitUs, progress.requests]).toEqual([535, 35, 9])
})

test('the first of several branches decides, the rest is dropped, and a failure ends the task', () => {
  const task = taskOf(
    turnLike('a', [], { repeat: { min: 2, max: 2 } }),
    turnLike('b', []),
    turnLike('end', ['a', 'b'], { join: 'first' }),
  )
  const plan = planTask(task, draws(1), 0)
  const first = new TaskProgress(plan, 0)
  expect(first.begin().map(({ number }) => number)).toEqual([0, 2])
  expect(first.end(2, true, 10)).toEqual({ due: [{ number: 3, atUs: 10 }], dropped: [0] })
  first.leave(0)
  expect(first.end(3, true, 30)).toEqual({ due: [], dropped: [] })
  expect([first.outcome, first.lastUs, first.requests]).toEqual(['ok', 30, 2])

  const failing = new TaskProgress(plan, 0)
  failing.begin()
  expect(failing.end(0, false, 10)).toEqual({ due: [], dropped: [] })
  expect(failing.outcome).toBeNull()
  expect(failing.end(2, true, 20)).toEqual({ due: [], dropped: [] })
  expect([failing.outcome, failing.lastUs]).toEqual(['failed', 20])
})

test('how often a turn repeats does not depend on its delay', () => {
  const delay = { kind: 'lognormal', medianUs: 1e6, sigma: 1 } as const
  const task = taskOf(turnLike('a', [], { repeat: { min: 1, max: 4 }, delay }))
  const plans = Array.from({ length: 4000 }, (_, index) => planTask(task, draws(1), index))
  for (let times = 1; times <= 4; times++) {
    const delays = plans.filter(({ length }) => length === times).map(([first]) => first!.delayUs)
    expect(delays.length).toBeGreaterThan(900)
    const median = delays.toSorted((a, b) => a - b)[delays.length >> 1]!
    expect(median).toBeGreaterThan(0.85e6)
    expect(median).toBeLessThan(1.15e6)
  }
})

test('without a time of service, a task takes as long as its progress against answers that come at once', () => {
  fc.assert(
    fc.property(randomTask, fc.nat(9), (drawn, seed) => {
      // No two delays are equal, so that the order of ends is certain.
      const delay = { kind: 'uniform', minUs: 1, maxUs: 1e12 } as const
      const task = { ...drawn, turns: drawn.turns.map((turn) => ({ ...turn, delay })) }
      const took = Array.from({ length: 200 }, (_, index) => {
        const progress = new TaskProgress(planTask(task, draws(seed), index), 0)
        let queue = [...progress.begin()]
        while (queue.length > 0) {
          queue.sort((a, b) => a.atUs - b.atUs)
          const { number, atUs } = queue.shift()!
          const { due, dropped } = progress.end(number, true, atUs)
          for (const left of dropped) progress.leave(left)
          queue = [...queue, ...due].filter((each) => !dropped.includes(each.number))
        }
        return progress.lastUs
      })
      const mean = took.reduce((sum, us) => sum + us / took.length, 0)
      expect(meanDelaysUs(task, draws(seed)) / mean).toBeCloseTo(1, 6)
    }),
    { numRuns: 30 },
  )
})

test('a join of the first takes no longer than its first branch', () => {
  const delay = { kind: 'uniform', minUs: 0, maxUs: 60e6 } as const
  const task = taskOf(
    turnLike('a', []),
    turnLike('b', ['a'], { children: 5, delay }),
    turnLike('c', ['b'], { join: 'first' }),
  )
  // The least of five draws from 60 s: 10 s on average.
  expect(meanDelaysUs(task, draws(1))).toBeGreaterThan(8e6)
  expect(meanDelaysUs(task, draws(1))).toBeLessThan(12e6)
})

test('without a time of service, a task takes the delays of its longest path on average', () => {
  const exponential = { kind: 'exponential', meanUs: 400 } as const
  const task = taskOf(
    turnLike('plan', []),
    turnLike('look', ['plan'], { repeat: { min: 2, max: 4 }, delay: exponential }),
    turnLike('side', ['plan'], { delay: { kind: 'fixed', us: 1 } }),
    turnLike('end', ['look', 'side'], { delay: { kind: 'fixed', us: 50 } }),
  )
  // Three looks of 400 on average, then 50.
  expect(meanDelaysUs(task, draws(3))).toBeGreaterThan(1100)
  expect(meanDelaysUs(task, draws(3))).toBeLessThan(1400)
})

test('a chain of ten thousand turns, each of which waits for the next in the file, is planned from its last', () => {
  const count = 9990
  const turns = Array.from({ length: count }, (_, at) =>
    turnLike(`turn ${at}`, at === count - 1 ? [] : [`turn ${at + 1}`]),
  )
  const plan = planTask(taskOf(...turns), draws(1), 0)
  expect(plan.map(({ turn }) => turn)).toEqual(Array.from(turns.keys()).toReversed())
  expect(plan[0]!.after).toEqual([])
  expect(plan.at(-1)!.after).toEqual([count - 2])
})
