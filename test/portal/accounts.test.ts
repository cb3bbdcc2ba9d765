import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { readAccounts } from '../../src/portal/figures/accounts.ts'
import { accountsPage, accountsText } from '../../src/portal/page/accounts-page.ts'
import { Snapshot } from '../../src/portal/source/snapshot.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { openStore } from '../../src/store/session/open.ts'
import { violations } from '../axe.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { Running } from '../e2e/command.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { nowMs, settingsOf, settingsText } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-accounts-'))
const db = join(folder, 'usage.duckdb')
const dayUs = 86_400e6
const hostile = '<img src=x onerror=alert(1)>|`$(id)`'
const accountsYaml = `everyAccount: { budget: '1000' }
accounts:
  grows: { label: Grows & Co, budget: { amount: '700' } }
  stopped: { budget: [] }
  silent: { label: Silent }
  euro: { budget: { amount: '20', unit: EUR } }
`
const settings = settingsOf(accountsYaml)

/** So many credits on each day of a month. */
const daily = (account: string, month: number, days: number, credits: number, change = {}) =>
  Array.from({ length: days }, (_, day) => ({
    ...{ atUs: utc(2026, month, 1, 9) + day * dayUs, account, credits, ...change },
  }))

beforeAll(async () => {
  const store = await openStore(db)
  await enterEvents(store, [
    // 310 in October, of which 1 to 28 November 09:00 is compared; 27 days of 20 credits in November.
    ...daily('grows', 10, 31, 10),
    ...daily('grows', 11, 27, 20),
    ...daily('stopped', 10, 31, 10),
    ...daily('stopped', 11, 5, 10),
    ...daily('euro', 10, 31, 0.5, { unit: 'EUR' }),
    ...daily('euro', 11, 27, 1, { unit: 'EUR' }),
    ...daily('euro', 11, 27, 3),
    ...daily(hostile, 11, 27, 2, { outcome: 'http_error', status: 500 }),
  ])
  store.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

async function accounts() {
  const snapshot = await Snapshot.of(await openStore(':memory:'), storeSource(db, defaultContract))
  try {
    await snapshot.refresh(nowMs)
    return await readAccounts({ snapshot, settings, contract: null, period: null, nowMs })
  } finally {
    await snapshot.close()
  }
}

test('the operator sees for each customer and unit what was used, how it changed, its budget and its failures', {
  tags: 'whole',
}, async () => {
  const all = await accounts()
  expect(all.map(({ account }) => account)).toEqual(
    [hostile, 'euro', 'grows', 'silent', 'stopped'].sort(),
  )
  const of = (name: string) => all.find(({ account }) => account === name)!
  expect(of('grows')).toMatchObject({
    ...{ label: 'Grows & Co', requests: 27, failed: 0, costUnknown: 0 },
    amounts: [{ unit: 'credits', used: '540', before: '270', change: 1 }],
    budgets: [{ amount: '700', used: '540', crosses: null }],
  })
  // The log goes on without it: 50 credits for 270, although its own last request is of the 5th.
  expect(of('stopped')).toMatchObject({
    amounts: [{ used: '50', before: '270' }],
    budgets: [],
  })
  // Units are never added; credits are new, and the budget in euros counts credits at their price.
  expect(of('euro').amounts).toEqual([
    { unit: 'EUR', used: '27', before: '13.5', change: 1 },
    { unit: 'credits', used: '81', before: '0', change: null },
  ])
  expect(of('euro').budgets[0]).toMatchObject({ unit: 'EUR', used: '28.0125', share: 1.400625 })
  expect(of('silent')).toMatchObject({ requests: 0, failed: 0, amounts: [] })
  expect(of(hostile)).toMatchObject({ requests: 27, failed: 27 })
})

test('its text names who grows, who is over a budget and who fails most, and no name is markup', {
  tags: 'whole',
}, async () => {
  const all = await accounts()
  const text = accountsText(all, 'md')
  expect(text).toContain('Grows most in credits: Grows \\& Co')
  expect(text).toContain('from 270 to 540')
  expect(text).toMatch(/Over a budget: euro, 140 % of 20 EUR a month/)
  expect(text).toMatch(/Fails most: .*27 \(100 %\) of 27 requests/)
  const csv = accountsText(all, 'csv').split('\r\n')
  expect(csv.find((line) => line.startsWith('grows'))).toContain(',credits,540,270,1,27,0,0,700,')
  const exact = '-12345678901234567.000000000000000001'
  const [grows] = all.filter(({ account }) => account === 'grows')
  const long = [{ ...grows!, amounts: [{ ...grows!.amounts[0]!, used: exact }] }]
  expect(accountsText(long, 'csv')).toContain(`,credits,${exact},270,`)
  expect(JSON.parse(accountsText(all, 'json'))).toEqual({ accounts: all })
  const page = accountsPage(all, new Map([['grows', new Map([[null, 'pages/customer-3.html']])]]))
  expect(page).not.toContain('<img')
  expect(page).toContain('<a href="pages/customer-3.html">Grows &#38; Co</a>')
})

test('the command writes the rows and a page for each customer, linked from its row', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  writeFileSync(join(folder, 'settings.yaml'), settingsText + accountsYaml)
  const line = 'report usage --by account --db usage.duckdb --settings settings.yaml'
  const words = [...line.split(' '), '--from', '2026-11-01', '--to', '2026-12-01']
  const made = new Running([...words, '--out', 'all.html', '--each', 'of each'], {}, folder)
  expect(await made.ended).toMatchObject({ code: 0, stderr: '' })
  const csv = new Running([...words, '--format', 'csv', '--each', 'of each'], {}, folder)
  expect(await csv.ended).toMatchObject({
    code: 2,
    stderr:
      '--each does nothing with report usage --by account --settings --format csv. Leave it out, or use report usage --by account --settings --format html.\n',
  })
  const all = readFileSync(join(folder, 'all.html'), 'utf8')
  const rows = [
    ...all.matchAll(
      /<a href="([^"]+)">([^<]*)<\/a><\/th><td class="nowrap">([^<]*)<\/td><td class="num">([^<]*)</g,
    ),
  ]
  expect(rows).toHaveLength(6)
  // Each row leads to the page of its customer, in its unit, with its amount.
  for (const [, link, label, unit, used] of rows) {
    const path = join(folder, decodeURIComponent(link!))
    expect([label, existsSync(path)]).toEqual([label, true])
    const page = readFileSync(path, 'utf8')
    expect(/<p class="about">(.*?)(?: ·|<\/p>)/.exec(page)?.[1]).toBe(label)
    if (unit === '–') continue
    // An account that used nothing ever has no figures.
    const figure = / data-figure>([^<]*)</.exec(page)?.[1] ?? '0'
    // On the page in euros, credits count at their price: 81 of 0.0125, a row of their own here.
    const priced = unit === 'EUR' ? 81 * 0.0125 : 0
    const exact = Number(used!.replaceAll(',', '')) + priced
    expect(Math.abs(Number(figure.replace(/[^\d.]/g, '')) - exact)).toBeLessThan(0.005)
  }
})

