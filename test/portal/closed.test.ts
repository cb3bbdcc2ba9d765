import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import type { Store } from '../store/opened.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-closed-'))
const october = 'from=2026-10-01&to=2026-11-01'
const november = 'from=2026-11-01&to=2026-12-01'
const [inOctober, inNovember] = [utc(2026, 10, 20, 9), utc(2026, 11, 3, 9)]
const cameUs = utc(2026, 11, 12, 8)

/** What was known when October was closed, and what came after that: a late line, a line with another cost, and one of another account. */
async function fill(store: Store): Promise<void> {
  await enterEvents(store, [
    { id: 'a1', account: 'a', atUs: inOctober, credits: 10, model: 'large', tags: '{"team":"x"}' },
    { id: 'a2', account: 'a', atUs: inOctober, credits: 20, model: 'small' },
    { id: 'a3', account: 'a', atUs: inNovember, credits: 5 },
    { id: 'b1', account: 'b', atUs: inOctober, credits: 7 },
  ])
  const file = join(folder, 'october.parquet')
  await exportTable(store, { what: 'quarters', file, format: 'parquet' })
  await enterEvents(store, [{ id: 'a4', account: 'a', atUs: inOctober + 60e6, credits: 1.5 }])
  await store.execute(`
    UPDATE usage_events SET credits = 22 WHERE id = 'a2';
    UPDATE usage_events SET ingested_us = ${cameUs} WHERE id IN ('a2', 'a4')`)
}

const settings = (closed: string) => ({
  ...settingsOf(
    `${closed}accounts: { a: { grants: [{ name: Pack, credits: 100, from: 2026-10-01 }] } }\n`,
  ),
  folder,
})
let open: Served
let closed: Served
beforeAll(async () => {
  closed = await served([], settings('closed: [{ month: 2026-10, file: october.parquet }]\n'), fill)
  open = await served([], settings(''), fill)
}, 60_000)
afterAll(async () => {
  await open.close()
  await closed.close()
  rmSync(folder, { recursive: true })
})

async function read<T>(service: Served, path: string, account = 'a'): Promise<T> {
  const answer = await service.ask(path, await tokenOf(account))
  expect([path, answer.status]).toEqual([path, 200])
  return (await answer.json()) as T
}
const summaryOf = (service: Served, period: string, account?: string) =>
  read<Answers['summary']>(service, `/v1/usage/summary?${period}`, account)

const late = {
  ...{ type: 'after-closing', unit: 'credits', value: '3.5', entries: 1, month: '2026-10' },
  at: '2026-11-12T08:00:00+00:00',
}

test('a closed month keeps its figures, and what came later stands in the month when it came', {
  tags: 'whole',
}, async () => {
  expect((await summaryOf(open, october)).credits?.value).toBe('33.5')
  const then = await summaryOf(closed, october)
  expect([then.credits?.value, then.requests.value, then.entries]).toEqual(['30', '2', []])
  const now = await summaryOf(closed, november)
  expect([now.credits?.value, now.requests.value, now.entries]).toEqual(['5', '1', [late]])
  expect((await summaryOf(open, november)).entries).toEqual([])
})

test('a closed month names what came later, and the month that holds it', async () => {
  const { later } = await summaryOf(closed, october)
  expect(later).toEqual([late])
  // Who sees both months has it in the entries; a filter shows none.
  const both = await summaryOf(closed, 'from=2026-10-01&to=2026-12-01')
  expect([both.entries, both.later]).toEqual([[late], []])
  expect((await summaryOf(closed, november)).later).toEqual([])
  expect((await summaryOf(closed, `${october}&model=small`)).later).toEqual([])
  expect((await summaryOf(open, october)).later).toEqual([])
  const page = await (await closed.ask(`/page?${october}`, await tokenOf('a'))).text()
  expect(page).toMatch(
    /3\.5 credits for October 2026 came on November 12, 2026, after closing, and counts in <a href="\?from=2026-11-01&to=2026-12-01" data-keep>November 2026<\/a>/,
  )
  expect(await (await open.ask(`/page?${october}`, await tokenOf('a'))).text()).not.toContain(
    'after closing',
  )
})

test('its names, its days and its tags are as they were', async () => {
  const rowsBy = async (by: string) => {
    const { rows } = await read<Answers['breakdown']>(
      closed,
      `/v1/usage/breakdown?${october}&by=${by}&sort=name`,
    )
    return rows.map(({ name, credits, requests }) => [name, credits, requests])
  }
  expect(await rowsBy('model')).toEqual([
    ['large', '10', 1],
    ['small', '20', 1],
  ])
  expect(await rowsBy('day')).toEqual([['2026-10-20', '30', 2]])
  expect(await rowsBy('tag:team')).toEqual([
    ['x', '10', 1],
    [null, '20', 1],
  ])
})

test('what is left of the credits counts what came later', async () => {
  for (const service of [open, closed]) {
    const { remaining, used } = await read<Answers['credits']>(service, '/v1/credits')
    expect([used, remaining]).toEqual(['38.5', '61.5'])
  }
})

test('a file has a line of what came later, with its month', async () => {
  const token = await tokenOf('a')
  const csv = await (await closed.ask(`/v1/export?${november}`, token)).text()
  const [head, ...lines] = csv.trim().split('\n')
  expect(head!.endsWith(',closed_month')).toBe(true)
  const line = lines.find((each) => each.includes('after-closing'))!
  expect(line).toContain('2026-11-12T00:00:00+00:00,after-closing,')
  expect(line).toContain(',credits,3.5,EUR,0.04375,2026-10')
  expect(await (await open.ask(`/v1/export?${november}`, token)).text()).not.toContain('closed')
})

test('the page says what came later and when, and that a month is closed', {
  tags: 'whole',
}, async () => {
  const token = await tokenOf('a')
  const page = async (period: string) => (await closed.ask(`/page?${period}`, token)).text()
  expect(await page(november)).toMatch(
    /3\.50? for October 2026, which came on November 12, 2026, after that month was closed/,
  )
  expect(await page(october)).toContain('This month is closed: its figures stay.')
})

test('an account without later lines has none, and a token without credits sees none', async () => {
  expect((await summaryOf(closed, november, 'b')).entries).toEqual([])
  expect((await summaryOf(closed, october, 'b')).credits?.value).toBe('7')
  const token = await tokenOf('a', { shows: ['models'] })
  const answer = await closed.ask(`/v1/usage/summary?${november}`, token)
  expect(((await answer.json()) as Answers['summary']).entries).toEqual([])
})

test('a month whose file is missing is refused', async () => {
  await expect(
    served([], settings('closed: [{ month: 2026-09, file: none.parquet }]\n'), fill),
  ).rejects.toThrow('closed: 2026-09: ')
})
