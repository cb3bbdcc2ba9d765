import { createHmac, createPublicKey, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answers } from '../../src/portal/api/shapes.ts'
import { openTokens, signToken } from '../../src/portal/settings/tokens.ts'
import { others, subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import {
  env,
  everyPath,
  november,
  nowMs,
  type Served,
  secret,
  served,
  settingsOf,
  tokenOf,
} from './portal.ts'

let service: Served
let token: string
beforeAll(async () => {
  service = await served([subject, others[0]!])
  token = await tokenOf(subject.name)
}, 60_000)
afterAll(() => service.close())

const summary = `/v1/usage/summary?${november}`
const codeOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const { code, status } = (await response.json()) as { code: string; status: number }
  expect(status).toBe(response.status)
  return `${status} ${code}`
}

describe('a token', () => {
  const nowS = Math.floor(nowMs / 1000)
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const raw = (header: unknown, payload: string, key: string) => {
    const text = `${base64(header)}.${Buffer.from(payload).toString('base64url')}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  const good = {
    sub: subject.name,
    aud: 'assay-usage',
    iat: nowS,
    nbf: nowS,
    exp: nowS + 60,
    jti: 'x',
    shows: ['credits'],
  }
  const forged: readonly (readonly [string, () => string | Promise<string>, string])[] = [
    ['of no one', () => 'a.b.c', '401 bad-signature'],
    [
      'with a changed account',
      async () => {
        const [head, , end] = (await tokenOf(others[0]!.name)).split('.')
        return `${head}.${base64(good)}.${end}`
      },
      '401 bad-signature',
    ],
    [
      'without a signature',
      () => `${base64({ alg: 'none' })}.${base64(good)}.`,
      '401 bad-signature',
    ],
    [
      'signed with another secret',
      () => tokenOf(subject.name, {}, 'another secret that has more than 32 bytes too'),
      '401 bad-signature',
    ],
    [
      'signed by another algorithm',
      () => raw({ alg: 'HS512' }, JSON.stringify(good), secret),
      '401 bad-signature',
    ],
    [
      'that has expired',
      () => tokenOf(subject.name, { iat: nowS - 7200, exp: nowS - 61 }),
      '401 token-expired',
    ],
    [
      'that is not valid yet',
      () => tokenOf(subject.name, { nbf: nowS + 120 }),
      '401 bad-signature',
    ],
    ['for another audience', () => tokenOf(subject.name, { aud: 'billing' }), '401 wrong-audience'],
    [
      'that lasts longer than a day',
      () => tokenOf(subject.name, { exp: nowS + 25 * 3600 }),
      '401 bad-signature',
    ],
    ['without an end', () => tokenOf(subject.name, { exp: undefined }), '401 bad-signature'],
    ['without an id', () => tokenOf(subject.name, { jti: undefined }), '401 bad-signature'],
    [
      'of two accounts',
      () => tokenOf(subject.name, { sub: [subject.name, others[0]!.name] }),
      '401 bad-signature',
    ],
    [
      'that names its account twice',
      () =>
        raw(
          { alg: 'HS256' },
          `${JSON.stringify(good).slice(0, -1)},"su\\u0062":"${others[0]!.name}"}`,
          secret,
        ),
      '401 bad-signature',
    ],
    [
      'that names a member of a claim twice',
      () =>
        raw(
          { alg: 'HS256' },
          `${JSON.stringify(good).slice(0, -1)},"act":{"sub":"a","\\u0073ub":"b"}}`,
          secret,
        ),
      '401 bad-signature',
    ],
    [
      'issued in the future',
      () => tokenOf(subject.name, { iat: nowS + 3600, exp: nowS + 7200 }),
      '401 bad-signature',
    ],
  ]
  test.each(forged)('%s is refused', { tags: 'whole' }, async (_, made, code) => {
    expect(await codeOf(await service.ask(summary, await made()))).toBe(code)
  })

  test('may have claims of its backend, whose members have the names of our claims', async () => {
    const act = {
      sub: 'support',
      act: { sub: 'tool', aud: ['a', 'b'] },
      list: [{ sub: 1 }, { sub: 2 }],
    }
    const nested = await tokenOf(subject.name, { act, jti: 'nested"sub":' })
    expect((await service.ask(summary, nested)).status).toBe(200)
  })

  test('is needed', async () => {
    const answer = await service.ask(summary, null)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(await codeOf(answer)).toBe('401 no-token')
  })

  test('whose list of keys is empty sees nothing, and one without permissions sees sums only', async () => {
    const none = await (
      await service.ask(summary, await tokenOf(subject.name, { keys: [] }))
    ).json()
    expect(none).toMatchObject({ requests: { value: '0' } })
    for (const shows of [undefined, []]) {
      const bare = await tokenOf(subject.name, { shows })
      expect(await (await service.ask(summary, bare)).json()).toMatchObject({
        ...{ requests: { value: '29' }, credits: null, cost: [] },
        tokens: { input: { value: expect.stringMatching(/^\d+$/) } },
      })
      expect(await codeOf(await service.ask('/v1/credits', bare))).toBe('403 not-shown')
      expect(await codeOf(await service.ask(`/v1/usage/breakdown?${november}&by=key`, bare))).toBe(
        '403 not-shown',
      )
      expect(await codeOf(await service.ask(`/v1/export?${november}`, bare))).toBe('403 not-shown')
    }
  })

  test('of EdDSA is checked with the public key, which signs no HS256 token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-keys-'))
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string
    writeFileSync(join(folder, 'public.pem'), pem)
    const settings = {
      ...settingsOf(),
      folder,
      tokens: { algorithm: 'EdDSA' as const, publicKey: 'public.pem' },
    }
    const tokens = openTokens(settings, {})
    const request = {
      ...{
        account: subject.name,
        forS: 60,
        shows: ['credits' as const],
        keys: null,
        origin: null,
        nowMs,
        id: 'one',
      },
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    }
    const signed = await signToken(settings, request)
    expect(await tokens.check(signed, nowMs)).toMatchObject({
      account: subject.name,
      keys: null,
      id: 'one',
    })
    await expect(
      tokens.check(raw({ alg: 'HS256' }, JSON.stringify(good), pem), nowMs),
    ).rejects.toMatchObject({ code: 'bad-signature' })
    await expect(signToken(settings, { ...request, forS: 25 * 3600 })).rejects.toThrow('--for')
    expect(createPublicKey(pem).asymmetricKeyType).toBe('ed25519')
    expect(signBytes(null, Buffer.from(''), privateKey).length).toBe(64)
    rmSync(folder, { recursive: true })
  })

  test('issued before a revocation is refused', { tags: 'whole' }, async () => {
    const revoked = await served(
      [subject],
      settingsOf(`revokedBefore: { ${subject.name}: 2026-11-28T12:00:00Z }\n`),
    )
    expect(await codeOf(await revoked.ask(summary, token))).toBe('401 revoked')
    const later = await tokenOf(subject.name, { iat: nowS + 1 })
    expect((await revoked.ask(summary, later)).status).toBe(200)
    await revoked.close()
  })
})

describe('an answer', () => {
  test.each(everyPath.filter((path) => path.startsWith('/v1') && !path.startsWith('/v1/export')))(
    '%s has the shape of the document',
    async (path) => {
      const name = /^\/v1\/(?:usage\/|credits\/)?(\w+)/.exec(path)![1] as keyof typeof answers
      const body = await (await service.ask(path, await tokenOf(subject.name))).json()
      expect(answers[name].parse(body)).toEqual(body)
    },
  )

  test('has the sums of the events, in the price and the zone of the settings', {
    tags: 'whole',
    timeout: 30_000,
  }, async () => {
    const made = await served(
      [],
      settingsOf(`accounts: { a: { label: Nordlicht, timezone: America/New_York } }\n`),
      async (store) => {
        await enterEvents(store, [
          { atUs: utc(2026, 11, 1, 5, 30), account: 'a', credits: 1.5, promptTokens: 3 },
          { atUs: utc(2026, 11, 1, 6, 30), account: 'a', credits: 2, promptTokens: 4 },
          {
            atUs: utc(2026, 11, 2, 6, 30),
            account: 'a',
            credits: null,
            promptTokens: 5,
            outcome: 'http_error',
            status: 429,
          },
          { atUs: utc(2026, 11, 2, 6, 30), account: 'b', credits: 900 },
        ])
      },
    )
    const a = await tokenOf('a')
    const read = async (path: string) => (await made.ask(path, a)).json()
    expect(await read('/v1/usage/summary?from=2026-11-01&to=2026-11-03')).toMatchObject({
      requests: { value: '3', unknownShare: 0, previous: null },
      credits: { value: '3.5', unknownShare: 1 / 3 },
      cost: [{ currency: 'EUR', value: '0.04375' }],
      successShare: 2 / 3,
      tokens: { input: { value: '12' }, reasoning: { value: null, unknownShare: 1 } },
    })
    // The clocks of New York are set back on that day: one o'clock comes twice.
    const { bars, series, bucket } = (await read(
      '/v1/usage/series?from=2026-11-01&to=2026-11-02&metric=requests',
    )) as {
      bucket: string
      bars: { start: string; measured: boolean }[]
      series: { name: string | null; values: (string | null)[] }[]
    }
    expect(bucket).toBe('hour')
    expect(bars.map(({ start }) => start).slice(0, 4)).toEqual([
      '2026-11-01T00:00:00-04:00',
      '2026-11-01T01:00:00-04:00',
      '2026-11-01T01:00:00-05:00',
      '2026-11-01T02:00:00-05:00',
    ])
    expect(bars).toHaveLength(25)
    expect(series).toEqual([
      { name: null, other: false, values: [null, '1', '1', ...Array(22).fill('0')] },
    ])
    const day = (await read(
      '/v1/usage/series?from=2026-11-01&to=2026-11-03&bucket=day&by=outcome&cumulative=true&metric=requests',
    )) as typeof series & { series: unknown }
    expect(day.series).toEqual([
      { name: 'ok', other: false, values: ['2', '2'] },
      { name: 'limited', other: false, values: ['0', '1'] },
    ])
    expect(await read('/v1/usage/requests?from=2026-11-02&to=2026-11-03')).toMatchObject({
      requests: [{ at: '2026-11-02T01:30:00-05:00', outcome: 'limited', credits: null, input: 5 }],
      next: null,
    })
    expect(await read('/v1/account')).toMatchObject({
      label: 'Nordlicht',
      timezone: 'America/New_York',
      currency: 'EUR',
    })
    await made.close()
  })

  test.each([
    [`${summary}&modle=x`, '400 unknown-parameter'],
    ['/v1/usage/summary?from=2026-11-01', '400 missing-parameter'],
    ['/v1/usage/summary?from=2026-11-02&to=2026-11-01', '400 bad-period'],
    [`${summary}&timezone=Mars`, '400 bad-timezone'],
    ['/v1/usage/series?from=2026-01-01&to=2026-12-01&bucket=hour', '400 too-many-bars'],
    [`/v1/usage/breakdown?${november}&by=model&cursor=odd`, '400 bad-cursor'],
    [`/v1/usage/breakdown?${november}&by=model&limit=201`, '400 bad-parameter'],
    ['/v1/usage/requests?from=2026-01-01&to=2026-12-01', '400 bad-period'],
    ['/v1/nothing', '404 no-such-page'],
    ['/v1/account?from=2026-11-01', '400 unknown-parameter'],
  ])('%s is a problem', async (path, code) => {
    expect(await codeOf(await service.ask(path, await tokenOf(subject.name)))).toBe(code)
  })

  test.each([
    [
      '/v1/usage/summary?from=2026-11-01',
      'to is missing',
      'Exclusive. For example, to=2026-12-01.',
    ],
    [
      `/v1/usage/breakdown?${november}&by=modle`,
      'by has a value that is not known here',
      'Known: model, key, endpoint, outcome, day, and tag:NAME.',
    ],
    [
      `/v1/usage/breakdown?${november}&by=day&limit=201`,
      'limit is too large',
      'It is 200 at most.',
    ],
    [
      `/v1/usage/breakdown?${november}&by=day&limit=x`,
      'limit is no whole number',
      'For example, limit=10.',
    ],
  ])('%s is explained in the words of the API', async (path, title, hint) => {
    const answer = await service.ask(path, await tokenOf(subject.name))
    expect(await answer.json()).toMatchObject({ title, hint })
  })

  test('refunds that name no key stand alone, and no key without a name was used', {
    tags: 'whole',
    timeout: 30_000,
  }, async () => {
    const own = await served([], undefined, (store) =>
      enterEvents(store, [
        { atUs: utc(2026, 11, 2), account: 'a', keyFp: '0123456789ab', credits: 5 },
        {
          ...{ atUs: utc(2026, 11, 3), account: 'a', credits: -2, type: 'refund' as const },
          ...{ keyFp: null, endpoint: null, requests: 0 },
        },
      ]),
    )
    const a = await tokenOf('a')
    const read = async (path: string) => (await own.ask(path, a)).json()
    expect(await read(`/v1/usage/breakdown?${november}&by=key`)).toMatchObject({
      rows: [{ name: 'key 1', credits: '5' }],
      refunds: { credits: '-2', cost: [{ currency: 'EUR', value: '-0.025' }] },
      total: { credits: '3', requests: 1 },
    })
    expect(await read(`/v1/usage/breakdown?${november}&by=outcome`)).toMatchObject({
      rows: [{ name: 'ok', credits: '5' }],
      refunds: { credits: '-2' },
    })
    const csv = await (await own.ask(`/v1/export?${november}`, a)).text()
    const [head, ...lines] = csv
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    const of = (line: readonly string[], name: string) => line[head!.indexOf(name)]
    expect(
      lines.map((line) => ['type', 'key', 'requests', 'amount'].map((name) => of(line, name))),
    ).toEqual([
      ['usage', 'key 1', '1', '5'],
      ['refund', '', '0', '-2'],
    ])
    const page = await (await own.ask(`/page?${november}`, a)).text()
    const board = JSON.parse(/id="board-data">(.*?)<\/script>/s.exec(page)![1]!) as {
      names: Record<string, readonly string[]>
      cells: Record<string, readonly number[]>
    }
    expect(board.names.key).toEqual(['key 1', 'Refunds'])
    expect(board.cells.credits).toEqual([5, -2])
    await own.close()
  })

  test('is not sent again while nothing of the account changed', { tags: 'whole' }, async () => {
    const own = await served([subject, others[0]!])
    const first = await own.ask(summary, token)
    const etag = first.headers.get('etag')!
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect((await own.ask(summary, token, { 'if-none-match': etag })).status).toBe(304)
    const enter = async (account: string) => {
      const store = await openStore(own.file)
      await enterEvents(store, [{ atUs: utc(2026, 11, 9), account, credits: 5 }])
      store.close()
      await own.portal.refresh()
    }
    await enter(others[0]!.name)
    expect((await own.ask(summary, token, { 'if-none-match': etag })).status).toBe(304)
    await enter(subject.name)
    const changed = await own.ask(summary, token, { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(await changed.json()).toMatchObject({ requests: { value: '30' } })
    // Another token, of other permissions, has another tag.
    const bare = await own.ask(summary, await tokenOf(subject.name, { shows: [] }))
    expect(bare.headers.get('etag')).not.toBe(changed.headers.get('etag'))
    await own.close()
  })

  test('is for the origins of the settings, and of the token', async () => {
    const origin = 'https://app.example.com'
    const good = await service.ask(summary, await tokenOf(subject.name), { origin })
    expect(good.headers.get('access-control-allow-origin')).toBe(origin)
    expect(good.headers.get('access-control-expose-headers')).toBe(
      'Content-Disposition, ETag, Link, RateLimit, RateLimit-Policy, Retry-After',
    )
    expect(good.headers.get('vary')).toBe('Authorization, Origin, Accept-Encoding')
    const evil = await service.ask(summary, await tokenOf(subject.name), {
      origin: 'https://evil.example',
    })
    expect(evil.headers.get('access-control-allow-origin')).toBeNull()
    expect(await codeOf(evil)).toBe('403 origin-not-allowed')
    const bound = await tokenOf(subject.name, { origin: 'https://other.example.com' })
    expect(await codeOf(await service.ask(summary, bound, { origin }))).toBe(
      '403 origin-not-allowed',
    )
  })

  test('is limited for each token: 20 at once', async () => {
    const mine = await tokenOf(subject.name)
    const statuses: number[] = []
    let last: Response | undefined
    for (let at = 0; at < 21; at++) {
      last = await service.ask('/v1/account', mine)
      statuses.push(last.status)
    }
    expect(statuses).toEqual([...Array(20).fill(200), 429])
    expect(last!.headers.get('retry-after')).toBe('1')
    expect(await codeOf(last!)).toBe('429 too-many-requests')
    expect((await service.ask('/v1/account', await tokenOf(subject.name))).status).toBe(200)
  })

  test('of the live stream says that figures changed, and has none', {
    tags: 'whole',
    timeout: 30_000,
  }, async () => {
    const own = await served([subject, others[0]!])
    const live = await own.ask('/v1/live', token)
    expect(live.headers.get('content-type')).toBe('text/event-stream')
    const reader = live.body!.getReader()
    /** On a busy machine, a sign of life comes between. */
    const read = async (): Promise<string> => {
      const text = Buffer.from((await reader.read()).value!).toString()
      return text === ': here\n\n' ? read() : text
    }
    expect(await read()).toBe('retry: 5000\n\n')
    const first = await read()
    expect(first).toMatch(
      /^event: changed\nid: [0-9a-f]{16}\ndata: \{"version":"[0-9a-f]{16}","at":"2026-11-28T12:00:00\+00:00"\}\n\n$/,
    )
    for (const account of [others[0]!.name, subject.name]) {
      const store = await openStore(own.file)
      await enterEvents(store, [{ atUs: utc(2026, 11, 9), account, credits: 5 }])
      store.close()
      await own.portal.refresh()
    }
    // The change of the other account was not told.
    const second = await read()
    expect(second).toMatch(/^event: changed\nid: [0-9a-f]{16}/)
    expect(second).not.toBe(first)
    expect((await own.ask('/v1/live', token)).status).toBe(200)
    expect(await codeOf(await own.ask('/v1/live', token))).toBe('429 too-many-requests')
    await reader.cancel()
    expect((await own.ask('/v1/live', token)).status).toBe(200)
    await own.close()
    expect(env.USAGE_SECRET).toBe(secret)
  })
})
