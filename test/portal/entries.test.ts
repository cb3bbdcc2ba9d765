import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { type EventChange, enterEvents, usageOptions, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { november, served, settingsOf, tokenOf } from './portal.ts'

const atUs = utc(2026, 11, 9)
const line = (account: string, type: string, credits: string | null, unit = 'EUR') =>
  ({
    ...{ atUs, account, type, unit, credits },
    ...(type === 'usage'
      ? { model: 'nova', keyFp: 'aaaaaaaaaaaa' }
      : { requests: 0, keyFp: null, model: null }),
  }) as EventChange & { readonly atUs: number }
const lines = [
  line('a', 'usage', '10'),
  line('a', 'usage', '2.5'),
  line('a', 'tax', '2.375'),
  line('a', 'fee', '5'),
  line('a', 'fee', '-1.005'),
  line('a', 'adjustment', '-0.4', 'USD'),
  line('a', 'discount', null, 'USD'),
  line('a', 'purchase', '100', 'EUR'),
  line('b', 'usage', '3'),
  line('b', 'fee', '77'),
]
const portal = () =>
  served([], settingsOf(), async (store) => {
    await enterEvents(store, lines)
  })

test('what a bill has beside its use is named by kind and unit, and is no part of the use', {
  tags: 'whole',
}, async () => {
  const service = await portal()
  const ask = async (path: string, token: string) => (await service.ask(path, token)).json()
  const summary = async (token: string, more = '') =>
    (await ask(`/v1/usage/summary?${november}${more}`, token)) as Answers['summary']
  const { entries, cost } = await summary(await tokenOf('a'))
  // Month and moment are those of what came after a closed month.
  const open = { month: null, at: null }
  expect(entries).toEqual([
    { type: 'adjustment', unit: 'USD', value: '-0.4', entries: 1, ...open },
    { type: 'discount', unit: 'USD', value: null, entries: 1, ...open },
    { type: 'fee', unit: 'EUR', value: '3.995', entries: 2, ...open },
    { type: 'tax', unit: 'EUR', value: '2.375', entries: 1, ...open },
  ])
  expect(cost.map(({ currency, value }) => [currency, value])).toEqual([['EUR', '12.5']])
  // An entry has no model, and is of the whole account.
  expect((await summary(await tokenOf('a'), '&model=nova')).entries).toEqual([])
  expect((await summary(await tokenOf('a', { keys: ['aaaaaaaaaaaa'] }))).entries).toEqual([])
  const text = await (await service.ask(`/page?${november}`, await tokenOf('a'))).text()
  expect(text.match(/(Tax|Fees|Adjustments|in all) [^<]*/g)).toEqual([
    ...['Fees €3.99', 'Tax €2.38', 'in all €18.87'],
  ])
  expect(text).not.toContain('€77')
  await service.close()
})

test('the entries of the page of a customer are those of `usage --json`', async () => {
  const store = await openStore(':memory:')
  await enterEvents(store, lines)
  const { totals } = await readUsage(store, usageOptions({ account: 'a', contract: null }))
  store.close()
  expect(totals.ledger.filter(({ unit }) => unit === 'EUR')).toEqual([
    { type: 'fee', unit: 'EUR', entries: 2, amount: '3.995' },
    { type: 'purchase', unit: 'EUR', entries: 1, amount: '100' },
    { type: 'tax', unit: 'EUR', entries: 1, amount: '2.375' },
  ])
})

test('a new entry alone makes the answers new', { tags: 'whole' }, async () => {
  const service = await portal()
  const token = await tokenOf('a')
  const path = `/v1/usage/summary?${november}`
  const before = (await service.ask(path, token)).headers.get('etag')!
  const store = await openStore(service.file)
  await enterEvents(store, [line('a', 'correction', '1')])
  store.close()
  await service.portal.refresh()
  const after = await service.ask(path, token, { 'if-none-match': before })
  expect(after.status).toBe(200)
  const { entries } = (await after.json()) as Answers['summary']
  expect(entries.find(({ type }) => type === 'correction')?.value).toBe('1')
  await service.close()
})
