import { expect, test } from 'vitest'
import { outlookPoints } from '../../../src/report/usage/board/outlook.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import { forecastOfHeld, type UsagePage } from '../../../src/report/usage/shape.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { openStore } from '../../store/opened.ts'
import { type EventChange, enterEvents, usageOptions, utc } from '../usage-events.ts'

/** The page of events at noon on these days of the autumn of 2026, the last on 30 November, and of 100 credits held. */
async function pageOf(
  days: number,
  of: (day: number) => readonly EventChange[],
): Promise<UsagePage> {
  const store = await openStore(':memory:')
  try {
    await enterEvents(
      store,
      Array.from({ length: days }, (_, day) =>
        of(day).flatMap((change) =>
          [0, 8, 16, 23].map((hour) => ({
            ...{ atUs: utc(2026, 11, 30 - day, hour, hour === 23 ? 59 : 0), ...change },
          })),
        ),
      ).flat(),
    )
    const grants = [{ name: 'Pack', credits: 100, expiresUs: null }]
    const [fromUs, toUs] = [utc(2026, 11, 31 - days), utc(2026, 12, 1)]
    return await readUsage(
      store,
      usageOptions({ contract: null, grants, fromUs, toUs, nowUs: toUs }),
    )
  } finally {
    store.close()
  }
}

const forecastsOf = ({ scope, forecast, otherForecasts }: UsagePage) => [
  { unit: scope.unit, forecast },
  ...otherForecasts,
]
const perDay = (page: UsagePage) =>
  forecastsOf(page).map(({ unit, forecast }) => [
    unit,
    forecast.known && Number(forecast.medianPerDay.toFixed(9)),
  ])

test('dollars burn no credits', async () => {
  const page = await pageOf(20, () => [{ credits: 2.5, unit: 'USD' }])
  expect(perDay(page)).toEqual([['USD', 10]])
  expect(page.forecast.summary).toBe(
    '10.00 USD a day (80 % likely 10.00 to 10.00), from 20 full days.',
  )
  expect(page.depletion).toEqual({
    known: false,
    summary: '100 credits; without a forecast, it is not known how long they last.',
  })
  expect(outlookPoints(page)).toEqual([])
  expect(terminalUsage(page)).not.toContain('runs out')
})

test('beside dollars, credits burn as if they were alone', { tags: 'whole' }, async () => {
  const alone = await pageOf(20, () => [{ credits: 1.25 }])
  const beside = await pageOf(20, (day) => [
    { credits: 1.25 },
    { credits: 100 + day, unit: 'USD' },
    { credits: 7, unit: 'EUR', model: 'other' },
  ])
  expect(perDay(alone)).toEqual([['credits', 5]])
  expect(Object.fromEntries(perDay(beside))).toMatchObject({ credits: 5, EUR: 28 })
  expect(beside.depletion.known && beside.depletion.runsOut).toEqual(
    alone.depletion.known && alone.depletion.runsOut,
  )
  // The page is of another unit, and what its readers draw of what is held is that of credits.
  expect(beside.scope.unit).not.toBe('credits')
  expect(forecastOfHeld(beside)).toEqual(alone.forecast)
  expect(outlookPoints(beside)).toEqual(outlookPoints(alone))
  expect(outlookPoints(beside)).not.toEqual([])
  expect(terminalUsage(beside)).toContain('5 credits a day')
  expect(terminalUsage(beside)).toContain('28.00 EUR a day')
})

test('a small amount of money has its digits', { tags: 'whole' }, async () => {
  const page = await pageOf(20, () => [{ credits: 0.005, unit: 'USD' }])
  expect(page.forecast.summary).toMatch(/^0\.02 USD a day \(80 % likely 0\.02 to 0\.02\)/)
  const credits = await pageOf(20, () => [{ credits: 0.005 }])
  expect(credits.forecast.summary).toMatch(/^0\.02 credits a day/)
})

test('after a change of the currency, each has its own days', { tags: 'whole' }, async () => {
  const page = await pageOf(92, (day) => [
    { credits: 1, unit: day < 60 ? 'EUR' : 'USD', model: day % 2 === 0 ? 'a' : 'b' },
  ])
  const known = Object.fromEntries(forecastsOf(page).map(({ unit, forecast }) => [unit, forecast]))
  expect(known.EUR).toMatchObject({ known: true, fullDays: 60, medianPerDay: 4 })
  expect(known.USD).toMatchObject({ known: true, medianPerDay: 0 })
})
