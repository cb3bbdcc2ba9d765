import { afterEach, expect, test } from 'vitest'
import { choiceOf, fragmentOf, timeText } from '../../src/report/usage/board/choice.js'
import { csvName, csvOf, exactText } from '../../src/report/usage/board/csv.js'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { hourIn } from '../../src/report/usage/board/tables.js'
import { viewsOf } from '../../src/report/usage/board/views.js'
import { enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => service?.close())

/** The board of an account in a zone, whose requests are at these times. */
async function boardOf(timezone: string, query: string, times: readonly number[]) {
  const settings = settingsOf(`accounts: { a: { label: Nord & Co, timezone: ${timezone} } }\n`)
  service = await served([], settings, (store) =>
    enterEvents(
      store,
      times.map((atUs) => ({ atUs, account: 'a', credits: '0.7' })),
    ),
  )
  const html = await (await service.ask(`/page?${query}`, await tokenOf('a'))).text()
  const [, json] = /<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/.exec(html)!
  const data = JSON.parse(json!) as BoardData
  const view = viewsOf(data, choiceOf(data, '')).views[0]!
  return { data, view, csv: csvOf(data, view).trimEnd().split('\r\n') }
}

test('an hour that occurs twice is two bars, in the table, the file and the address', async () => {
  const { data, view, csv } = await boardOf('Europe/Berlin', 'from=2026-10-25&to=2026-10-26', [
    ...[utc(2026, 10, 25, 0, 10), utc(2026, 10, 25, 0, 50), utc(2026, 10, 25, 1, 20)],
    utc(2026, 10, 25, 2, 5),
  ])
  const rows = view.table()[1].map(([time, sum]) => [String(time).replace('\u202f', ' '), sum])
  expect(rows.length).toBe(25)
  expect(rows.slice(2, 5)).toEqual([
    ['Sun, Oct 25, 2026, 2:00 AM (UTC+02:00)', 1.4],
    ['Sun, Oct 25, 2026, 2:00 AM (UTC+01:00)', 0.7],
    ['Sun, Oct 25, 2026, 3:00 AM', 0.7],
  ])
  expect(csv.slice(3, 6)).toEqual([
    'Nord & Co,2026-10-25T02:00:00+02:00,2026-10-25T02:00:00+01:00,1.4',
    'Nord & Co,2026-10-25T02:00:00+01:00,2026-10-25T03:00:00+01:00,0.7',
    'Nord & Co,2026-10-25T03:00:00+01:00,2026-10-25T04:00:00+01:00,0.7',
  ])
  expect(csv[0]).toBe('account,start,end,svc-k2 (credits)')
  expect(view.note).toBe(
    'Sun, Oct 25, 2026 has 25 hours: the clock is set back, and one hour occurs twice.',
  )
  // The second of the two hours is a choice of its own, which its address has.
  const bar = view.bars![3]!
  expect(timeText(data, bar.start)).toBe('2026-10-25T02:00+01:00')
  const choice = { ...choiceOf(data, ''), from: bar.start, to: bar.end }
  expect(choiceOf(data, fragmentOf(data, choice))).toEqual(choice)
  expect(viewsOf(data, choice).sums.requests).toBe(1)
  expect(hourIn(data, { at: '2026-10-25T02:20:00+01:00' })).toBe(bar.start)
  expect(hourIn(data, { at: '2026-10-25T02:50:00+02:00' })).toBe(view.bars![2]!.start)
})

test('the server draws the second of two equal hours alone', async () => {
  const query = new URLSearchParams({ from: '2026-10-25T02:00+01:00', to: '2026-10-25T03:00' })
  const { data, view } = await boardOf('Europe/Berlin', String(query), [
    ...[utc(2026, 10, 25, 0, 10), utc(2026, 10, 25, 1, 20)],
  ])
  expect(view.table()[1].map(([, sum]) => sum)).toEqual([0.7])
  expect(data.to - data.from).toBe(1 / 8)
})

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-03-30', 23, '2026-03-29T03:00:00+02:00'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-06', 25, '2026-04-05T01:00:00+11:00'],
])(
  'a day of a change in %s has its hours, each with its offset',
  async (zone, from, to, hours, third) => {
    const { view, csv } = await boardOf(zone, `from=${from}&to=${to}`, [utc(2026, 3, 1)])
    expect(csv.slice(1).filter((line) => line.includes(from)).length).toBeGreaterThanOrEqual(hours)
    expect(csv.join('\n')).toContain(third)
    expect(view.note).toMatch(/^Sun, (Mar 29|Apr 5), 2026 has (23|25) hours/)
  },
)

test('a chart is saved with account, period, unit, offsets and exact decimals', async () => {
  const { data, view, csv } = await boardOf('Europe/Berlin', 'from=2026-11-01&to=2026-11-03', [
    ...[utc(2026, 11, 1, 5), utc(2026, 11, 1, 5, 5), utc(2026, 11, 1, 5, 10)],
  ])
  // 0.7 three times is 2.0999999999999996 in doubles.
  expect(csv).toContain('Nord & Co,2026-11-01T06:00:00+01:00,2026-11-01T07:00:00+01:00,2.1')
  expect(csvName(data, view, choiceOf(data, ''))).toBe(
    'usage-use-Nord-Co-2026-11-01-2026-11-02.csv',
  )
  // The days and the hours of a file of a chart are named as those of an export.
  const named = (from: string, to: string) =>
    csvName(data, view, choiceOf(data, `from=${from}&to=${to}`))
  expect(named('2026-11-02', '2026-11-03')).toBe('usage-use-Nord-Co-2026-11-02-2026-11-02.csv')
  expect(named('2026-11-02T14', '2026-11-03')).toBe(
    'usage-use-Nord-Co-2026-11-02T1400+0100-2026-11-03T0000+0100.csv',
  )
  const sum = viewsOf(data, choiceOf(data, '')).views.find(({ id }) => id === 'cumulative')!
  expect(csvOf(data, sum).split('\r\n')[0]).toBe('account,until,Credits used (credits)')
  expect(exactText(101.90999999999998, 2)).toBe('101.91')
  expect(exactText(1e-7, 7)).toBe('0.0000001')
  expect(exactText(1200, 0)).toBe('1200')
})
