import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served
let token: string
beforeAll(async () => {
  const settings = settingsOf(`accounts: { a: { label: '=Nordlicht Studio' } }\n`)
  service = await served([], settings, (store) =>
    enterEvents(store, [
      { atUs: utc(2024, 10, 3, 5), account: 'a', model: 'nova' },
      { atUs: utc(2026, 10, 3, 5, 10), account: 'a', model: 'nova' },
      { atUs: utc(2026, 10, 3, 6, 10), account: 'a', model: 'nova/mini' },
      { atUs: utc(2026, 10, 30, 23), account: 'a', model: 'nova' },
    ]),
  )
  token = await tokenOf('a')
})
afterAll(() => service.close())

const ask = (query: string) => service.ask(`/v1/export?${query}`, token)
const linesOf = async (answer: Response) => (await answer.text()).trimEnd().split('\n').slice(1)
const nameOf = (answer: Response) =>
  /filename="([^"]*)"/.exec(answer.headers.get('content-disposition') ?? '')![1]

test('the hours of a month and the days of two years are a file', async () => {
  const hours = await linesOf(await ask('from=2026-10-01&to=2026-11-01&bucket=hour'))
  expect(hours.map((line) => line.slice(0, 36))).toEqual([
    '2026-10-03T05:00:00+00:00,usage,nova',
    '2026-10-03T06:00:00+00:00,usage,nova',
    '2026-10-30T23:00:00+00:00,usage,nova',
  ])
  const days = await ask('from=2024-01-01&to=2026-12-02')
  expect([days.status, (await linesOf(days)).length]).toEqual([200, 4])
})

test('the bucket that a refused export is told is one that it takes', async () => {
  const query = 'from=2024-01-01&to=2026-12-02'
  const refused = await ask(`${query}&bucket=hour`)
  const { code, hint } = (await refused.json()) as { code: string; hint: string }
  expect([refused.status, code, hint]).toEqual([400, 'too-many-bars', 'bucket=day fits.'])
  for (const bucket of ['day', 'week', 'month'])
    expect([bucket, (await ask(`${query}&bucket=${bucket}`)).status]).toEqual([bucket, 200])
})

test('a file is named by the account, the period, its bars and what was filtered', async () => {
  const query = 'from=2026-10-01&to=2026-11-01'
  const name = async (more: string) => nameOf(await ask(`${query}${more}`))
  expect(await name('')).toBe('usage-Nordlicht-Studio-2026-10-01-2026-11-01.csv')
  expect(await name('&bucket=hour&format=jsonl')).toBe(
    'usage-Nordlicht-Studio-2026-10-01-2026-11-01-hour.jsonl',
  )
  expect(await name('&model=nova')).toBe(
    'usage-Nordlicht-Studio-2026-10-01-2026-11-01-model-nova.csv',
  )
  // Signs that a path has are left out, and the digest tells such names apart.
  expect(await name('&model=nova/mini')).toMatch(
    /^usage-Nordlicht-Studio-2026-10-01-2026-11-01-model-nova-mini-[0-9a-f]{6}\.csv$/,
  )
  expect(nameOf(await ask('from=2026-10-25T01:00:00%2B00:00&to=2026-10-25T02:00:00%2B00:00'))).toBe(
    'usage-Nordlicht-Studio-2026-10-25T0100+0000-2026-10-25T0200+0000.csv',
  )
})
