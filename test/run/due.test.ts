import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DueQueue } from '../../src/run/due.ts'

test('things come out in the order of their time, whatever the order they went in', () => {
  const step = fc.oneof(fc.record({ add: fc.nat({ max: 50 }) }), fc.constant('take' as const))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new DueQueue<number>(() => {})
      const model: number[] = []
      for (const what of steps) {
        if (what !== 'take') {
          queue.add(what.add, what.add)
          model.push(what.add)
          model.sort((a, b) => a - b)
        } else if (model.length > 0) expect(queue.take()).toBe(model.shift())
        expect(queue.nextUs).toBe(model[0] ?? Infinity)
        expect(queue.size).toBe(model.length)
      }
    }),
  )
})

test('only what is due before all others is told of', () => {
  let told = 0
  const queue = new DueQueue<string>(() => told++)
  queue.add(20, 'first')
  queue.add(30, 'later')
  queue.add(20, 'at the same time')
  expect(told).toBe(1)
  queue.add(10, 'sooner')
  expect(told).toBe(2)
})

test('what is dropped is gone, and the rest comes out in the order of its time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 })), fc.integer({ min: 1, max: 5 }), (times, by) => {
      const queue = new DueQueue<number>(() => {})
      for (const time of times) queue.add(time, time)
      queue.drop((time) => time % by === 0)
      const kept = times.filter((time) => time % by !== 0).sort((a, b) => a - b)
      expect(Array.from({ length: queue.size }, () => queue.take())).toEqual(kept)
    }),
  )
})
