import { expect, test } from 'vitest'
import { settingsFrom } from '../../src/portal/settings/settings.ts'
import { signToken } from '../../src/portal/settings/tokens.ts'

const settings = settingsFrom({
  product: 'P',
  tokens: { algorithm: 'HS256', secretEnv: 'USAGE_SECRET' },
  origins: ['https://app.example.com'],
  keyNames: { '3f2a91c04d7e': 'billing', '9e8d7c6b5a40': 'billing', aaaaaaaaaaaa: 'search' },
})
const env = { USAGE_SECRET: 'x'.repeat(32) }

/** What the bearer of a token can read in it. */
async function claims(change: Partial<Parameters<typeof signToken>[1]>) {
  const request = { account: 'a', forS: 60, shows: [], keys: null, origin: null, nowMs: 0, id: 'i' }
  const token = await signToken(settings, { ...request, privateKey: null, ...change }, env)
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

test('a token has fingerprints of keys: those of a name, in whichever account it is, and those that are given', async () => {
  expect(await claims({ keys: ['billing', '0123456789ab'] })).toMatchObject({
    keys: ['3f2a91c04d7e', '9e8d7c6b5a40', '0123456789ab'],
  })
  expect(await claims({ keys: [] })).toMatchObject({ keys: [] })
  expect(await claims({})).not.toHaveProperty('keys')
})

test.each(['batch', 'Team Suche (EU-2)', 'svc-checkout-eu-west-1'])(
  'a token has %s, a name that a log has in place of a fingerprint',
  async (name) => {
    expect(await claims({ keys: [name] })).toMatchObject({ keys: [name] })
  },
)

test.each([
  'sk-live-Qm3vX8zLr0PtYw2K',
  'sk-abcdef',
  'Qm3vX8zLr0PtYw2K',
  'gsk_0a1B2c3D4e5F6g7H8',
  '3f2a91c04d7e3f2a91c04d7e3f2a91c0',
  '0d9c1f6e-7a52-4c1b-9b1e-5f3c2a7d8e90',
  'QmvXzLrPtYwKabcdefghi',
])('a token never has a key: %s is refused, and the error has no letter of it', async (key) => {
  const signed = claims({ keys: ['search', key] })
  await expect(signed).rejects.toThrow(
    '--key: number 2 may be an API key. Give its fingerprint, the first 12 digits of its SHA-256, or its name.',
  )
  await signed.catch((error: Error) => expect(error.message).not.toContain(key.slice(0, 4)))
})

test('a token is of an origin that the settings list', async () => {
  const origin = 'https://app.example.com'
  expect(await claims({ origin })).toMatchObject({ origin })
  await expect(claims({ origin: 'https://other.example.com' })).rejects.toThrow(
    '--origin https://other.example.com: expected one of origins of the settings: https://app.example.com.',
  )
  const none = signToken(
    { ...settings, origins: [] },
    { account: 'a', forS: 60, shows: [], keys: null, origin, nowMs: 0, id: 'i', privateKey: null },
    env,
  )
  await expect(none).rejects.toThrow('The settings have none')
})
