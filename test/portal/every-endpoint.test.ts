import { afterAll, beforeAll, expect, test, vi } from 'vitest'
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
beforeAll(async () => {
  const budgets = [subject, other].map(
    ({ name, amount }) => `  ${name}: { budget: '${amount}', tags: [team] }`,
  )
  service = await served([subject, other], settingsOf(`accounts:\n${budgets.join('\n')}\n`))
}, 120_000)
afterAll(() => service.close())

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
  expect(ofApi.length).toBe(12)
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
    ...['/page', '/v1/account', '/v1/budgets', '/v1/export', '/v1/notices'],
    ...['/v1/usage/breakdown', '/v1/usage/requests', '/v1/usage/series'],
  ])
})

test('what is open to all has no figure and no name of an account', async () => {
  for (const path of [...open, '/page']) {
    const bytes = await bytesOf(await service.ask(path, null))
    expect([path, marksIn(bytes, 0), marksIn(bytes, 1)]).toEqual([path, [], []])
  }
})
