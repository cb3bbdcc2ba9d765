import { expect, test } from 'vitest'
import {
  kindsOf,
  plainPolicies,
} from '../../../../../src/audit/evidence/billing/abandoned/policies.ts'
import { latenessOf, timingOf } from '../../../../../src/audit/evidence/billing/abandoned/timing.ts'
import { type HistoryRow, historyOf } from '../made-history.ts'

const lasting = (
  effect: HistoryRow['effect'],
  callUs: number,
  tookUs: number,
  more: Partial<HistoryRow> = {},
): HistoryRow => ({ slot: 0, callUs, endUs: callUs + tookUs, effect, costCredits: 1, ...more })
const left = (callUs: number, tookUs: number, more: Partial<HistoryRow> = {}) =>
  lasting('ambiguous', callUs, tookUs, { abandonment: 'aborted', ...more })
const timeout = { abandonment: 'timeout' } as const

test('abandoned attempts are grouped by abandonment and by whether they streamed', () => {
  const history = historyOf([
    ...[lasting('charge', 0, 9), left(1, 9), left(2, 9, timeout), left(3, 9, { streamed: true })],
    ...[left(4, 9, { ...timeout, streamed: true }), left(5, 9), left(6, 9, { abandonment: 'no' })],
    ...[lasting('charge', 7, 9, timeout), left(8, 9, timeout)],
  ])
  expect(kindsOf(history, (row) => row !== 8)).toEqual([
    { abandonment: 1, rows: [1, 5] },
    { abandonment: 2, rows: [2] },
    { abandonment: 1, rows: [3] },
    { abandonment: 2, rows: [4] },
  ])
})

const timing = timingOf(
  historyOf([
    ...[lasting('read', 0, 5), lasting('failure', 1, 4), lasting('charge', 2, 30, { step: 1 })],
    ...[lasting('charge', 3, 50, { step: 1 }), lasting('charge', 4, 70, { step: 2 }), left(5, 1)],
    ...[left(100, 20, { step: 1 }), left(200, 90, { step: 1 }), left(300, 20, { step: 3 })],
  ]),
)

test('the notice is twice the shortest exchange of known effect', () => {
  expect(timing.noticeUs).toBe(8)
})

test('an abandoned attempt is over once the longest success would be and the notice has passed', () => {
  expect([6, 7].map(timing.overUs)).toEqual([178, 298])
})

test('the longest time of a step is that of its longest success, or Infinity without one', () => {
  expect([6, 4, 8].map(timing.longestOfStepUs)).toEqual([50, 70, Infinity])
})

test.each([
  ['22 us, the shortest success of its step minus the notice', 22, 50, 0, true],
  ['less', 21, 50, 0, false],
  ['58 us, the longest success plus the notice', 58, 50, 0, true],
  ['more', 59, 50, 0, false],
  ['more, if the client was that late', 59, 50, 1, true],
] as const)('an abandoned attempt may have finished: %s', (_, tookUs, longUs, lateUs, may) => {
  const own = timingOf(
    historyOf([
      ...[lasting('read', 0, 4), lasting('charge', 1, 30), lasting('charge', 2, 50)],
      left(3, tookUs),
    ]),
  )
  expect(own.finished(3, longUs, lateUs) !== null).toBe(may)
})

test('an attempt of a step without a success may have finished after any time', () => {
  expect(timing.finished(8, 12, 0)).not.toBeNull()
  expect(timing.finished(8, 11, 0)).toBeNull()
})

test('the plain policies charge none, all, those with a head, or those with text', () => {
  const history = historyOf([
    ...[
      lasting('read', 0, 5),
      left(1, 10),
      left(2, 11, { readUs: 9 }),
      left(3, 11, { contentEvents: 1 }),
    ],
  ])
  const { none, all, head, content } = plainPolicies(history, timingOf(history))
  expect([1, 2, 3].map(() => none())).toEqual([false, false, false])
  expect([1, 2, 3].map(all)).toEqual(['perhaps', true, true])
  expect([1, 2, 3].map(head)).toEqual([false, true, false])
  expect([1, 2, 3].map(content)).toEqual([false, false, true])
})

test('the lateness of a stretch is three times its latest timeout minus the earliest of all', () => {
  const history = historyOf([
    ...[left(0, 100, timeout), left(1, 103, timeout), left(500, 101, timeout)],
    ...[left(501, 110), left(900, 101, timeout), lasting('charge', 901, 1)],
  ])
  const lateUs = latenessOf(history, (row) => Math.floor(row / 2))
  expect([0, 1, 2, 3, 4, 5].map(lateUs)).toEqual([9, 9, 3, 0, 3, 0])
})

test('a timeout is late by its own deadline, and a stall delays those of every deadline', () => {
  const first = { ...timeout, timeout: 'first-byte' } as const
  const history = historyOf([
    ...[left(0, 30, first), left(1, 300, timeout)],
    ...[left(500, 30, first), left(501, 302, timeout)],
  ])
  const lateUs = latenessOf(history, (row) => Math.floor(row / 2))
  expect([0, 1, 2, 3].map(lateUs)).toEqual([0, 0, 6, 6])
})
