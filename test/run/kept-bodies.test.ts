import { expect, test } from 'vitest'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { charactersOf, KeptBodies } from '../../src/run/record/kept-bodies.ts'
import type { Flight } from '../../src/run/send/flight.ts'

const flight = { slot: 0, retry: 0, conversation: null } as unknown as Flight
const attemptOf = (headers: string, body: string) =>
  ({ outcome: 'ok', captured: { headers, body, truncated: false } }) as unknown as Attempt

const mebibyte = 'x'.repeat(1 << 20)

test('bodies are handed over by size, and given up if the recorder is far behind', () => {
  const bodies = new KeptBodies('r', 'all')
  expect(bodies.keep(flight, attemptOf('', mebibyte))).toBe(true)
  expect(bodies.isFull).toBe(false)
  expect(bodies.keep(flight, attemptOf('', 'y'))).toBe(true)
  expect(bodies.isFull).toBe(true)
  const [first, second] = bodies.take()
  expect([first!.body.length, second!.body]).toEqual([1 << 20, 'y'])
  expect(bodies.isFull).toBe(false)
  // 32 MiB may be pending, handed over or not.
  let kept = 0
  while (bodies.keep(flight, attemptOf('', mebibyte))) kept++
  expect([kept, bodies.givenUp]).toEqual([30, 1])
  bodies.take()
  expect(bodies.keep(flight, attemptOf('', mebibyte))).toBe(false)
  bodies.written(charactersOf(first!) + charactersOf(second!))
  expect(bodies.keep(flight, attemptOf('', mebibyte))).toBe(true)
  expect(bodies.givenUp).toBe(2)
})

test('a capture with a head over 16 KiB is given up', () => {
  const bodies = new KeptBodies('r', 'all')
  expect(bodies.keep(flight, attemptOf('h'.repeat(16 * 1024), 'body'))).toBe(true)
  expect(bodies.keep(flight, attemptOf('h'.repeat(16 * 1024 + 1), 'body'))).toBe(false)
  expect(bodies.givenUp).toBe(1)
})
