import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { accountView } from '../../src/portal/settings/account-view.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { terminalUsage } from '../../src/report/usage/terminal.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { openStore } from '../../src/store/session/open.ts'
import { type EventChange, enterEvents, usageOptions, utc } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-prepaid-'))
afterAll(() => rmSync(folder, { recursive: true }))
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const ledger = (...lines: readonly string[]) => {
  const file = join(folder, 'ledger.csv')
  const header = 'id,time,type,account,credits,unit,expires,name'
  writeFileSync(file, `${[header, ...lines].join('\n')}\n`)
  return file
}
/** As services that are paid in advance keep them: a top-up, credit as a present that expires, and one that was taken back. */
const rows = [
  'p1,2026-11-01T00:00:00Z,purchase,a,50.00,USD,,Top-up',
  'g1,2026-11-01T00:00:00Z,gift,a,5.00,USD,2026-11-11,Welcome',
  'p2,2026-11-20T00:00:00Z,purchase,a,20.00,USD,2027-11-20,Top-up of November',
]
/** A dollar and a quarter on each day from the 1st to the 27th of November, before noon. */
const use = (account: string, unit = 'USD'): (EventChange & { readonly atUs: number })[] =>
  Array.from({ length: 27 }, (_, day) => ({
    ...{ atUs: utc(2026, 11, 1 + day, 10), account, credits: '1.25', unit, requests: 1 },
  }))

async function serving(lines: readonly string[], more = '', unit = 'USD'): Promise<Served> {
  service = await served([], settingsOf(more), async (store) => {
    await enterEvents(store, [...use('a', unit), ...use('b', unit)])
    await importFile(store, { file: ledger(...lines) })
  })
  return service
}
const answer = async <Name extends 'credits' | 'outlook'>(
  path: string,
  account: string,
  claims = {},
) => (await (await service!.ask(path, await tokenOf(account, claims))).json()) as Answers[Name]

const expected = {
  // Of 33.75 the gift paid the first 5, and had nothing left when it ended.
  ...{ unit: 'USD', held: '70', used: '28.75', remaining: '41.25', expired: '0', uncovered: '0' },
}

test('prepaid money of imported rows is held, used and left alike in the API, on the page and for programs', {
  tags: 'whole',
}, async () => {
  const { ask, file } = await serving(rows)
  expect(await answer<'credits'>('/v1/credits', 'a')).toMatchObject({
    ...expected,
    source: 'grants',
    grants: [
      // What expires is used first: eight days of November, from the 20th on.
      { name: 'Top-up', credits: '50', used: '18.75', remaining: '31.25' },
      { name: 'Top-up of November', credits: '20', used: '10', remaining: '10' },
    ],
  })
  expect(await answer<'credits'>('/v1/credits', 'b')).toMatchObject({
    unit: 'credits',
    source: 'none',
  })
  const outlook = await answer<'outlook'>('/v1/credits/outlook', 'a')
  // 41.25 at 1.25 a day from the 28th on.
  expect(outlook).toMatchObject({
    ...{ known: true, unit: 'USD' },
    runsOut: { median: expect.stringMatching(/^(2026-12-(29|3\d)|2027-01-0[1-3])/) },
  })
  const page = (await (await ask('/page', await tokenOf('a'))).text()).replace(/\s+/g, ' ')
  const text = page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  expect(text).toMatch(/Your balance lasts until about (Dec|Jan)[^$]{1,12}\$41\.25 left/)
  // The chart of money draws what is held, too: 33.75 are used, and 41.25 left.
  const chart = /id="board-cumulative"[\s\S]*?<div class="on-desk">/.exec(page)![0]
  expect(chart.replace(/<[^>]+>/g, ' ')).toContain('Cost (USD), added up, and all your balance')
  expect(text).toContain('used up at $75.00: $41.25 left')
  expect(text).toContain('end of your balance')
  expect(text).toMatch(
    /Top-up \$50\.00 \$18\.75 \$31\.25 .* Top-up of November \$20\.00 \$10\.00 \$10\.00 .* Total \$70\.00 \$28\.75 \$41\.25/,
  )
  const figures = page.slice(page.indexOf('<dl class="figures'), page.indexOf('</dl>'))
  expect(figures).toContain('Your balance lasts until')
  expect(figures).not.toMatch(/credits/i)
  const store = await openStore(file)
  try {
    const options = usageOptions({ account: 'a', nowUs: nowMs * 1000, contract: null })
    const own = await readUsage(store, options)
    expect(own.credits).toMatchObject(expected)
    expect(own.depletion).toMatchObject({ known: true, unit: 'USD', balance: 41.25 })
    expect(terminalUsage(own)).toContain('70.00 USD: 28.75 used, 41.25 left.')
    expect(own.plan).toBe(null)
  } finally {
    store.close()
  }
})

