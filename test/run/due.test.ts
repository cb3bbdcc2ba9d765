import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DueQueue } from '../../src/run/send/due.ts'

test('entries are taken in order of their time, whatever the order of insertion', () => {
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

test('the callback is called only for an entry that is due before all others', () => {
  let told = 0
  const queue = new DueQueue<string>(() => told++)
  queue.add(20, 'first')
  queue.add(30, 'later')
  queue.add(20, 'at the same time')
  expect(told).toBe(1)
  queue.add(10, 'sooner')
  expect(told).toBe(2)
})

test('dropped entries are gone, and the rest is taken in order of its time', () => {
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
