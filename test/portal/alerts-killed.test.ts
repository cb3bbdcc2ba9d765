import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { openSoon } from '../../src/store/session/open-soon.ts'
import { main } from '../e2e/command.ts'
import { enterEvents } from '../report/usage-events.ts'
import { secret, settingsText, webhookSecret } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-killed-'))
const servers: ChildProcess[] = []
let server: ChildProcess | undefined
/** How the receiver answers: with a status, or never. */
let status: number | null = 500
const got: { readonly id: string; readonly type: string; readonly account: string }[] = []
const receiver = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  const body = Buffer.concat(parts).toString()
  const { type, data } = new Webhook(webhookSecret).verify(
    body,
    request.headers as Record<string, string>,
  ) as { type: string; data: { account: string } }
  got.push({ id: String(request.headers['webhook-id']), type, account: data.account })
  if (status !== null) response.writeHead(status).end('not read')
})
afterAll(() => {
  for (const each of [server, ...servers]) each?.kill('SIGKILL')
  receiver.closeAllConnections()
  receiver.close()
  rmSync(folder, { recursive: true })
})

const until = async (isSo: () => boolean, what: string) => {
  for (let tries = 0; !isSo(); tries++) {
    if (tries === 400) throw new Error(`not within 40 seconds: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('a server that is killed at a failing, then a silent receiver still delivers each alert under its one id', {
  tags: 'whole',
  timeout: 150_000,
}, async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const db = join(folder, 'usage.duckdb')
  const store = await openStore(db)
  const now = Date.now() * 1000
  const events = ['a', 'b'].map((account) => ({ atUs: now - 60e6, account, credits: 90 }))
  await enterEvents(store, events)
  store.close()
  const settings = join(folder, 'settings.yaml')
  writeFileSync(
    settings,
    `${settingsText}alerts: { file: alerts.jsonl, webhooks: [{ url: 'http://127.0.0.1:${port}/x', secretEnv: WEBHOOK_SECRET }] }
accounts: { a: { budget: '100' }, b: { budget: [{ amount: '80' }, { amount: '100', period: year }] } }
`,
  )
  const log: string[] = []
  const start = () => {
    server = spawn(
      process.execPath,
      [...[main, 'usage', 'serve', '--db', db, '--settings', settings], '--listen', '127.0.0.1:0'],
      { env: { ...process.env, USAGE_SECRET: secret, WEBHOOK_SECRET: webhookSecret } },
    )
    server.stderr!.on('data', (data) => log.push(String(data)))
  }
  const kill = async () => {
    server!.kill('SIGKILL')
    await once(server!, 'exit')
  }
  const ids = () => new Set(got.map(({ id }) => id))
  start()
  // a is at 90 of 100, b at 90 of 80 and of 100.
  await until(() => ids().size === 3, 'three alerts')
  await kill()
  const first = [...ids()].sort()
  status = null
  start()
  await until(() => got.length >= 6, 'three attempts that nobody answers')
  await kill()
  status = 204
  start()
  const file = () => readFileSync(join(folder, 'alerts.jsonl'), 'utf8')
  const done = () => file().match(/"status":204/g)?.length ?? 0
  await until(() => done() === 3, 'three deliveries')
  expect([...ids()].sort()).toEqual(first)
  expect([...new Set(got.map(({ type, account }) => `${type} ${account}`))].sort()).toEqual([
    'budget.reached a',
    'budget.reached b',
  ])
  const before = got.length
  await kill()
  start()
  await new Promise((resolve) => setTimeout(resolve, 4000))
  expect(got).toHaveLength(before)
  expect(log.join('') + file()).not.toMatch(/127\.0\.0\.1:\d+\/x|whsec/)
})

test('of two servers one sends, and after its kill the other sends what is left, once for each threshold', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const own = mkdtempSync(join(tmpdir(), 'assay-two-killed-'))
  const before = got.length
  const ids = () => new Set(got.slice(before).map(({ id }) => id))
  status = 500
  if (!receiver.listening) {
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
  }
  const { port } = receiver.address() as AddressInfo
  const db = join(own, 'usage.duckdb')
  const spend = async (account: string, credits: number, id: string) => {
    const store = await openSoon(() => openStore(db), 60_000)
    const atUs = Date.now() * 1000 - 60e6
    await enterEvents(store, [{ atUs, account, credits, id }])
    // Lines of an import that is newer than the last.
    await store.execute('UPDATE usage_events SET import_no = rowid + 1')
    store.close()
  }
  await spend('c', 85, 'first')
  const settings = join(own, 'settings.yaml')
  writeFileSync(
    settings,
    `${settingsText}alerts: { file: alerts.jsonl, webhooks: [{ url: 'http://127.0.0.1:${port}/x', secretEnv: WEBHOOK_SECRET }] }
accounts: { c: { budget: '100' } }
`,
  )
  const start = () => {
    const each = spawn(
      process.execPath,
      [...[main, 'usage', 'serve', '--db', db, '--settings', settings], '--listen', '127.0.0.1:0'],
      { env: { ...process.env, USAGE_SECRET: secret, WEBHOOK_SECRET: webhookSecret } },
    )
    servers.push(each)
    return each
  }
  const sends = start()
  // c is at 85 of 100.
  await until(() => ids().size === 1, 'the first alert')
  const waits = start()
  await new Promise((resolve) => setTimeout(resolve, 3000))
  sends.kill('SIGKILL')
  await once(sends, 'exit')
  status = 204
  await spend('c', 20, 'second')
  const file = () => readFileSync(join(own, 'alerts.jsonl'), 'utf8')
  const done = () => file().match(/"status":204/g)?.length ?? 0
  await until(() => done() === 2, 'two deliveries by the server that is left')
  expect(ids().size).toBe(2)
  const delivered = got.length
  await new Promise((resolve) => setTimeout(resolve, 4000))
  expect(got).toHaveLength(delivered)
  waits.kill('SIGKILL')
  await once(waits, 'exit')
  rmSync(own, { recursive: true })
})
