import { expect, test } from 'vitest'
import { windowsByReset } from '../../src/limits/reset-windows.ts'
import { arrivalOf } from './limited-requests.ts'

const windowUs = 60e6
/** A request that was decided within so many seconds, and shows the seconds to its reset. */
const shown = (slot: number, fromS: number, untilS: number, reset: number, remaining: number) =>
  arrivalOf(slot, fromS * 1e6, untilS * 1e6, { limit: 200, reset, remaining })

const windows = (requests: readonly ReturnType<typeof shown>[]) =>
  windowsByReset({ requests, limit: 200, windowUs }, ({ reset, fromUs, untilUs }) => ({
    lowUs: fromUs + (reset! - 1) * 1e6,
    highUs: untilUs + (reset! + 1) * 1e6,
  })).map(({ requests: own, beganEmpty }) => [own.map(({ slot }) => slot), beganEmpty])

test('answers with one reset are one window, and each reset begins another', () => {
  expect(
    windows([
      ...[shown(0, 0, 1, 58, 199), shown(1, 10, 11, 48, 198)],
      ...[shown(2, 62, 63, 56, 199), shown(3, 70, 71, 48, 198)],
    ]),
  ).toEqual([
    [[0, 1], true],
    [[2, 3], true],
  ])
})

test('answers so late that they fit two windows do not join them', () => {
  // A client that stalled saw the answers of the first window as the next one began.
  expect(
    windows([shown(0, 0, 64, 58, 199), shown(1, 0, 64, 58, 198), shown(2, 63, 64, 56, 199)]),
  ).toEqual([[[2], true]])
})

test('a request that was sent before the window of its answer began is not counted in it', () => {
  // Slots 1 and 2 were counted by the window that ends at 2 s. Their answers show the next one.
  expect(
    windows([
      ...[shown(0, 0, 0.1, 2, 100), shown(1, 0.2, 3, 59, 199), shown(2, 0.3, 3, 59, 199)],
      ...[shown(3, 3.1, 3.2, 59, 199), shown(4, 3.4, 3.5, 59, 198)],
    ]),
  ).toEqual([[[3, 4], true]])
})

test('an answer so late that it fits two windows does not join an early one, either', () => {
  expect(windows([shown(0, 0, 64, 58, 199), shown(1, 1, 2, 58, 198)])).toEqual([[[1], false]])
})
