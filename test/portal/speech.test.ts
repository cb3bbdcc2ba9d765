import { expect, test } from 'vitest'
import { speechOf } from '../../src/portal/page/speech.ts'
import { wordsFor } from '../../src/portal/page/words.ts'
import { utc } from '../report/usage-events.ts'
import { settingsOf } from './portal.ts'

const periodIn = (locale: string, timezone: string, fromUs: number, toUs: number) =>
  speechOf(wordsFor(locale, settingsOf()), { locale, timezone })
    .period(fromUs, toUs)
    .replace(/[\u00a0\u202f\u2009]/g, ' ')

test.each([
  ['en', 'Nov 10, 9–10 PM', 'Nov 9, 2026, 9:00 PM – Nov 10, 2026, 10:00 PM'],
  ['de', 'am 10. Nov., 21–22 Uhr', 'vom 09.11.2026, 21:00 bis 10.11.2026, 22:00'],
  ['fr', 'le 10 nov., 21 h–22 h', 'du 9 nov. 2026, 21:00 au 10 nov. 2026, 22:00'],
  ['es', 'el 10 nov, de 21:00 a 22:00', 'del 9 nov 2026, 21:00 al 10 nov 2026, 22:00'],
  ['ja', '11月10日, 21時～22時', '2026/11/09 21:00～2026/11/10 22:00'],
])('a period of hours is said as one of days is, in %s', (locale, hour, days) => {
  const to = utc(2026, 11, 10, 22)
  expect(periodIn(locale, 'UTC', utc(2026, 11, 10, 21), to)).toBe(hour)
  expect(periodIn(locale, 'UTC', utc(2026, 11, 9, 21), to)).toBe(days)
})

test('a period of hours after a short word has no other word', () => {
  const { period } = speechOf(wordsFor('de', settingsOf()), { locale: 'de', timezone: 'UTC' })
  const hours = period(utc(2026, 11, 10, 21), utc(2026, 11, 10, 22), true)
  expect(hours.replaceAll('\u00a0', ' ')).toBe('10. Nov., 21–22 Uhr')
})

// Berlin has the hour from 2 to 3 twice: from midnight and from 1 of UTC.
test.each([
  [0, 1, 'Oct 25, 2:00 AM (UTC+02:00)–2:00 AM (UTC+01:00)'],
  [1, 2, 'Oct 25, 2:00 AM (UTC+01:00)–3:00 AM'],
  [0, 2, 'Oct 25, 2:00 AM (UTC+02:00)–3:00 AM'],
  [-1, 0, 'Oct 25, 1:00 AM–2:00 AM (UTC+02:00)'],
  [-1, 2, 'Oct 25, 1–3 AM'],
  [2, 3, 'Oct 25, 3–4 AM'],
])('two equal hours are told apart by their offset: %i to %i', (from, to, said) => {
  const midnightUs = utc(2026, 10, 25)
  const [fromUs, toUs] = [from, to].map((hour) => midnightUs + hour * 3600e6)
  expect(periodIn('en', 'Europe/Berlin', fromUs!, toUs!)).toBe(said)
})

test('from ten times more on, a change is how many times as much', () => {
  const { change } = speechOf(wordsFor('en', settingsOf()), { locale: 'en', timezone: 'UTC' })
  expect([0.053, 9.99, 10, 3279.25, -1].map(change)).toEqual([
    ...['+5.3%', '+999%', '×\u00a011', '×\u00a03,280', '−100%'],
  ])
})
