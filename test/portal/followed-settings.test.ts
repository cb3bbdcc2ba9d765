import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Portal } from '../../src/portal/server.ts'
import { followedSettings } from '../../src/portal/settings/opened-settings.ts'
import { Snapshot } from '../../src/portal/source/snapshot.ts'
import { openStore } from '../../src/store/session/open.ts'
import { env, nowMs, settingsText, tokenOf } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-followed-'))
const file = join(folder, 'settings.yaml')
const text = settingsText.replace(/^locale:.*\n|^keyNames:.*\n/gm, '')
const logo = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1"/></svg>'
const lines: string[] = []
let close = async () => {}
let asked: (path: string, token: string) => Promise<Response>
const ask = async (path: string) => asked(path, await tokenOf('a'))

beforeAll(async () => {
  writeFileSync(join(folder, 'logo.svg'), logo)
  writeFileSync(file, `${text}logo: logo.svg\n`)
  const snapshot = await Snapshot.of(await openStore(':memory:'), {
    mark: () => 'one',
    copyTo: async () => ({ replaced: [], done: () => {} }),
    requests: async () => null,
    timed: true,
    writeRequests: async () => false,
    close: async () => {},
  })
  close = () => snapshot.close()
  snapshot.refreshedMs = nowMs
  const settings = followedSettings(file, env, (line) => lines.push(line))
  const log = (line: string) => lines.push(line)
  const portal = new Portal({ snapshot, settings, contract: null, now: () => nowMs, log })
  const handler = await portal.handler()
  asked = (path, token) =>
    handler(
      new Request(`http://usage.test${path}`, { headers: { authorization: `Bearer ${token}` } }),
    )
})
afterAll(async () => {
  await close()
  rmSync(folder, { recursive: true })
})

const changes: readonly (readonly [string, () => string])[] = [
  ['not YAML', () => 'product: ['],
  ['a zone that is an offset', () => text.replace(/^timezone:.*$/m, "timezone: '+05:30'")],
  ['an unknown field', () => `${text}colour: red\n`],
  ['an unknown word', () => `${text}words: { 'card.request': x }\n`],
  ['a word called __proto__', () => `${text}words: { __proto__: x }\n`],
  ['a missing logo', () => `${text}logo: none.svg\n`],
  ['a logo that is no SVG', () => `${text}logo: settings.yaml\n`],
  ['an accent that cannot be read', () => `${text}accent: '#ffff00'\n`],
  ['a missing secret', () => text.replace('USAGE_SECRET', 'NO_SUCH_SECRET')],
  ...['none.pem', 'settings.yaml', 'private.pem', 'rsa.pem'].map(
    (key) =>
      [
        `the public key ${key}`,
        () => text.replace(/^tokens:.*$/m, `tokens: { algorithm: EdDSA, publicKey: ${key} }`),
      ] as const,
  ),
  ...['en-x_y', "''", 'xx_YY', 'it', 'en-', 'de_DE', '1'].flatMap((locale) => [
    [`the locale ${locale}`, () => `${text}locale: ${locale}\n`] as const,
    [
      `the locale ${locale} of an account`,
      () => `${text}accounts: { a: { locale: ${locale} } }\n`,
    ] as const,
  ]),
  ['an unknown zone of an account', () => `${text}accounts: { a: { timezone: Mars } }\n`],
  [
    'a grant that expires on no day',
    () => `${text}accounts: { a: { grants: [{ name: x, credits: 1, expires: 2026-02-30 }] } }\n`,
  ],
]

test.each(changes)(
  '%s keeps the settings before it, and is logged once',
  { tags: 'whole' },
  async (_, changed) => {
    const pems = {
      'private.pem': generateKeyPairSync('ed25519').privateKey.export({
        type: 'pkcs8',
        format: 'pem',
      }),
      'rsa.pem': generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
        type: 'spki',
        format: 'pem',
      }),
    }
    for (const [name, pem] of Object.entries(pems)) writeFileSync(join(folder, name), pem)
    writeFileSync(file, `${text}logo: logo.svg\n`)
    expect((await ask('/page')).status).toBe(200)
    lines.length = 0
    writeFileSync(file, changed())
    for (const path of [
      '/v1/account',
      '/page',
      '/logo',
      '/v1/usage/summary?from=2026-11-01&to=2026-12-01',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 200])
    }
    expect(lines.filter((line) => line.startsWith('the settings before are kept: '))).toHaveLength(
      1,
    )
  },
)

test('a new logo and a file that comes late are seen without a change of the settings', async () => {
  writeFileSync(file, `${text}logo: late.svg\n`)
  expect(await (await ask('/logo')).text()).toBe(logo)
  const late = logo.replace('M0 0h1', 'M0 0h2')
  writeFileSync(join(folder, 'late.svg'), late)
  expect(await (await ask('/logo')).text()).toBe(late)
  rmSync(join(folder, 'late.svg'))
  expect(await (await ask('/logo')).text()).toBe(late)
})

test('an answer that failed has the id of a line that says why', async () => {
  writeFileSync(file, text)
  lines.length = 0
  const { Snapshot: Broken } = await import('../../src/portal/source/snapshot.ts')
  const within = Broken.prototype.within
  Broken.prototype.within = async () => {
    throw new Error('no space left on device\nmore')
  }
  try {
    const answer = await ask('/v1/account')
    const { code, id } = (await answer.json()) as { code: string; id: string }
    expect([answer.status, code]).toEqual([500, 'internal'])
    expect(lines.filter((line) => line.includes(id))).toEqual([
      expect.stringMatching(new RegExp(`^error ${id}: no space left on device at `)),
    ])
  } finally {
    Broken.prototype.within = within
  }
})

test('a line of the log has a path as it was sent, so that it cannot forge a line or act in a terminal', async () => {
  lines.length = 0
  await ask('/x%0A2026-11-28%20/v1/summary%20200%1b[2J')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^\S+Z \/x%0A2026-11-28%20\/v1\/summary%20200%1b\[2J 404 \d+ms \S+$/)
})

test('accounts whose backend numbers tokens alike have an allowance each', async () => {
  const one = async (account: string) => {
    const token = await tokenOf(account, { jti: '1' })
    return (await asked('/v1/account', token)).headers.get('ratelimit')
  }
  expect(await one('numbered-a')).toBe(await one('numbered-b'))
})
