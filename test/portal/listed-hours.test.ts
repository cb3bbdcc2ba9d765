import { expect, test } from 'vitest'
import { listedHours } from '../../src/portal/figures/cause.ts'
import type { UsageForecast } from '../../src/report/usage/shape.ts'

const row = (atUs: number, amount: number, unit = 'credits') => ({
  ...{ source: 'hour', id: '', shows: '', atUs },
  hour: { unit, amount, usual: 2, requests: 1, usualRequests: 1 },
})
const page = {
  anomalies: [
    {
      ...{ kind: 'unusual-hour', count: 5, summary: '' },
      rows: [row(0, 900), row(1, 228), row(2, 42), row(3, 8), row(4, 8, 'USD')],
    },
  ],
} as unknown as Pick<UsageForecast, 'anomalies'>

test('a customer reads no hour whose excess is below a twentieth of the greatest of its unit in the period', () => {
  expect(listedHours(page, 'credits', { fromUs: 1, toUs: 9 })).toEqual([1, 2])
  expect(listedHours(page, 'credits', { fromUs: 3, toUs: 9 })).toEqual([3])
  expect(listedHours(page, 'USD', { fromUs: 0, toUs: 9 })).toEqual([4])
  expect(listedHours(null, 'USD', { fromUs: 0, toUs: 9 })).toEqual([])
})
