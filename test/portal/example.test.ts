import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openTokens } from '../../src/portal/settings/tokens.ts'
import { settingsOf } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-host-'))
let backend: ChildProcess | undefined
afterAll(() => {
  backend?.kill()
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
