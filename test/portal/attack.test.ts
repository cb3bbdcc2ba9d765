import { createHmac, generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { marksOfOthers, others, subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import {
  bytesOf,
  november,
  nowMs,
  type Served,
  secret,
  served,
  settingsOf,
  tokenOf,
} from './portal.ts'

const victim = others[0]!
const summary = `/v1/usage/summary?${november}`
/** An account whose name has two Unicode forms. */
const composed = 'caf\u00e9'
let service: Served
beforeAll(async () => {
  service = await served([], settingsOf(), async (store) => {
    const atUs = utc(2026, 11, 9)
    await enterEvents(store, [
      { atUs, account: victim.name, keyFp: victim.keys[0], model: victim.model, credits: 5 },
      { atUs, account: subject.name, keyFp: subject.keys[0], model: '=1+1', credits: 3 },
      { atUs, account: composed, credits: 7 },
      { atUs, account: null, credits: 11 },
    ])
  })
}, 60_000)
afterAll(() => service.close())

const withoutVictim = (bytes: string) => {
  for (const mark of marksOfOthers) expect(bytes.includes(mark) ? mark : '').toBe('')
}

describe('a header of a token', () => {
  const claims = {
    ...{ sub: victim.name, aud: 'assay-usage', jti: 'forged', shows: ['credits', 'keys'] },
    ...{ iat: nowMs / 1000 - 5, nbf: nowMs / 1000 - 5, exp: nowMs / 1000 + 60 },
  }
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (header: unknown, key: string) => {
    const text = `${base64(header)}.${base64(claims)}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  test.each<readonly [string, () => string | Promise<string>]>([
    ['with the algorithm None', () => `${base64({ alg: 'None' })}.${base64(claims)}.`],
    ['with the algorithm nOnE, signed', () => signed({ alg: 'nOnE' }, secret)],
    ['without an algorithm', () => signed({}, secret)],
    ['whose kid is a path', () => signed({ alg: 'HS256', kid: '../../../../dev/null' }, '')],
    ['whose kid is SQL', () => signed({ alg: 'HS256', kid: "' UNION SELECT 'key" }, 'key')],
    ['signed with an empty secret', () => signed({ alg: 'HS256' }, '')],
    [
      'that brings its own key',
      () => {
        const { privateKey, publicKey } = generateKeyPairSync('ed25519')
        const jwk = publicKey.export({ format: 'jwk' }) as { kty: string }
        return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', jwk }).sign(privateKey)
      },
    ],
    [
      'that names an address of keys',
      () => signed({ alg: 'HS256', jku: 'http://127.0.0.1:1/' }, 'x'),
    ],
    ['with an unknown critical field', () => signed({ alg: 'HS256', crit: ['x'], x: 1 }, secret)],
    ['of five parts', () => `${signed({ alg: 'HS256' }, secret)}.a.b`],
  ])('%s opens nothing', async (_, made) => {
    const answer = await service.ask(summary, await made())
    expect(answer.status).toBe(401)
    withoutVictim(await bytesOf(answer))
  })
})

describe('an account', () => {
  const requests = async (account: string) => {
    const answer = await service.ask(summary, await tokenOf(account))
    if (answer.status !== 200) return answer.status
    return Number(((await answer.json()) as { requests: { value: string } }).requests.value)
  }
  test.each([
    ['in capitals', victim.name.toUpperCase(), 0],
    ['with a space at its end', `${victim.name} `, 0],
    ['with a zero byte', `${victim.name}\0`, 401],
    ['of a zero byte', '\0', 401],
    ['as a pattern of LIKE', 'acct-%', 0],
    ['as a pattern of a shell', 'acct-*', 0],
    ['of SQL', `x' OR '1'='1`, 0],
    ['of SQL that ends the statement', `x'; DROP TABLE held; --`, 0],
    ['that is a variable', `getvariable('usage_account')`, 0],
    ['of 100,000 letters', 'a'.repeat(100_000), 0],
    ['that every object has', '__proto__', 0],
    ['without a name', '', 401],
    ['as it is written', composed, 1],
    ['in another Unicode form', composed.normalize('NFD'), 0],
    ['of compatible letters', victim.name.replace('a', '\uff41'), 0],
  ])('%s has its own use and no other', async (_, name, expected) => {
    expect(await requests(name)).toBe(expected)
  })

  test.each([
    ['the query', `&account=${victim.name}`, {}],
    ['the query, as sub', `&sub=${victim.name}`, {}],
    ['a header', '', { 'x-account': victim.name, 'x-forwarded-user': victim.name }],
    ['a cookie', '', { cookie: `account=${victim.name}` }],
  ])('is not taken from %s', async (_, query, headers) => {
    const answer = await service.ask(`${summary}${query}`, await tokenOf(subject.name), headers)
    const bytes = await bytesOf(answer)
    expect(bytes.slice(0, 3)).toBe(query === '' ? '200' : '400')
    withoutVictim(bytes)
  })

  test('of another has other tags, and its tag does not answer for it', async () => {
    const own = await service.ask(summary, await tokenOf(victim.name))
    const tag = own.headers.get('etag')!
    const answer = await service.ask(summary, await tokenOf(subject.name), { 'if-none-match': tag })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('etag')).not.toBe(tag)
    withoutVictim(await bytesOf(answer))
  })

  test('is not answered from what was kept for another with the same question', async () => {
    const [mine, theirs] = await Promise.all([
      service.ask('/v1/credits', await tokenOf(subject.name)),
      service.ask('/v1/credits', await tokenOf(victim.name)),
    ])
    expect(await mine.json()).toMatchObject({ used: '3' })
    expect(await theirs.json()).toMatchObject({ used: '5' })
    // Nor from what a token with more rights saw.
    const bare = await service.ask('/v1/credits', await tokenOf(victim.name, { shows: [] }))
    expect(bare.status).toBe(403)
    const noKeys = await service.ask('/v1/credits', await tokenOf(victim.name, { keys: [] }))
    expect(await noKeys.json()).toMatchObject({ used: null })
  })
})

test('a token in the address is no token', async () => {
  const token = await tokenOf(subject.name)
  const answer = await service.ask(`/v1/account?access_token=${token}`, null)
  expect(answer.status).toBe(401)
})

test('a name that a spreadsheet would run is disarmed in a file, and is text on the page', async () => {
  const token = await tokenOf(subject.name)
  const file = await (await service.ask(`/v1/export?${november}&format=csv`, token)).text()
  expect(file).toContain(`,'=1+1,`)
  expect(file).not.toContain(',=1+1')
})

test.each(['at its next sign of life', 'at the next change'])(
  'a stream of events ends with its token, %s',
  { tags: 'whole' },
  async (when) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const own = await served([], settingsOf(), async () => {})
    try {
      const live = await own.ask('/v1/live', await tokenOf(subject.name))
      const reader = live.body!.getReader()
      expect(Buffer.from((await reader.read()).value!).toString()).toBe('retry: 5000\n\n')
      await reader.read()
      own.pass(3600_000 + 61_000)
      if (when === 'at its next sign of life') vi.advanceTimersByTime(15_000)
      else {
        const store = await openStore(own.file)
        await enterEvents(store, [{ atUs: utc(2026, 11, 9), account: subject.name }])
        store.close()
        await own.portal.refresh()
      }
      expect((await reader.read()).done).toBe(true)
    } finally {
      vi.useRealTimers()
      await own.close()
    }
  },
)
