import { afterEach, expect, test } from 'vitest'
import { enterEvents, utc } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const dayUs = 86_400e6
const nowUs = nowMs * 1000

/** Half a euro at 3, 9, 15 and 21 o'clock of each day since October, until then. */
const even = (toUs: number) =>
  Array.from({ length: 60 * 4 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 3) + at * 6 * 3600e6,
    ...{ account: 'a', unit: 'EUR', credits: '0.5' },
  })).filter(({ atUs }) => atUs <= toUs)

interface Board {
  readonly now: number
  readonly outlook: { readonly points: readonly { hour: number; median: number }[] } | null
}

/** The estimate of the month, where its line begins, and the whole page. */
async function pageOf(events: ReturnType<typeof even>) {
  service = await served([], settingsOf(), (store) => enterEvents(store, events))
  const page = await (await service.ask('/page', await tokenOf('a'))).text()
  const board = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as Board
  const about = /<b[^>]*>about €([\d.]+)</.exec(page)![1]
  return { about: Number(about), board, page }
}

test('after an ordinary silence, a forecast begins now: what was not used today is not expected any more', {
  tags: 'whole',
}, async () => {
  // The last use is of 27 November, 21 o'clock; now is noon of the 28th.
  const { about, board, page } = await pageOf(even(utc(2026, 11, 27, 21)))
  // By hand: 27 days of 2 euros, and the two and a half days to come, of 2 euros or a little less.
  const [used, toCome] = [27 * 2, 2.5 * 2]
  expect(about).toBeGreaterThan(used + 0.95 * toCome)
  expect(about).toBeLessThanOrEqual(used + toCome)
  expect(board.outlook!.points[0]).toMatchObject({ hour: board.now, median: 0 })
  expect(page).not.toContain('is not here yet')
})

test('within its hour, what was used since a forecast was made is not expected again', async () => {
  // A euro at each hour until noon; now is 12:45, and the forecast is of 12:00.
  const events = Array.from({ length: 58 * 24 + 13 }, (_, at) => ({
    atUs: utc(2026, 10, 1) + at * 3600e6,
    ...{ account: 'a', unit: 'EUR', credits: '1' },
  }))
  service = await served([], settingsOf(), (store) => enterEvents(store, events))
  service.pass(45 * 60_000)
  const page = await (await service.ask('/page', await tokenOf('a'))).text()
  const board = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as Board
  // By hand: the 13 euros of today are of 13 hours; 11.25 hours and two days are to come.
  expect(Number(/<b[^>]*>about €([\d.]+)</.exec(page)![1])).toBe(27 * 24 + 13 + 11 + 48)
  expect(board.outlook!.points[0]).toMatchObject({ hour: board.now, median: 0 })
  const { median } = board.outlook!.points.at(-1)!
  expect(median).toBeGreaterThan(11.25 + 48 - 0.4)
  expect(median).toBeLessThan(11.25 + 48 + 0.4)
})

test('where more of the log is to come, a forecast begins where it ends, and the page says so', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { about, board, page } = await pageOf(even(utc(2026, 11, 24, 21)))
  // By hand: 24 days of 2 euros, and six days more.
  expect(about).toBeGreaterThan(24 * 2 + 5.7 * 2)
  expect(about).toBeLessThanOrEqual(24 * 2 + 6 * 2)
  const [first] = board.outlook!.points
  expect(board.now - first!.hour).toBeCloseTo((nowUs - utc(2026, 11, 24, 21)) / 3600e6 - 6, 0)
  expect(page).toContain('Your usage since Nov 24, 2026, 9:00')
})

test('a weekend without use is no missing log', { tags: 'whole', timeout: 60_000 }, async () => {
  // Working days from 9 to 17 o'clock, to Friday the 27th; now is Saturday noon.
  const events = Array.from({ length: 58 * 9 }, (_, at) => ({
    atUs: utc(2026, 10, 1, 9) + Math.floor(at / 9) * dayUs + (at % 9) * 3600e6,
    ...{ account: 'a', unit: 'EUR', credits: '1' },
  })).filter(({ atUs }) => new Date(atUs / 1000).getUTCDay() % 6 !== 0)
  const { about, board, page } = await pageOf(events)
  // By hand: 20 working days of 9 euros, and the Monday to come.
  expect(Math.abs(about - (20 * 9 + 9))).toBeLessThan(3)
  expect(board.outlook!.points[0]!.hour).toBe(board.now)
  expect(page).not.toContain('is not here yet')
})
