import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { readNumber } from '../../../src/money/rational.ts'
import { readFocus } from '../../../src/report/focus/export-focus.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { inEmptyStore, type Store } from '../../store/opened.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

const [first, second, third] = ['0123456789ab', '123456789abc', 'prod'] as const

const withKeys = (work: (store: Store) => Promise<void>) =>
  inEmptyStore(async (store) => {
    const atUs = utc(2026, 11, 3, 9)
    await enterEvents(store, [
      { atUs, account: 'a', keyFp: first, credits: 4 },
      { atUs, account: 'a', keyFp: second, credits: 3 },
      { atUs, account: 'a', keyFp: third, credits: 2 },
      { atUs, account: 'b', keyFp: third, credits: 1 },
    ])
    await store.execute(
      `INSERT INTO usage_keys VALUES ('a', '${first}', 'ijkl'), ('a', '${second}', 'ijkl'), ('a', '${third}', 'aaaa'), ('b', '${third}', 'bbbb')`,
    )
    await work(store)
  })

test('a key without a name has its last four letters beside its fingerprint, and each account its own', async () => {
  await withKeys(async (store) => {
    const keyNames = { [second]: 'billing' }
    const options = usageOptions({ by: 'key', contract: null, keyNames })
    const page = await readUsage(store, options)
    expect(
      page.topKeys.map(({ keyFp, name, lastFour, account }) => [account, keyFp, name, lastFour]),
    ).toEqual([
      ['a', first, `…ijkl (${first})`, 'ijkl'],
      ['a', second, 'billing', 'ijkl'],
      ['a', third, null, 'aaaa'],
      ['b', third, null, 'bbbb'],
    ])
    const series = new Set(page.days.map((day) => day.series))
    expect([...series].toSorted()).toEqual(['billing', third, `…ijkl (${first})`])
    expect(terminalUsage(page)).toContain(`…ijkl (${first})`)
    const own = await readUsage(store, { ...options, account: 'b' })
    expect(own.topKeys.map(({ name }) => name)).toEqual([`…bbbb (${third})`])
  })
})

test('a page by model names no model after a key', async () => {
  await withKeys(async (store) => {
    await store.execute(`UPDATE usage_events SET model = '${first}'`)
    const page = await readUsage(store, usageOptions({ by: 'model', contract: null }))
    expect(new Set(page.days.map((day) => day.series))).toEqual(new Set([first]))
  })
})

test('a FOCUS file calls a key by its name, else by its last four letters, and keeps its fingerprint as the id', async () => {
  await withKeys(async (store) => {
    const { rows } = await readFocus(store, {
      of: {
        ...{ account: 'a', label: 'A', product: 'Text API', serviceName: 'Text API' },
        ...{ currency: 'USD', creditPrice: readNumber('0.01')!, invoice: null },
        ...{ creditCurrency: 'Credits', periodStart: '2026-11-01', periodEnd: '2026-12-01' },
      },
      ...{ fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1), bucket: 'day' },
      ...{ keyNames: { [second]: 'billing' }, prices: {}, priceId: 'c', contract: defaultContract },
      view: 'billing',
    })
    expect(rows.map((row) => [row.SubAccountId, row.SubAccountName])).toEqual([
      [first, '…ijkl'],
      [second, 'billing'],
      [third, '…aaaa'],
    ])
  })
})
