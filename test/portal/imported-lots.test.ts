import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { openStore } from '../../src/store/session/open.ts'
import { type EventChange, enterEvents, usageOptions, utc } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-imported-lots-'))
afterAll(() => rmSync(folder, { recursive: true }))
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const header = 'id,time,type,account,credits,expires,name,priority,models'
const ledger = (...lines: readonly string[]) => {
  const file = join(folder, 'ledger.csv')
  writeFileSync(file, `${[header, ...lines].join('\n')}\n`)
  return file
}
const rowsOfA = [
  'p1,2026-11-01T00:00:00Z,purchase,a,400,2026-12-31,Pack,,',
  'g1,2026-11-10T09:37:00Z,grant,a,100,,Bonus,-1,',
]
const rowsOfB = ['q1,2026-11-01T00:00:00Z,purchase,b,7654321,,Secret of b,,']

/** Ten credits on each day from the 1st to the 27th of November. */
const use = (account: string): (EventChange & { readonly atUs: number })[] =>
  Array.from({ length: 27 }, (_, day) => ({
    ...{ atUs: utc(2026, 11, 1 + day, 12), account, credits: 10, requests: 1 },
  }))

async function serving(lines: readonly string[], more = ''): Promise<Served> {
  service = await served([], settingsOf(more), async (store) => {
    await enterEvents(store, [...use('a'), ...use('b')])
    await importFile(store, { file: ledger(...lines) })
  })
  return service
}
const creditsOf = async ({ ask }: Served, account: string, claims = {}) =>
  (await (await ask('/v1/credits', await tokenOf(account, claims))).json()) as Answers['credits']

test('grants of imported rows are held, used and left in the API, on the page and for programs', {
  tags: 'whole',
}, async () => {
  const { ask, file } = await serving([...rowsOfA, ...rowsOfB])
  // Nine days by the pack alone, then ten by the bonus, which is used first, then the pack again.
  const expected = {
    ...{ held: '500', used: '270', remaining: '230', expired: '0', uncovered: '0' },
    unit: 'credits',
    grants: [
      {
        ...{ name: 'Pack', credits: '400', used: '170', remaining: '230', models: null },
        ...{ from: '2026-11-01T00:00:00+00:00', expires: '2026-12-31T00:00:00+00:00' },
      },
      {
        ...{ name: 'Bonus', credits: '100', used: '100', remaining: '0', models: null },
        ...{ from: '2026-11-10T09:30:00+00:00', expires: null },
      },
    ],
  }
  expect(await creditsOf(service!, 'a')).toEqual({ ...expected, source: 'grants', asOf: null })
  expect(await creditsOf(service!, 'b')).toMatchObject({ held: '7654321', remaining: '7654051' })
  const outlook = await (await ask('/v1/credits/outlook', await tokenOf('a'))).json()
  // 230 credits at about ten a day from noon of the 28th.
  expect(outlook).toMatchObject({
    known: true,
    runsOut: { median: expect.stringMatching(/^2026-12-2[0-4]/) },
  })
  const page = await (await ask('/page', await tokenOf('a'))).text()
  const table = page.slice(page.indexOf('id="lots"'))
  expect(
    table
      .slice(0, table.indexOf('</table>'))
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' '),
  ).toMatch(/Pack 400 170 230 .* Bonus 100 100 0 .* Total 500 270 230/)
  expect(page).not.toContain('Secret of b')
  const store = await openStore(file)
  try {
    const read = (account: string | null) =>
      readUsage(store, usageOptions({ account, nowUs: nowMs * 1000, contract: null }), undefined, [
        'credits',
        'depletion',
      ])
    const own = await read('a')
    expect(own.credits).toMatchObject({
      ...{ held: '500', used: '270', remaining: '230', expired: '0', uncovered: '0' },
      grants: [{ name: 'Pack' }, { name: 'Bonus' }],
    })
    expect(own.depletion).toMatchObject({ known: true, balance: 230 })
    // Credits of several accounts are not one balance.
    expect((await read(null)).credits).toBe(null)
  } finally {
    store.close()
  }
})

test('without an account, grants of imported rows are those of all use, if there is one account', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  try {
    await enterEvents(store, use('a'))
    await importFile(store, { file: ledger(...rowsOfA) })
    const read = () =>
      readUsage(store, usageOptions({ nowUs: nowMs * 1000, contract: null }), undefined, [
        'credits',
      ])
    expect((await read()).credits).toMatchObject({ held: '500', remaining: '230' })
    await enterEvents(store, use('b'))
    expect((await read()).credits).toBe(null)
  } finally {
    store.close()
  }
})

test('what the settings say of an account comes before imported rows, and their burn order counts for these', async () => {
  const own = `burnOrder: purchase\naccounts: { b: { grants: [{ name: Own, credits: 300 }] } }\n`
  await serving([...rowsOfA.map((line) => line.replace(',-1,', ',,')), ...rowsOfB], own)
  expect(await creditsOf(service!, 'b')).toMatchObject({ held: '300', grants: [{ name: 'Own' }] })
  expect(await creditsOf(service!, 'a')).toMatchObject({
    grants: [
      { name: 'Pack', used: '270' },
      { name: 'Bonus', used: '0' },
    ],
  })
})

test('a token sees no row of another account, and one of some keys sees none', {
  tags: 'whole',
}, async () => {
  const { ask } = await serving([...rowsOfA, ...rowsOfB])
  for (const path of ['/v1/credits', '/v1/credits/outlook', '/v1/notices', '/v1/alerts', '/page']) {
    const text = await (await ask(path, await tokenOf('a'))).text()
    expect([path, text.includes('Secret of b'), /7[,.]?654[,.]?(321|051)/.test(text)]).toEqual([
      path,
      false,
      false,
    ])
  }
  const some = await creditsOf(service!, 'b', { keys: ['k1'] })
  expect(some).toMatchObject({ held: null, grants: [], source: 'none' })
  const hidden = await (await ask('/page', await tokenOf('b', { shows: ['models'] }))).text()
  expect(hidden).not.toContain('Secret of b')
})

test('rows that are imported while the server runs are in the next answer, and its mark changes', {
  tags: 'whole',
}, async () => {
  const { ask, file, portal } = await serving(rowsOfB)
  const before = await ask('/v1/credits', await tokenOf('a'))
  expect(await before.json()).toMatchObject({ source: 'none', grants: [] })
  const store = await openStore(file)
  await importFile(store, { file: ledger(...rowsOfA) })
  store.close()
  await portal.refresh()
  const after = await ask('/v1/credits', await tokenOf('a'))
  expect(await after.json()).toMatchObject({ held: '500', remaining: '230' })
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
})
