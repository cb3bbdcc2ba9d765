import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { others, subject } from '../report/marked-accounts.ts'
import { bytesOf, everyPath, type Served, served, settingsOf, tokenOf } from './portal.ts'

/** What the router was told, read from the library itself, so that a new endpoint cannot be forgotten here. */
const routers = vi.hoisted(() => [] as { readonly routes: readonly Route[] }[])
interface Route {
  readonly method: string
  readonly path: string
}
vi.mock('hono', async (original) => {
  const real = await original<typeof import('hono')>()
  class Seen extends real.Hono {
    constructor() {
      super()
      routers.push(this)
    }
  }
  return { ...real, Hono: Seen }
})

const other = others[0]!
/** Without a token, and without a figure of anybody. */
const open = ['/healthz', '/readyz', '/openapi.json', '/embed.js', '/logo']
/** The page without a token is a shell; a stream has no figures, and has tests of its own. */
const streams = ['/v1/live']
const pathOf = (path: string) => path.split('?')[0]!

let service: Served
const folder = mkdtempSync(join(tmpdir(), 'assay-every-endpoint-'))
/** What the receiver answers to alerts of each account: no other answer of the service has these words. */
const answered = [503, 418] as const
beforeAll(async () => {
  const budgets = [subject, other].map(
    ({ name, amount }) =>
      `  ${name}: { budget: [{ amount: '${amount}' }, { amount: '${amount}', period: year }], tags: [team] }`,
  )
  const alerts = `alerts: { file: '${folder}/alerts.jsonl', webhooks: [{ url: 'https://app.example.com', secretEnv: USAGE_WEBHOOK_SECRET }] }`
  let posted = 0
  const post = async (_: string, __: object, body: string) => {
    posted++
    return answered[body.includes(subject.name) ? 0 : 1]
  }
  service = await served(
    [subject, other],
    settingsOf(`${alerts}\naccounts:\n${budgets.join('\n')}\n`),
    undefined,
    undefined,
    { post },
  )
  await service.portal.alert()
  const known = () => readFileSync(`${folder}/alerts.jsonl`, 'utf8').match(/"alert":/g)!.length
  // The highest threshold of each budget, and more.
  while (posted < known()) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    service.portal.deliver()
  }
  // The last answers are noted.
  await new Promise((resolve) => setTimeout(resolve, 20))
}, 120_000)
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const marks = [subject, other].map(({ name, keys, keyNames, model, endpoint, tag, amount }) => [
  ...[name, ...keys, ...keyNames, model, endpoint, tag, String(amount)],
  amount.toLocaleString('en-US'),
])
const marksIn = (bytes: string, at: 0 | 1) => marks[at]!.filter((mark) => bytes.includes(mark))

test('every path of the router is open to all, or asked by the tests of isolation', () => {
  expect(routers.length).toBe(1)
  const routes = routers[0]!.routes.filter(({ path }) => path !== '/*')
  expect(routes.filter(({ method }) => method !== 'GET')).toEqual([])
  const asked = [...new Set([...everyPath.map(pathOf), ...open, ...streams])]
  expect(routes.map(({ path }) => path).toSorted()).toEqual(asked.toSorted())
  // The document of the API has each of them, and no other.
  const ofApi = routes.map(({ path }) => path).filter((path) => path.startsWith('/v1/'))
  expect(ofApi.length).toBe(13)
})

test('no path tells an account anything of another, and each path of figures wants a token', {
  tags: 'whole',
  timeout: 240_000,
}, async () => {
  const seen = new Set<string>()
  for (const path of everyPath) {
    const [own, foreign] = await Promise.all(
      [subject, other].map(async ({ name }) =>
        bytesOf(await service.ask(path, await tokenOf(name))),
      ),
    )
    expect([path, own!.slice(0, 3), foreign!.slice(0, 3)]).toEqual([path, '200', '200'])
    expect([path, marksIn(own!, 1), marksIn(foreign!, 0)]).toEqual([path, [], []])
    if (marksIn(own!, 0).length > 0 && marksIn(foreign!, 1).length > 0) seen.add(pathOf(path))
    if (pathOf(path) === '/page') continue
    expect([path, (await service.ask(path, null)).status]).toEqual([path, 401])
  }
  // The marks are such that a leak would be seen.
  expect([...seen].toSorted()).toEqual([
    ...['/page', '/v1/account', '/v1/alerts', '/v1/budgets', '/v1/export'],
    ...[
      '/v1/export/requests',
      '/v1/notices',
      '/v1/usage/breakdown',
      '/v1/usage/requests',
      '/v1/usage/series',
    ],
  ])
})

test('a token sees the deliveries of its own alerts, and none of another account', async () => {
  const seen = async (name: string, claims = {}) => {
    const answer = await service.ask('/v1/alerts', await tokenOf(name, claims))
    const { alerts } = (await answer.json()) as Answers['alerts']
    return alerts
  }
  const [own, foreign] = [await seen(subject.name), await seen(other.name)]
  const shown = (alerts: typeof own) =>
    alerts.map(({ data, deliveries }) => [
      data.account,
      ...deliveries.map(({ state, attempts, status }) => `${state} ${attempts} ${status}`),
    ])
  expect(Math.min(own.length, foreign.length)).toBeGreaterThan(1)
  expect(shown(own)).toEqual(own.map(() => [subject.name, 'pending 1 503']))
  expect(shown(foreign)).toEqual(foreign.map(() => [other.name, 'pending 1 418']))
  const ids = [...own, ...foreign].map(({ id }) => id)
  expect(new Set(ids).size).toBe(own.length + foreign.length)
  const [bytes, others] = [JSON.stringify(own), JSON.stringify(foreign)]
  expect(foreign.filter(({ id }) => bytes.includes(id))).toEqual([])
  expect(own.filter(({ id }) => others.includes(id))).toEqual([])
  // Nor one of some keys, of nobody, or that may not see what the alerts contain.
  expect(await seen(subject.name, { keys: [subject.keys[0]] })).toEqual([])
  expect(await seen(subject.name, { shows: [] })).toEqual([])
  expect(await seen('nobody')).toEqual([])
})

test('what is open to all has no figure and no name of an account', async () => {
  for (const path of [...open, '/page']) {
    const bytes = await bytesOf(await service.ask(path, null))
    expect([path, marksIn(bytes, 0), marksIn(bytes, 1)]).toEqual([path, [], []])
  }
})
