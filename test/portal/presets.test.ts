import { expect, test } from 'vitest'
import { presetPeriods } from '../../src/portal/api/period.ts'

test.each([
  // Noon of 1 March in UTC is the 2nd in Kiritimati, and 1 March in Honolulu.
  ['Pacific/Kiritimati', '2024-03-01T12:00Z', '2024-03-02'],
  ['Pacific/Honolulu', '2024-03-01T12:00Z', '2024-03-01'],
  // The clocks of Berlin change on 27 October.
  ['Europe/Berlin', '2024-10-27T23:30Z', '2024-10-28'],
])('the periods of the buttons are days of the account in %s at %s', (timezone, now, today) => {
  const dayMs = 86_400_000
  const shifted = (days: number) =>
    new Date(Date.parse(today) + days * dayMs).toISOString().slice(0, 10)
  const month = `${today.slice(0, 7)}-01`
  const before = `${new Date(Date.parse(month) - dayMs).toISOString().slice(0, 7)}-01`
  expect(presetPeriods({ timezone }, Date.parse(now))).toEqual([
    { name: 'today', from: today, to: shifted(1) },
    { name: 'week', from: shifted(-6), to: shifted(1) },
    { name: 'month', from: month, to: shifted(1) },
    { name: 'lastMonth', from: before, to: month },
    { name: 'quarter', from: shifted(-89), to: shifted(1) },
  ])
})
