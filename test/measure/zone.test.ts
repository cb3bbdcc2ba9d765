import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  checkTimeZone,
  endOfDayUs,
  instantMs,
  offsetChanges,
  parseMoment,
  shiftDaysUs,
  startOfDayUs,
  weekdayOf,
} from '../../src/measure/usage/zone.ts'
import { utc } from '../report/usage-events.ts'

test.each([
  ['2026-11-01', 'UTC', utc(2026, 11, 1)],
  [' 2026-11-01 ', 'America/New_York', utc(2026, 11, 1, 4)],
  ['2026-11-03 21:07', 'Asia/Kolkata', utc(2026, 11, 3, 15, 37)],
  ['2026-11-03T21:07:09', 'UTC', utc(2026, 11, 3, 21, 7) + 9e6],
  ['2026-01-31', 'Pacific/Kiritimati', utc(2026, 1, 30, 10)],
  ['2026-01-31', 'Pacific/Pago_Pago', utc(2026, 1, 31, 11)],
  ['2026-11-01 12:07:09', 'America/New_York', utc(2026, 11, 1, 17, 7) + 9e6],
  // The first of two, if a change repeats the hour.
  ['2026-11-01 01:30', 'America/New_York', utc(2026, 11, 1, 5, 30)],
  ['2026-10-25 02:30', 'Europe/Rome', utc(2026, 10, 25, 0, 30)],
  // The time of the change, if it skips the time.
  ['2026-03-08T02:30', 'America/New_York', utc(2026, 3, 8, 7)],
  ['2026-03-08T02:00', 'America/New_York', utc(2026, 3, 8, 7)],
  ['2026-03-29T02:59:59', 'Europe/Rome', utc(2026, 3, 29, 1)],
  ['2026-09-06', 'America/Santiago', utc(2026, 9, 6, 4)],
  ['2026-10-04T02:10', 'Australia/Lord_Howe', utc(2026, 10, 3, 15, 30)],
  ['2026-11-01T09:30Z', 'Asia/Kolkata', utc(2026, 11, 1, 9, 30)],
  ['2026-11-01T09:30:15.250+05:30', 'UTC', utc(2026, 11, 1, 4) + 15.25e6],
  ['2026-11-01T09:30-0100', 'UTC', utc(2026, 11, 1, 10, 30)],
])('%s in %s is the expected time', (text, timezone, us) => {
  expect(parseMoment(text, timezone)).toBe(us)
})

test.each([
  '2026-02-30',
  '2026-13-05',
  '2026-00-05',
  '2026-11-01T10:75',
  '2026-02-30T09:30Z',
  '2026-13-05T09:30+01:00',
  '2026-11-01T09',
  'tomorrow',
  '2026-11-01T25:00Z',
  '2026-11-01Z',
  '01.11.2026',
])('%s is not a date', (text) => {
  expect(() => parseMoment(text, 'UTC')).toThrow(
    `"${text}" is not a date: expected 2026-11-01, 2026-11-01T09:30 (both in UTC) or 2026-11-01T09:30Z`,
  )
})

test.each([
  ['UTC', utc(2026, 11, 1, 12), utc(2026, 11, 1), 24],
  ['UTC', utc(2026, 11, 1), utc(2026, 11, 1), 24],
  ['UTC', utc(2026, 11, 2) - 1, utc(2026, 11, 1), 24],
  ['UTC', Date.UTC(1969, 11, 30, 5) * 1000, Date.UTC(1969, 11, 30) * 1000, 24],
  ['America/New_York', utc(2026, 11, 1, 12), utc(2026, 11, 1, 4), 25],
  ['America/New_York', utc(2026, 3, 8, 12), utc(2026, 3, 8, 5), 23],
  ['Asia/Kathmandu', utc(2026, 11, 1, 18, 15), utc(2026, 11, 1, 18, 15), 24],
  ['Asia/Kathmandu', utc(2026, 11, 1, 18, 14), utc(2026, 10, 31, 18, 15), 24],
  ['America/Santiago', utc(2026, 9, 6, 12), utc(2026, 9, 6, 4), 23],
])('a day in %s begins and ends at its midnights', (timezone, us, startUs, hours) => {
  expect(startOfDayUs(us, timezone)).toBe(startUs)
  expect(endOfDayUs(us, timezone)).toBe(startUs + hours * 3600e6)
})

test('a day later has the same time of day', () => {
  expect(shiftDaysUs(utc(2026, 10, 31, 4), 1, 'America/New_York')).toBe(utc(2026, 11, 1, 4))
  expect(shiftDaysUs(utc(2026, 10, 31, 16), 1, 'America/New_York')).toBe(utc(2026, 11, 1, 17))
  expect(shiftDaysUs(utc(2026, 3, 1, 16), -31, 'UTC')).toBe(utc(2026, 1, 29, 16))
  expect(shiftDaysUs(utc(2026, 3, 1, 16) + 123_000, 1, 'UTC')).toBe(utc(2026, 3, 2, 16) + 123_000)
})

test('Monday is 1 and Sunday 7, by the local day', () => {
  expect(weekdayOf(utc(2026, 11, 2), 'UTC')).toBe(1)
  expect(weekdayOf(utc(2026, 11, 1), 'UTC')).toBe(7)
  expect(weekdayOf(utc(2026, 11, 2), 'America/New_York')).toBe(7)
})

test.each(['Mars', '+05:30', '-0530', ''])('%j is no time zone', (name) => {
  checkTimeZone('Asia/Kolkata')
  expect(() => checkTimeZone(name)).toThrow(
    `Unknown time zone "${name}". Use an IANA name, such as UTC, Asia/Kolkata or America/New_York.`,
  )
})

test.each([
  ['2026-02-28T10:00:00Z', Date.UTC(2026, 1, 28, 10)],
  ['2026-02-28T10:00+05:30', Date.UTC(2026, 1, 28, 4, 30)],
  ['2026-02-30T10:00:00Z', null],
  ['2026-02-28', null],
  ['2026-02-28T10:00', null],
])('%s is the instant %s', (text, ms) => {
  expect(instantMs(text)).toBe(ms)
})

test('the changes of a clock are found from any microsecond to any other, each at its own second', () => {
  const atUs = utc(2026, 10, 25, 1)
  const change = { atUs, beforeUs: 7200e6, afterUs: 3600e6 }
  const near = fc.integer({ min: -2_500_000, max: 2_500_000 })
  const weeks = fc.integer({ min: 0, max: 3 }).map((count) => count * 7 * 86_400e6)
  fc.assert(
    fc.property(near, near, weeks, weeks, (first, last, before, after) => {
      const [fromUs, toUs] = [atUs + first - before, atUs + last + after]
      const found = offsetChanges(fromUs, toUs, 'Europe/Berlin')
      expect(found).toEqual(fromUs < atUs && toUs >= atUs ? [change] : [])
    }),
  )
  expect(offsetChanges(atUs - 5 * 86_400e6, atUs + 300_000, 'Europe/Berlin')).toEqual([change])
})
