import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { readAccounts } from '../../src/portal/figures/accounts.ts'
import { Snapshot } from '../../src/portal/source/snapshot.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { hourUs } from '../../src/user/durations.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const textOf = (html: string) =>
  html.replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replace(/[\s\u202f]+/g, ' ')
const hoursFrom = (fromUs: number, toUs: number) =>
  Array.from({ length: Math.round((toUs - fromUs) / hourUs) }, (_, hour) => fromUs + hour * hourUs)
const isWorking = (us: number) => {
  const at = new Date(us / 1000)
  return at.getUTCDay() % 6 !== 0 && at.getUTCHours() >= 9 && at.getUTCHours() < 17
}
const money = { unit: 'USD', credits: '1' }
const now = utc(2026, 11, 28, 12)
const events = [
  // A Saturday: the last use was on Friday at 16:00, as in every week.
  ...hoursFrom(utc(2026, 10, 1), now)
    .filter(isWorking)
    .map((atUs) => ({ atUs, account: 'office', ...money })),
  // Each hour, and then nothing for two days.
  ...hoursFrom(utc(2026, 10, 1), utc(2026, 11, 26, 12)).map((atUs) => ({
    ...{ atUs, account: 'late', ...money },
  })),
]
const settings = settingsOf(`accounts:
  office: {}
  late: {}
  fresh:
    grants: [{ name: Pack, credits: 1000, from: 2026-11-01, expires: 2027-01-01 }]
    budget: '500'
`)
const today = 'from=2026-11-28&to=2026-11-29'

let service: Served
beforeAll(async () => {
  // No forecast is waited for.
  service = await served([], settings, (store) => enterEvents(store, events), 0)
}, 60_000)
afterAll(() => service.close())

const ask = async (path: string, account: string) =>
  (await service.ask(path, await tokenOf(account))).text()
const page = async (query: string, account: string) => textOf(await ask(`/page?${query}`, account))
const summary = async (query: string, account: string) =>
  JSON.parse(await ask(`/v1/usage/summary?${query}`, account)) as Answers['summary']

test('who does not work on weekends is compared until now, as the label says', async () => {
  // 20 working days of November beside 20 days of October and three hours of the 28th.
  const { cost } = await summary('from=2026-11-01&to=2026-11-29', 'office')
  expect(cost[0]).toMatchObject({ value: '160', previous: '155' })
  expect(await page('from=2026-11-01&to=2026-11-29', 'office')).toContain(
    'Used Nov 1 – 28 $160.00 +3.2% vs. Oct 1 – 28',
  )
})

test('use that is late is labelled and compared until it is known', async () => {
  const { cost } = await summary('from=2026-11-01&to=2026-11-29', 'late')
  expect(cost[0]).toMatchObject({ value: '612', previous: '612' })
  const text = await page('from=2026-11-01&to=2026-11-29', 'late')
  expect(text).toContain('late · November 1, 2026 to November 28, 2026')
  expect(text).toContain('Used Nov 1 – 26 $612.00 ±0% vs. Oct 1 – 26')
})

test('the operator compares a customer as the customer’s page does', async () => {
  const snapshot = await Snapshot.of(
    await openStore(':memory:'),
    storeSource(service.file, defaultContract),
  )
  try {
    await snapshot.refresh(nowMs)
    const all = await readAccounts({ snapshot, settings, contract: null, period: null, nowMs })
    expect(all.find(({ account }) => account === 'office')!.amounts).toMatchObject([
      { unit: 'USD', used: '160', before: '155' },
    ])
  } finally {
    await snapshot.close()
  }
})

test('a day on which nothing was used has a figure with its unit and its period', async () => {
  const text = await page(today, 'office')
  expect(text).toContain('Used Nov 28 $0.00 0 requests')
})

test('a day whose use is late has no data, and no sentence says that nothing was used', async () => {
  const text = await page(today, 'late')
  expect(text).toContain('Used Nov 28 no data')
  expect(text).toContain('Your usage since Nov 26, 2026, 11:00 AM is not here yet.')
  expect(text).not.toContain('Nothing was used')
  expect(text).not.toContain('No use in this time')
  expect(text).not.toContain('$0.00')
})

test('an account without use sees what it has, its budget and the period', async () => {
  const text = await page('from=2026-11-01&to=2026-11-29', 'fresh')
  expect(text).toContain('fresh · November 1, 2026 to November 28, 2026')
  expect(text).toContain('There is no use to show yet.')
  expect(text).toContain('Credits left 1,000 credits')
  expect(text).toContain('Budget for November 0 of 500 credits')
  expect(text).toContain('This month')
})

test('a time of which nothing is known counts no requests, and says why wherever other notices stand', async () => {
  const text = await page(today, 'late')
  expect(text).toContain('no data')
  expect(text).toContain('is not here yet')
  const [firstScreen] = text.split('From To')
  expect(firstScreen).not.toMatch(/\b0 requests|Requests 0\b/)
})
