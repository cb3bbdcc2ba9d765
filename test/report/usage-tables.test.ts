import { expect, test } from 'vitest'
import type { DateBand, UsagePage } from '../../src/report/usage/shape.ts'
import { fillUsageTables } from '../../src/report/usage-tables.ts'
import { openStore } from '../store/opened.ts'

const dayUs = 86_400e6
const nowUs = Date.UTC(2026, 10, 7) * 1000

/** A page of an account whose 1,000 credits run out within some days from now. */
function pageOf(days: readonly (number | null)[]): UsagePage {
  const [earlyUs, medianUs, lateUs] = days.map((day) => (day === null ? null : nowUs + day * dayUs))
  const runsOut = { earlyUs, medianUs, lateUs, horizonDays: 365 } as DateBand
  return {
    scope: { timezone: 'UTC', nowUs, unit: 'credits', sources: [{ lastUs: nowUs }] },
    otherForecasts: [],
    courses: [{ unit: 'credits', fromUs: nowUs, days: [] }],
    depletion: { known: true, unit: 'credits', balance: 1000, runsOut, wasted: [], summary: '' },
    forecast: {
      known: true,
      medianPerDay: 2,
      lowPerDay: 1,
      highPerDay: 3,
      fullDays: 9,
      summary: '',
    },
    // Polled after the last usage: it does not begin a forecast.
    balance: [{ atUs: nowUs + 9 * dayUs, account: 'a', remaining: 1000, from: 'poll' }],
    bandLosses: [],
    reconciliation: { known: false, summary: '' },
    anomalies: [],
  } as unknown as UsagePage
}

test.each([
  { days: [60, 62, 66], until: 66, low: 0, high: 0 },
  { days: [60, 300, null], until: 300, low: 0, high: 700 },
  { days: [null, null, null], until: 45, low: 865, high: 955 },
  { days: [1, 2, 4], until: 4, low: 0, high: 0 },
])('the outlook reaches the dates of the page: $days', async ({ days, until, ...ends }) => {
  const store = await openStore(':memory:')
  await fillUsageTables(store, pageOf(days))
  const [last] = await store.rows<Record<string, number>>(
    'SELECT at_us::DOUBLE AS at_us, low, high, empty_late_us::DOUBLE AS late FROM usage_outlook ORDER BY 1 DESC LIMIT 1',
  )
  store.close()
  expect((last!.at_us! - nowUs) / dayUs).toBeCloseTo(until, 6)
  expect(last!.low).toBeCloseTo(ends.low, 6)
  expect(last!.high).toBeCloseTo(ends.high, 6)
  expect(last!.late).toBe(days[2] === null ? null : nowUs + days[2]! * dayUs)
})
