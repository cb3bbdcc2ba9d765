import { expect, test } from 'vitest'
import type { Flight } from '../../src/run/send/flight.ts'
import { FlightDraws } from '../../src/run/send/flight-draws.ts'
import type { FlightPool } from '../../src/run/send/flight-pool.ts'
import type { Requester } from '../../src/run/send/requester.ts'

test('conversations of two steps of a phase draw their think times apart', () => {
  const pool = { acquire: () => ({}) } as unknown as FlightPool
  const draws = new FlightDraws({ say() {} } as unknown as Requester, pool)
  // The think time tells which draw it is.
  const thinkDraws = { exponential: (index: number) => index }
  const drawOf = (index: number, turn: number, turns: number) =>
    draws.nextTurn(
      {
        conversation: { index, messages: [] },
        phase: { thinkDraws, endUs: Number.POSITIVE_INFINITY, stride: 3 },
        plan: { turns, step: { session: { think: { kind: 'exponential', meanUs: 1 } } } },
        turn,
      } as unknown as Flight,
      'Yes.',
      0,
    )!.intendedUs
  expect(drawOf(2, 0, 3)).not.toBe(drawOf(3, 0, 2))
  expect(drawOf(3, 0, 2)).toBe(9)
})
