import { expect, onTestFinished, test } from 'vitest'
import { quarterUs } from '../../../src/measure/usage/quantities.ts'
import { longestSilenceSql } from '../../../src/report/usage/silence.ts'
import { emptyStore } from '../../store/opened.ts'

/** A sum: the quarter in which it begins, its width in quarters, its requests, and how many of them are unknown. */
type Sum = readonly [quarter: number, width: number, requests: number, unknown: number]

test.each<[string, readonly Sum[], number]>([
  ['with no use, it is the two quarters that may hide', [[0, 1, 0, 0]], 2],
  [
    'it is the longest of several',
    [
      [0, 1, 1, 0],
      [4, 1, 1, 0],
      [6, 1, 1, 0],
    ],
    5,
  ],
  [
    'a quarter without requests does not end it, one with requests of an unknown number does',
    [
      [0, 1, 1, 0],
      [3, 1, 0, 0],
      [5, 1, 0, 1],
      [7, 1, 1, 0],
    ],
    6,
  ],
  [
    'a sum of a day lasts a day, beside a single quarter that begins with it or lies within it',
    [
      [0, 1, 1, 0],
      [0, 96, 9, 0],
      [50, 1, 1, 0],
      [99, 1, 1, 0],
    ],
    5,
  ],
  [
    'sums that overlap have no time between them',
    [
      [0, 96, 1, 0],
      [50, 96, 1, 0],
    ],
    2,
  ],
])('the longest time between two uses: %s', async (_, sums, quarters) => {
  const store = await emptyStore()
  onTestFinished(() => store.close())
  const rows = sums.map(([at, width, ...counts]) => [`${at}::BIGINT`, width * quarterUs, ...counts])
  const table = `(VALUES ${rows.map((row) => `(${row.join()})`).join()})
    AS sums (quarter, width_us, requests, requests_unknown)`
  const [silence] = await store.rows<{ us: number }>(longestSilenceSql(table))
  expect(silence!.us / quarterUs).toBe(quarters)
})
