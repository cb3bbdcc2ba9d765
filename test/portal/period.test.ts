import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barWidths, fittingWidth, mostBars } from '../../src/measure/usage/calendar.ts'
import { barsAsked, periodOf } from '../../src/portal/api/period.ts'
import { Problem } from '../../src/portal/api/problem.ts'

test('a period of 400 days that begins at noon has 401 of them, so weeks fit', () => {
  const period = periodOf('2025-01-01T12:00', '2026-02-05T12:00', 'UTC')
  expect(() => barsAsked(period, 'day')).toThrow(
    expect.objectContaining({ hint: 'bucket=week fits.' }),
  )
  expect(barsAsked(period, 'week')).toHaveLength(58)
  expect(fittingWidth(periodOf('2025-01-01', '2026-02-05', 'UTC'))).toBe('day')
})

test('the width that a problem names fits the period', { tags: 'whole' }, () => {
  const quarters = fc.integer({ min: 0, max: 4 * 24 * 365 })
  fc.assert(
    fc.property(
      quarters,
      fc.integer({ min: 1, max: 4 * 24 * 366 * 8 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(...barWidths),
      (from, length, firstWeekday, width) => {
        const fromUs = Date.UTC(2025, 0) * 1000 + from * 900e6
        const period = { fromUs, toUs: fromUs + length * 900e6, timezone: 'Europe/Berlin' }
        try {
          expect(barsAsked(period, width, firstWeekday).length).toBeLessThanOrEqual(mostBars)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          const fitting = fittingWidth(period, firstWeekday)
          expect(barsAsked(period, fitting, firstWeekday).length).toBeLessThanOrEqual(mostBars)
        }
      },
    ),
    { numRuns: 40 },
  )
})
