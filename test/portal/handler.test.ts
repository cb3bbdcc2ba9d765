import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type UsageSettings, UserError, usageHandler, usageToken } from '../../src/index.ts'
import { enterMarked, others, subject } from '../report/marked-accounts.ts'
import { openStore, type Store } from '../store/opened.ts'
import { env } from './portal.ts'

const settings: UsageSettings = {
  product: 'Example',
  tokens: { algorithm: 'HS256', secretEnv: 'USAGE_SECRET' },
  accounts: { [subject.name]: { label: 'Acme' } },
}
let store: Store
let token: string

beforeAll(async () => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  store = await openStore(':memory:')
  await enterMarked(store, [subject, others[0]!])
  token = await usageToken(settings, { account: subject.name })
})
afterAll(() => {
  store.close()
  vi.unstubAllEnvs()
})

const summary = '/v1/usage/summary?from=2026-11-01&to=2026-12-01&timezone=UTC'
const asked = (path: string) =>
  new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } })

test('the handler answers from an open store, for the account of the token', {
  tags: 'whole',
}, async () => {
  const usage = usageHandler(store, settings)
  onTestFinished(() => usage.close())
  await usage.ready
  const answer = await usage(asked('/v1/account'))
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ label: 'Acme', timezone: 'UTC' })
  expect((await usage(new Request('http://localhost/v1/account'))).status).toBe(401)
})

test('hono mounts it, and node:http serves it, under a path', { tags: 'whole' }, async () => {
  const usage = usageHandler(store, settings)
  const app = new Hono().mount('/usage', usage)
  expect((await app.fetch(asked('/usage/page'))).status).toBe(200)
  const server = createServer(getRequestListener(usage, { overrideGlobalObjects: false }))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.close()
    await usage.close()
  })
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}${summary}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(answer.status).toBe(200)
})

test('the page asks for nothing by an absolute path', { tags: 'whole' }, async () => {
  const usage = usageHandler(store, settings)
  onTestFinished(() => usage.close())
  const shell = await (await usage(new Request('http://localhost/page'))).text()
  expect(shell).toContain('data-shell')
  expect(shell).not.toMatch(/(?:ask|fetch)\(['"`]\//)
  expect(shell).not.toMatch(/src="\//)
})

test('what is new in the store is answered soon', { tags: 'whole' }, async () => {
  const usage = usageHandler(store, settings, { refreshS: 0.5 })
  onTestFinished(() => usage.close())
  const requests = async () => {
    const answer = await usage(asked(summary))
    return Number(((await answer.json()) as { requests: { value: string } }).requests.value)
  }
  const before = await requests()
  await store.execute(`
    INSERT INTO usage_events BY NAME
    SELECT * REPLACE (id || ' again' AS id, import_no + 1000 AS import_no) FROM usage_events WHERE account = '${subject.name}'`)
  await expect.poll(requests, { timeout: 20_000 }).toBeGreaterThan(before)
})

test('the path of a store is open for moments only, so another can write', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-handler-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'assay.duckdb')
  const made = await openStore(path)
  await enterMarked(made, [subject])
  made.close()
  const usage = usageHandler(path, settings)
  onTestFinished(() => usage.close())
  expect((await usage(asked('/v1/account'))).status).toBe(200)
})

test('wrong settings reject `ready` and each request, with every issue', async () => {
  const wrong = usageHandler(store, { ...settings, accent: 'blue', timezone: 'Mars' })
  await expect(wrong.ready).rejects.toThrow(/accent: .*#0b6bcb[\s\S]*timezone: .*Europe\/Berlin/)
  await expect(wrong(asked('/v1/account'))).rejects.toBeInstanceOf(UserError)
  await wrong.close()
  const folder = mkdtempSync(join(tmpdir(), 'assay-handler-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'usage.yaml')
  writeFileSync(file, 'product: Example\naccent: blue\n')
  await expect(usageHandler(store, file).ready).rejects.toThrow(`${file}:2:9: accent`)
})
