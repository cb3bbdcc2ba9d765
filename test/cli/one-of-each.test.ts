import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { trafficAction } from '../../src/cli/audits/contract-traffic.ts'
import type { ServeOptions } from '../../src/cli/commands/usage.ts'
import { checkAction, serveAction } from '../../src/cli/usage/usage-serve.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-one-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.restoreAllMocks()
})

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const { publicKey } = generateKeyPairSync('ed25519')
file('public.pem', publicKey.export({ type: 'spki', format: 'pem' }) as string)
const settings = file(
  'settings.yaml',
  "product: P\ntokens: { algorithm: EdDSA, publicKey: public.pem }\nshows: [credits, requests]\ntimezone: UTC\norigins: ['https://app.example.com']\naccounts: { acct-204: { label: L } }\n",
)

/** What is printed by the work. */
function printed(work: () => void): string {
  const said: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  work()
  return said.join('')
}

test('one account and one origin are one', () => {
  expect(printed(() => checkAction({ settings }))).toContain(': P, 1 account, 1 origin\n')
})

test('one probe and one minute are one', () => {
  const contract = file(
    'gateway.yaml',
    'name: g\nextends: none\ncurrency: USD\nmodels:\n  - { id: m, price: { input: 4, output: 20 } }\nevidence: { balance: { get: /balance, value: balance, moves: down, within: 10s } }\n',
  )
  const said = printed(() => trafficAction(contract, { out: join(folder, 't.yaml') }))
  expect(said).toContain('It waits 1 minute in all, for ')
})

test('wrong settings are told before an engine is asked, and a copy has a pause', async () => {
  const flags = { listen: '127.0.0.1:0', every: '2', engine: 'clickhouse://127.0.0.1:1/x' }
  await expect(serveAction(flags as ServeOptions)).rejects.toThrow('--settings is required')
  await expect(serveAction({ ...flags, every: '0.000001' } as ServeOptions)).rejects.toThrow(
    '--every 0.000001: expected 0.01 to 10 seconds.',
  )
})