test('prepaid money of the settings is what the same rows give, from a grant or a balance', {
  tags: 'whole',
}, async () => {
  const grants = (unit: string) =>
    `accounts: { a: { grants: [{ name: Top-up, amount: '50.00', unit: ${unit}, from: 2026-11-01 },
      { name: Welcome, amount: 5, unit: ${unit}, from: 2026-11-01, expires: 2026-11-11 },
      { name: Top-up of November, amount: 20, unit: ${unit}, from: 2026-11-20, expires: 2027-11-20 }] } }\n`
  await serving([], grants('USD'))
  expect(await answer<'credits'>('/v1/credits', 'a')).toMatchObject({
    ...expected,
    source: 'grants',
    grants: [
      { name: 'Top-up', credits: '50', used: '18.75', remaining: '31.25' },
      { name: 'Top-up of November', credits: '20', used: '10', remaining: '10' },
    ],
  })
  const page = (await (await service!.ask('/page', await tokenOf('a'))).text()).replace(
    /<[^>]+>/g,
    ' ',
  )
  expect(page).toContain('$41.25 left')
  await service!.close()
  // 27 November at noon has one more use, before it.
  await serving(
    [],
    "accounts: { a: { balance: { amount: '43', unit: USD, asOf: 2026-11-27T12:00Z } } }\n",
  )
  expect(await answer<'credits'>('/v1/credits', 'a')).toMatchObject({
    ...{ unit: 'USD', source: 'balance', held: '43', used: '0', remaining: '43' },
  })
})

test('what an account holds is of one unit, and says which', () => {
  const grant = (text: string) => () =>
    accountView(settingsOf(`accounts: { a: { grants: [${text}] } }\n`), 'a')
  const usd = '{ name: A, amount: 5, unit: USD }'
  expect(grant(usd)().holdings?.unit).toBe('USD')
  expect(grant(`${usd}, { name: B, credits: 5 }`)).toThrow('found USD and credits')
  for (const wrong of ['amount: 5', 'unit: USD', 'credits: 5, unit: USD', 'credits: 5, amount: 5'])
    expect(grant(`{ name: A, ${wrong} }`)).toThrow('expected credits, or an amount and its unit')
})

test('a token without costs sees no prepaid money, and one without credits sees it', {
  tags: 'whole',
}, async () => {
  const { ask } = await serving(rows)
  const without = await tokenOf('a', { shows: ['credits', 'models'] })
  for (const path of ['/v1/credits', '/v1/credits/outlook', '/page', '/v1/notices', '/v1/alerts']) {
    const seen = await (await ask(path, without)).text()
    expect([path, /41\.25|Top-up|28\.75/.test(seen)]).toEqual([path, false])
  }
  expect((await ask('/v1/credits', without)).status).toBe(403)
  const shows = { shows: ['cost'] }
  expect(await answer<'credits'>('/v1/credits', 'a', shows)).toMatchObject(expected)
  const page = await (await ask('/page', await tokenOf('a', shows))).text()
  expect(page).toContain('$41.25')
})

test('money beside rows that give credits was paid for them, and is no balance', {
  tags: 'whole',
}, async () => {
  const lines = [
    'c1,2026-11-01T00:00:00Z,grant,a,400,credits,,Pack',
    'p1,2026-11-01T00:00:00Z,purchase,a,50.00,USD,,Payment',
  ]
  await serving(lines, '', 'credits')
  expect(await answer<'credits'>('/v1/credits', 'a')).toMatchObject({
    ...{ unit: 'credits', held: '400', used: '33.75', remaining: '366.25' },
    grants: [{ name: 'Pack' }],
  })
})

test('prepaid money of two currencies is not one balance', async () => {
  await serving([...rows, 'p3,2026-11-02T00:00:00Z,purchase,a,9,EUR,,Euros'])
  expect(await answer<'credits'>('/v1/credits', 'a')).toMatchObject({
    ...{ source: 'none', held: null, grants: [] },
  })
})
