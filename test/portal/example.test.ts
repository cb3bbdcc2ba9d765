import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { postByFetch } from '../../src/portal/alerts/deliveries.ts'
import { openWebhooks, signedHeaders } from '../../src/portal/alerts/webhook.ts'
import { openTokens } from '../../src/portal/settings/tokens.ts'
import { settingsOf, webhookSecret } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-host-'))
let backend: ChildProcess | undefined
const receivers: ChildProcess[] = []
afterAll(() => {
  backend?.kill()
  for (const each of receivers) each.kill()
  rmSync(folder, { recursive: true })
})

test('the backend of the example signs tokens that the server takes, and its page embeds the usage', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = join(folder, 'private.pem')
  writeFileSync(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(folder, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  const file = new URL('../../examples/usage-host/backend.js', import.meta.url).pathname
  backend = spawn(process.execPath, [file], {
    env: { ...process.env, USAGE_URL: 'http://usage.test', PRIVATE_KEY: pem, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(backend.stdout!, 'data')
  const url = String(line).trim()
  const token = await (await fetch(`${url}/usage-token`)).text()
  const tokens = openTokens(
    {
      ...settingsOf(),
      ...{ folder, tokens: { algorithm: 'EdDSA', publicKey: 'public.pem' } },
    },
    {},
  )
  expect(await tokens.check(token, Date.now())).toMatchObject({ account: 'acct-204', keys: null })
  expect(await (await fetch(url)).text()).toContain('src="http://usage.test/embed.js"')
}, 60_000)

/** A receiver of the example, what it prints, and how it is sent a message. */
async function receiving(name: string, env: Readonly<Record<string, string>> = {}) {
  const file = new URL(`../../examples/usage-host/${name}`, import.meta.url).pathname
  const started = spawn(process.execPath, [file], {
    env: { ...process.env, USAGE_WEBHOOK_SECRET: webhookSecret, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  receivers.push(started)
  let printed = ''
  started.stdout!.on('data', (data) => {
    printed += String(data)
  })
  await once(started.stdout!, 'data')
  const url = printed.trim()
  const [webhook] = openWebhooks(
    settingsOf(`alerts: { file: f, webhooks: [{ url: '${url}', secretEnv: S }] }\n`),
    { S: webhookSecret },
  )
  const signed = (body: string, id = 'msg_1') => signedHeaders(webhook!, id, body, Date.now())
  return {
    url,
    signed,
    send: (body: string, id?: string) => postByFetch(url, signed(body, id), body),
    lines: () => printed.trim().split('\n').slice(1),
  }
}
const bodyOf = (type: string, data: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ type, timestamp: '2026-11-28T12:00:00Z', data })
const below = bodyOf('credits.below', {
  ...{ label: 'Nordlicht Studio', unit: 'credits', remaining: '80' },
})

test('the receiver of the example takes an alert once, and refuses one that is not signed', async () => {
  const { url, signed, send, lines } = await receiving('alerts.js')
  expect(await send(below)).toBe(204)
  expect(await send(below)).toBe(204)
  expect(await postByFetch(url, signed(below), below.replace('80', '8'))).toBe(400)
  const hour = { label: 'N', at: '2026-11-28T09:00Z', amount: '56', unit: 'credits', names: [] }
  expect(await send(bodyOf('usage.unusual-hour', hour), 'msg_2')).toBe(204)
  const budget = { label: 'N', used: '8', amount: '9', unit: 'EUR', key: null, tag: 'team:search' }
  expect(await send(bodyOf('budget.reached', budget), 'msg_3')).toBe(204)
  expect(lines()).toEqual([
    'Nordlicht Studio has 80 credits left.',
    'N used 56 credits in the hour from 2026-11-28T09:00Z.',
    'N has used 8 of its budget of 9 EUR for team:search.',
  ])
}, 60_000)

test('an alert that comes again while the chat is slow is told once', async () => {
  let told = 0
  const chat = createServer(async (_, response) => {
    told += 1
    // Both messages have come once the second is under way.
    await second
    response.end()
  }).listen(0, '127.0.0.1')
  await once(chat, 'listening')
  let arrived = () => {}
  const second = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const { port } = chat.address() as AddressInfo
  const { url, signed, send } = await receiving('alerts.js', {
    CHAT_URL: `http://127.0.0.1:${port}`,
  })
  const first = send(below)
  const again = send(below)
  // One that is refused is answered at once, after both were taken.
  expect(await postByFetch(url, signed(below), '{}')).toBe(400)
  arrived()
  expect([await first, await again]).toEqual([204, 204])
  chat.close()
  expect(told).toBe(1)
}, 60_000)

test('the receiver of mail gives one line to sendmail, and a name begins no header', async () => {
  const program = join(folder, 'sendmail.mjs')
  const mail = join(folder, 'mail.txt')
  writeFileSync(
    program,
    `#!${process.execPath}\nimport { readFileSync, writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mail)}, readFileSync(0))\n`,
    { mode: 0o700 },
  )
  const { send } = await receiving('mail.js', {
    ...{ SENDMAIL: program, MAIL_TO: 'ops@example.com', MAIL_FROM: 'usage@example.com' },
  })
  expect(await send(below.replace('Nordlicht Studio', 'N\\nBcc: all@example.com'))).toBe(204)
  const [head, text] = readFileSync(mail, 'utf8').split('\n\n')
  expect(head).toContain('To: ops@example.com\nSubject: Usage alert\nMessage-ID: <msg_1@')
  expect(head).not.toContain('Bcc')
  expect(text).toBe('N Bcc: all@example.com has 80 credits left.\n')
}, 60_000)
