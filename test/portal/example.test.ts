import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { postByFetch } from '../../src/portal/alerts/deliveries.ts'
import { openWebhooks, signedHeaders } from '../../src/portal/alerts/webhook.ts'
import { openTokens } from '../../src/portal/settings/tokens.ts'
import { settingsOf, webhookSecret } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-host-'))
let backend: ChildProcess | undefined
let receiver: ChildProcess | undefined
afterAll(() => {
  backend?.kill()
  receiver?.kill()
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

test('the receiver of the example takes an alert once, and refuses one that is not signed', async () => {
  const file = new URL('../../examples/usage-host/alerts.js', import.meta.url).pathname
  receiver = spawn(process.execPath, [file], {
    env: { ...process.env, USAGE_WEBHOOK_SECRET: webhookSecret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  receiver.stdout!.on('data', (data) => {
    printed += String(data)
  })
  await once(receiver.stdout!, 'data')
  const url = printed.trim()
  const [webhook] = openWebhooks(
    settingsOf(`alerts: { file: f, webhooks: [{ url: '${url}', secretEnv: S }] }\n`),
    { S: webhookSecret },
  )
  const data = { label: 'Nordlicht Studio', unit: 'credits', remaining: '80' }
  const body = JSON.stringify({ type: 'credits.below', timestamp: '2026-11-28T12:00:00Z', data })
  const headers = signedHeaders(webhook!, 'msg_1', body, Date.now())
  expect(await postByFetch(url, headers, body)).toBe(204)
  expect(await postByFetch(url, headers, body)).toBe(204)
  expect(await postByFetch(url, headers, body.replace('80', '8'))).toBe(400)
  expect(printed.trim().split('\n').slice(1)).toEqual(['Nordlicht Studio has 80 credits left.'])
}, 60_000)
