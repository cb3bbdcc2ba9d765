import { afterAll, beforeAll, expect, test } from 'vitest'
import { subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore, type Store } from '../store/opened.ts'
import { everyPath, type Served, served, settingsOf, tokenOf } from './portal.ts'

const hourUs = 3600e6
const events = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({
    atUs: utc(2026, 11, 10) + ((from + at) % 40) * 2 * hourUs,
    id: `e${from + at}`,
    account: (from + at) % 3 === 0 ? 'another' : subject.name,
    keyFp: subject.keys[at % 2]!,
    credits: 1 + (at % 5),
  }))

/** Imports these events as one more import. */
async function enter(store: Store, importNo: number, from: number, to: number): Promise<void> {
  await enterEvents(store, events(from, to))
  const ids = events(from, to).map(({ id }) => `'${id}'`)
  await store.execute(`UPDATE usage_events SET import_no = ${importNo} WHERE id IN (${ids.join()})`)
}

let steps: Served
let whole: Served
beforeAll(async () => {
  steps = await served([], settingsOf(), (store) => enter(store, 1, 0, 40))
  whole = await served([], settingsOf(), async (store) => {
    await enter(store, 1, 0, 40)
    await enter(store, 2, 40, 90)
    await enter(store, 3, 90, 100)
  })
}, 60_000)
afterAll(async () => {
  await steps.close()
  await whole.close()
})

async function changed(service: Served, change: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(service.file)
  await change(store)
  store.close()
  await service.portal.refresh()
}

const figuresOf = (service: Served, path: string) =>
  tokenOf(subject.name).then(async (token) => {
    const answer = await service.ask(path, token)
    expect(answer.status, path).toBe(200)
    return answer.text()
  })
const held = (service: Served) => service.store.rows('SELECT sum(requests)::INTEGER AS n FROM held')

test('days that grow are added to, and every answer is that of one copy of all', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  await changed(steps, (store) => enter(store, 2, 40, 90))
  await changed(steps, (store) => enter(store, 3, 90, 100))
  expect(await held(steps)).toEqual([{ n: 100 }])
  expect(await held(whole)).toEqual([{ n: 100 }])
  steps.portal.forget()
  for (const path of everyPath.filter((each) => !each.includes('parquet')))
    expect(await figuresOf(steps, path)).toBe(await figuresOf(whole, path))
})

test('a known line that gets a price, and one that is taken back, are in the next answer', async () => {
  const used = async () => {
    const text = await figuresOf(steps, '/v1/credits')
    return Number((JSON.parse(text) as { used: string }).used)
  }
  const before = await used()
  await changed(steps, (store) =>
    store.execute(
      `UPDATE usage_events SET credits = credits + 100, priced_by = 'list' WHERE id = 'e1'`,
    ),
  )
  expect(await used()).toBe(before + 100)
  await changed(steps, (store) => store.execute(`DELETE FROM usage_events WHERE id = 'e1'`))
  expect(await used()).toBe(before - events(0, 40)[1]!.credits)
})

test('a copy that failed is made again, and no answer changed meanwhile', {
  tags: 'whole',
}, async () => {
  const before = await figuresOf(steps, '/v1/usage/breakdown?from=2026-11-01&to=2026-12-01&by=key')
  const [{ n: heldBefore }] = (await held(steps)) as [{ n: number }]
  const execute = steps.store.execute.bind(steps.store)
  steps.store.execute = (sql, ...rest) =>
    sql.includes('INSERT INTO held')
      ? execute(sql.replace('INSERT INTO usage_polls', 'INSERT INTO nowhere'), ...rest)
      : execute(sql, ...rest)
  await expect(changed(steps, (store) => enter(store, 4, 100, 130))).rejects.toThrow('nowhere')
  steps.store.execute = execute
  const after = async () =>
    figuresOf(steps, '/v1/usage/breakdown?from=2026-11-01&to=2026-12-01&by=key')
  expect(await after()).toBe(before)
  await steps.portal.refresh()
  steps.portal.forget()
  expect(await after()).not.toBe(before)
  expect(await held(steps)).toEqual([{ n: heldBefore + 30 }])
})
