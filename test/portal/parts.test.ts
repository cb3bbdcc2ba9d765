import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Session } from '../../src/store/session/session.ts'
import { subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import type { Store } from '../store/opened.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

/** A month of 20 models and 200 keys, each hour with a few of them, so that its hours are more than the cells of a page. */
const [models, keys, events] = [20, 200, 14_000]
const enter = (store: Store) =>
  enterEvents(
    store,
    Array.from({ length: events }, (_, at) => ({
      atUs: utc(2026, 11, 1) + at * 167e6,
      id: `e${at}`,
      account: subject.name,
      keyFp: `k${String(at % keys).padStart(11, '0')}`,
      model: `model-${(at * 7) % models}`,
      outcome: at % 11 === 0 ? 'http_error' : 'ok',
      credits: `${1 + (at % 5)}.25`,
    })),
  )

interface Breakdown {
  readonly rows: readonly { readonly name: string | null; readonly requests: number }[]
  readonly total: { readonly requests: number }
}

let service: Served
beforeAll(async () => {
  service = await served(
    [],
    settingsOf(
      'everyAccount: { budget: [{ amount: "20000" }, { amount: "900", period: week }] }\n',
    ),
    enter,
  )
}, 120_000)
afterAll(() => service.close())

const period = 'from=2026-11-01&to=2026-12-01'
const page = async () => (await service.ask(`/page?${period}`, await tokenOf(subject.name))).text()

/** The queries of what is done meanwhile, of all sessions. */
async function queriesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const texts: string[] = []
  const { store } = service
  const { session } = store
  store.session = async (scope) => {
    const own = await session(scope)
    const noted =
      <Result>(run: (sql: string, ...rest: never[]) => Promise<Result>) =>
      (sql: string, ...rest: never[]) => {
        texts.push(sql)
        return run(sql, ...rest)
      }
    return { ...own, rows: noted(own.rows), execute: noted(own.execute) } as Session
  }
  try {
    await work()
  } finally {
    store.session = session
  }
  return texts
}

test('a first page reads the hours of its account twice at most, and the page after it nothing', {
  tags: 'whole',
}, async () => {
  service.portal.forget()
  // Its forecast is made, and is no part of the page.
  await service.ask('/v1/credits/outlook', await tokenOf(subject.name))
  const texts = await queriesOf(page)
  // What views are of is no reading.
  const asking = texts.filter((sql) => !sql.includes('CREATE TEMP VIEW mine'))
  const whole = asking.filter((sql) => /\b(mine|my_hours|my_use)\b/.test(sql))
  expect(asking.some((sql) => sql.includes('my_day_sums'))).toBe(true)
  expect(whole.length).toBeLessThanOrEqual(2)
  expect(await queriesOf(page)).toEqual([])
})

test('a page that waited for its forecast is not made again', { tags: 'whole' }, async () => {
  service.portal.forget()
  await page()
  expect(await queriesOf(page)).toEqual([])
})

test('a month of 20 models and 200 keys has a bar for each day, and every name in a table with the sums of the API', async () => {
  const text = await page()
  const board = JSON.parse(/id="board-data">(.+?)<\/script>/.exec(text)![1]!)
  expect(board.finest).toBe('day')
  expect(new Set(board.cells.hour).size).toBe(28)
  const cells = [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) =>
      cell!.replace(/<[^>]+>/g, '').trim(),
    ),
  )
  const rows = new Map(cells.map(([name, ...figures]) => [name, figures]))
  const file = await service.ask(`/v1/export?${period}&format=jsonl`, await tokenOf(subject.name))
  const lines = (await file.text()).trim().split('\n')
  const exported = lines.reduce((all, line) => all + JSON.parse(line).requests, 0)
  for (const [by, n] of [
    ['model', models],
    ['key', keys],
  ] as const) {
    const answer = await service.ask(
      `/v1/usage/breakdown?${period}&by=${by}&limit=200`,
      await tokenOf(subject.name),
    )
    const { rows: names, total } = (await answer.json()) as Breakdown
    expect(names).toHaveLength(n)
    for (const { name, requests } of names)
      expect(rows.get(name!), name!).toContain(requests.toLocaleString('en'))
    const sum = names.reduce((all, { requests }) => all + requests, 0)
    expect([sum, total.requests, exported]).toEqual([events, events, events])
  }
})
