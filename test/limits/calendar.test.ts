import { expect, test } from 'vitest'
import { calendarWindow } from '../../src/limits/calendar.ts'

const at = (text: string) => Date.parse(text)

test('a window of a calendar is named after the day on which it began, by its zone', () => {
  const late = at('2026-11-16T03:30:00Z')
  const named = (begun: Parameters<typeof calendarWindow>[1]) => calendarWindow(late, begun)
  expect(named({ each: 'minute', zone: 'Asia/Kolkata' })).toBe('2026-11-16T09:00 UTC+05:30')
  expect(named({ each: 'hour', zone: 'Asia/Kolkata' })).toBe('2026-11-16T09 UTC+05:30')
  expect(named({ each: 'day', zone: 'America/New_York' })).toBe('2026-11-15')
  expect(named({ each: 'day', zone: 'UTC', at: '04:00' })).toBe('2026-11-15')
  expect(named({ each: 'day', zone: 'UTC', at: '03:30' })).toBe('2026-11-16')
  // The 16th of November 2026 is a Monday.
  expect(named({ each: 'week', zone: 'UTC' })).toBe('2026-11-16')
  expect(named({ each: 'week', zone: 'UTC', begins: 'sunday' })).toBe('2026-11-15')
  expect(named({ each: 'week', zone: 'UTC', begins: 'tuesday' })).toBe('2026-11-10')
  expect(named({ each: 'month', zone: 'UTC' })).toBe('2026-11')
  expect(named({ each: 'month', zone: 'UTC', begins: 15 })).toBe('2026-11-15')
  expect(named({ each: 'month', zone: 'UTC', begins: 16 })).toBe('2026-11-16')
  expect(named({ each: 'month', zone: 'UTC', begins: 17 })).toBe('2026-10-17')
})

test('a month that begins on the 15th reaches into the next year', () => {
  const begun = { each: 'month', zone: 'UTC', begins: 15 } as const
  expect(calendarWindow(at('2027-01-14T23:59:59Z'), begun)).toBe('2026-12-15')
})

test('the hour that a clock repeats in autumn is two windows', () => {
  const hourOf = (text: string) => calendarWindow(at(text), { each: 'hour', zone: 'Europe/Berlin' })
  expect(hourOf('2026-10-25T00:30:00Z')).toBe('2026-10-25T02 UTC+02:00')
  expect(hourOf('2026-10-25T01:30:00Z')).toBe('2026-10-25T02 UTC+01:00')
})