test('of two budgets in a unit, the one that is over or will be first is told', async () => {
  const [grows] = (await accounts()).filter(({ account }) => account === 'grows')
  const [budget] = grows!.budgets
  const withBudgets = (...changes: readonly Partial<typeof budget>[]) =>
    accountsText(
      [{ ...grows!, budgets: changes.map((change) => ({ ...budget!, ...change })) }],
      'md',
    )
  const month = { amount: '700', share: 0.9, crosses: null }
  const week = { amount: '100', period: 'week' as const, share: 0.5, crosses: '2026-11-29' }
  const day = { amount: '10', period: 'day' as const, share: 0.6, crosses: '2026-11-28' }
  const over = { amount: '5000', period: 'year' as const, share: 1.1, crosses: null }
  expect(withBudgets(month, week)).toContain(
    'Will cross a budget: Grows \\& Co, 50.0 % of 100 credits a week, used up about 2026-11-29.',
  )
  expect(withBudgets(month, week, day)).toContain(
    '60.0 % of 10 credits a day, used up about 2026-11-28',
  )
  expect(withBudgets(week, day, over)).toContain('Over a budget: Grows \\& Co, 110 % of 5,000')
})

test('who fails most and who fails most often are two customers', { tags: 'whole' }, async () => {
  const [grows, euro] = ['grows', 'euro'].map((name) => ({
    label: name,
    account: name,
  }))
  const [any] = await accounts()
  const text = accountsText(
    [
      { ...any!, ...grows!, requests: 100_000, failed: 2_000 },
      { ...any!, ...euro!, requests: 400, failed: 390 },
      { ...any!, account: 'few', label: 'few', requests: 3, failed: 3 },
    ],
    'md',
  )
  expect(text).toContain('Fails most: grows, 2,000 (2.0 %) of 100,000 requests.')
  expect(text).toContain('Fails most often: euro, 390 (97.5 %) of 400 requests.')
})

describe.skipIf(!canBrowse)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  test.each([
    [1440, 'light'],
    [390, 'dark'],
  ] as const)(
    'axe finds nothing at %i px in %s',
    { tags: 'whole', timeout: 60_000 },
    async (width, colorScheme) => {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
      await page.setContent(accountsPage(await accounts()))
      expect(await violations(page)).toEqual([])
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(wide).toBeLessThanOrEqual(width)
      await page.close()
    },
  )
})
