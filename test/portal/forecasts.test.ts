import { afterAll, beforeAll, expect, test } from 'vitest'
import { novemberUs } from '../report/attempts.ts'
import { others, subject } from '../report/marked-accounts.ts'
import { enterEvents } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

const dayUs = 86_400e6
let service: Served
let made = 0
let isBroken = false
beforeAll(async () => {
  service = await served([subject])
  beforeEachForecast(service, async () => {
    made++
    if (isBroken) throw new Error('the disk is full')
  })
}, 60_000)
afterAll(() => service.close())

/** Does something before each forecast of a service. */
function beforeEachForecast({ store }: Served, act: () => Promise<void>): void {
  const open = store.session.bind(store)
  store.session = async (scope) => {
    const session = await open(scope)
    const execute = session.execute.bind(session)
    session.execute = async (sql, parameters) => {
      // Only a forecast reads hours.
      if (sql.includes('TEMP TABLE usage_hours ')) await act()
      return execute(sql, parameters)
    }
    return session
  }
}

const ask = async (path = '/v1/credits/outlook') => service.ask(path, await tokenOf(subject.name))

/** New usage, which the service has copied. */
async function use(credits: number): Promise<void> {
  const store = await openStore(service.file)
  await enterEvents(store, [{ atUs: novemberUs + 27 * dayUs, account: subject.name, credits }])
  store.close()
  await service.portal.refresh()
}

test('a forecast that failed is made again for the next who asks', { tags: 'whole' }, async () => {
  isBroken = true
  expect((await ask()).status).toBe(500)
  isBroken = false
  expect((await ask()).status).toBe(200)
  expect(made).toBe(2)
})

test('a forecast is made once for those who ask at once, and for the endpoints that show it', {
  tags: 'whole',
}, async () => {
  const before = made
  const paths = ['/v1/credits/outlook', '/v1/notices', '/v1/budgets', '/page']
  await Promise.all(paths.map((path) => ask(path)))
  // One that an earlier test made is kept.
  expect(made).toBe(Math.max(before, 1))
})

test('under steady use a forecast is made anew once a minute, without a wait, and figures are new at once', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const used = async () => ((await (await ask('/v1/credits')).json()) as { used: string }).used
  const before = Number(await used())
  await use(5)
  expect(Number(await used())).toBe(before + 5)
  await ask()
  expect(made).toBe(2)
  service.pass(61_000)
  await ask()
  await ask()
  // It is made behind the answers.
  await expect.poll(() => made, { timeout: 30_000 }).toBe(3)
  await use(7)
  expect(Number(await used())).toBe(before + 12)
  await ask()
  expect(made).toBe(3)
})

test('a forecast of more than ten minutes ago is not shown', { tags: 'whole' }, async () => {
  await ask()
  const before = made
  await use(3)
  service.pass(11 * 60_000)
  await ask()
  expect(made).toBe(before + 1)
})

test('the page does not wait for a slow forecast: it shows the figures, says what it waits for, and asks again', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const slow = await served([subject], settingsOf(), undefined, 20)
  const gate = Promise.withResolvers<void>()
  beforeEachForecast(slow, () => gate.promise)
  const told = (text: string) => [
    / data-pending[ >]/.test(text),
    text.includes('We are working out how long your credits last'),
  ]
  const page = async () => slow.ask('/page', await tokenOf(subject.name))
  const early = await page()
  expect(early.status).toBe(200)
  expect(told(await early.text())).toEqual([true, true])
  gate.resolve()
  const outlook = await slow.ask('/v1/credits/outlook', await tokenOf(subject.name))
  expect(outlook.status).toBe(200)
  const late = await page()
  expect(late.headers.get('etag')).not.toBe(early.headers.get('etag'))
  expect(told(await late.text())).toEqual([false, false])
  await slow.close()
})

test('the first page of an account waits for no forecast of another account', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const two = await served([subject, others[0]!])
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  beforeEachForecast(two, () => {
    begun.resolve()
    return gate.promise
  })
  const first = two.ask('/page', await tokenOf(subject.name))
  await begun.promise
  const second = await two.ask('/page', await tokenOf(others[0]!.name))
  expect(await second.text()).toMatch(/ data-pending[ >]/)
  gate.resolve()
  expect(await (await first).text()).not.toMatch(/ data-pending[ >]/)
  await two.close()
})

test('a page reads each of its sums once', async () => {
  const asked: string[] = []
  const { store } = service
  const open = store.session.bind(store)
  store.session = async (scope) => {
    const session = await open(scope)
    const rows = session.rows.bind(session)
    session.rows = (sql, parameters) => {
      if (sql.startsWith('FROM (SELECT')) asked.push(sql)
      return rows(sql, parameters)
    }
    return session
  }
  expect((await ask('/page')).status).toBe(200)
  expect(asked.length).toBeGreaterThan(3)
  expect(new Set(asked).size).toBe(asked.length)
})
