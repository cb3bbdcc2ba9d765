import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { offlinePage } from '../../src/portal/page/offline.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import {
  accounts,
  type MarkedAccount,
  marksOfOthers,
  others,
  subject,
} from '../report/marked-accounts.ts'
import {
  bytesOf,
  everyPath,
  november,
  nowMs,
  type Served,
  served,
  settingsOf,
  tokenOf,
} from './portal.ts'

let all: Served
let alone: Served
const folder = mkdtempSync(join(tmpdir(), 'assay-isolation-'))
/** Two budgets of each of these accounts, of an amount of its own, all of which are over; and the file of their alerts. */
const twoBudgets = (amount: number) =>
  `[{ amount: '${amount}' }, { amount: '${amount}', period: year }]`
const settingsWith = (some: readonly MarkedAccount[]) => {
  const budgets = some.map(({ name, amount }) => `  ${name}: { budget: ${twoBudgets(amount)} }`)
  return settingsOf(
    `alerts: { file: '${folder}/alerts.jsonl', webhooks: [{ url: 'https://app.example.com', secretEnv: USAGE_WEBHOOK_SECRET }] }\naccounts:\n${budgets.join('\n')}\n`,
  )
}
afterAll(() => rmSync(folder, { recursive: true }))
async function withAlerts(some: readonly MarkedAccount[]): Promise<Served> {
  const posted: string[] = []
  const post = async (_: string, __: object, body: string) => posted.push(body) && 204
  const alerted = some.filter((each) => each === subject || others.indexOf(each) < 4)
  const service = await served(some, settingsWith(alerted), undefined, undefined, { post })
  await service.portal.alert()
  // The highest threshold of each budget.
  while (posted.length < 2 * alerted.length) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    service.portal.deliver()
  }
  // The next to be served begins a file of the same name.
  rmSync(`${folder}/alerts.jsonl`)
  return service
}
/** Marks as text, in URL, base64, hex and JSON escapes. Base64 depends on the place in a group of three. */
const forms = marksOfOthers.flatMap((mark) => [
  mark,
  encodeURIComponent(mark),
  Buffer.from(mark).toString('hex'),
  ...[0, 1, 2].map((skip) =>
    Buffer.from(mark.slice(skip, skip + 6 * Math.floor((mark.length - skip) / 6)))
      .toString('base64url')
      .slice(0, -2),
  ),
  [...mark].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
])
const longForms = forms.filter((form) => form.length >= 8)

function withoutMarks(bytes: string): void {
  for (const form of longForms)
    if (bytes.includes(form)) expect(form).toBe('a mark of another account')
}

async function answers(path: string, claims = {}, headers = {}): Promise<string> {
  const token = await tokenOf(subject.name, {
    jti: `${path}-${JSON.stringify(claims)}`.slice(0, 60) + Math.random(),
    ...claims,
  })
  const [one, other] = [
    await bytesOf(await all.ask(path, token, headers)),
    await bytesOf(await alone.ask(path, token, headers)),
  ]
  if (one !== other) expect(one).toBe(other)
  withoutMarks(one)
  return one
}

test('an account has the same bytes with and without another one, whose token sees its own', async () => {
  all = await withAlerts([subject, others[3]!])
  alone = await withAlerts([subject])
  const path = `/v1/usage/breakdown?${november}&by=model`
  const paths = ['/page', `/v1/export?${november}`, '/v1/budgets', '/v1/alerts']
  for (const each of [path, ...paths]) expect((await answers(each)).slice(0, 3)).toBe('200')
  const other = await bytesOf(await all.ask(path, await tokenOf(others[3]!.name)))
  expect(other.includes(others[3]!.model)).toBe(true)
  expect(other.includes(subject.model)).toBe(false)
  await all.close()
  await alone.close()
})

describe('among 50 accounts', () => {
  beforeAll(async () => {
    all = await withAlerts(accounts)
    alone = await withAlerts([subject])
  }, 120_000)
  afterAll(async () => {
    await all.close()
    await alone.close()
  })

  test.each([...everyPath, `/v1/usage/series?${november}&metric=cost&unit=EUR`])(
    '%s is the same bytes with and without 49 other accounts',
    { tags: 'whole', timeout: 60_000 },
    async (path) => {
      const bytes = await answers(path)
      expect(bytes.slice(0, 3)).toBe('200')
      expect(bytes.length).toBeGreaterThan(300)
    },
  )

  const day = fc.integer({ min: 1, max: 28 }).map((at) => `2026-11-${String(at).padStart(2, '0')}`)
  const name = fc.constantFrom(subject.model, others[3]!.model, 'svc-k2', 'nobody')
  const key = fc.constantFrom(
    subject.keys[0],
    subject.keyNames[1],
    others[3]!.keys[0],
    others[3]!.keyNames[1],
    'nobody',
  )
  const drawn = fc
    .record({
      path: fc.constantFrom(
        '/v1/usage/summary',
        '/v1/usage/series',
        '/v1/usage/breakdown',
        '/v1/usage/requests',
        '/v1/export',
      ),
      from: day,
      to: fc.oneof(day, fc.constant('2026-12-24')),
      timezone: fc.constantFrom(undefined, 'UTC', 'Asia/Kathmandu', 'Mars/Base'),
      model: fc.array(name, { maxLength: 2 }),
      key: fc.array(key, { maxLength: 2 }),
      outcome: fc.array(fc.constantFrom('ok', 'failed', 'odd'), { maxLength: 1 }),
      by: fc.constantFrom(undefined, 'model', 'key', 'endpoint', 'outcome', 'day'),
      bucket: fc.constantFrom(undefined, 'hour', 'day', 'week', 'month'),
      metric: fc.constantFrom(undefined, 'credits', 'cost', 'requests', 'output'),
      unit: fc.constantFrom(undefined, 'EUR', 'credits', others[3]!.model),
      cursor: fc.constantFrom(
        undefined,
        undefined,
        Buffer.from('after 1').toString('base64url'),
        'odd',
      ),
      shows: fc.constantFrom(
        undefined,
        [],
        ['credits', 'models'],
        ['credits', 'keys', 'requests', 'export'],
      ),
      keys: fc.constantFrom(undefined, [], [subject.keys[0]], [others[3]!.keys[0]]),
    })
    .map(({ path, shows, keys, ...query }) => {
      const search = new URLSearchParams()
      const isOf: Record<string, readonly string[]> = {
        '/v1/usage/series': ['by', 'bucket', 'metric', 'unit'],
        '/v1/usage/breakdown': ['by', 'cursor'],
        '/v1/usage/requests': ['cursor'],
        '/v1/export': ['bucket'],
      }
      for (const [key, value] of Object.entries(query)) {
        const isCommon = ['from', 'to', 'timezone', 'model', 'key', 'outcome'].includes(key)
        if (!isCommon && !isOf[path]?.includes(key)) continue
        for (const each of [value].flat()) if (each !== undefined) search.append(key, each)
      }
      const claims = {
        ...(shows === undefined ? {} : { shows }),
        ...(keys === undefined ? {} : { keys }),
      }
      return { path: `${path}?${search}`, claims }
    })

  test('500 drawn questions are answered with the same bytes', {
    tags: 'whole',
    timeout: 240_000,
  }, async () => {
    const statuses = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(drawn, async ({ path, claims }) => {
        const status = (await answers(path, claims)).slice(0, 3)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
      { numRuns: 500 },
    )
    // Each kind of answer was drawn.
    expect([...statuses.keys()].toSorted()).toEqual(['200', '400', '403', '404'])
  })

  test.each([subject.keys[0], others[3]!.keys[0]])(
    'the cost of a key that used nothing in any currency is an answer (%s)',
    { tags: 'whole' },
    async (only) => {
      const path = '/v1/usage/series?from=2026-11-01&to=2026-12-24&metric=cost'
      for (const by of ['', '&by=model', '&by=key'])
        expect((await answers(path + by, { keys: [only] })).slice(0, 3)).toBe('200')
    },
  )

  test('keys, models and cursors of others are answered as those of nobody', {
    tags: 'whole',
  }, async () => {
    const ask = async (query: string) =>
      (await answers(`/v1/usage/summary?from=2026-11-01&to=2026-12-01&${query}`)).replace(
        /ratelimit: .*/,
        '',
      )
    expect(await ask(`model=${others[3]!.model}`)).toBe(await ask('model=nobody'))
    expect(await ask(`key=${others[3]!.keys[0]}`)).toBe(await ask('key=ffffffffffff'))
    expect(await ask(`key=${encodeURIComponent(others[3]!.keyNames[0])}`)).toBe(
      await ask('key=nobody'),
    )
    const stranger = await tokenOf('nobody at all')
    expect(await bytesOf(await all.ask('/v1/account', stranger))).toBe(
      await bytesOf(await alone.ask('/v1/account', stranger)),
    )
  })

  test('the page of a file, with its single requests, is the same bytes', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const pageOf = (service: Served) =>
      offlinePage({
        ...{ source: storeSource(service.file, defaultContract), settings: settingsOf() },
        ...{ account: subject.name, keys: null, contract: null, nowMs },
        search: new URLSearchParams('from=2026-11-01&to=2026-12-01&by=key'),
      })
    const page = await pageOf(all)
    expect(page === (await pageOf(alone))).toBe(true)
    expect(page).toContain('"requests":{"hour":[')
    expect(page).toContain(subject.model)
    withoutMarks(page)
  })

  test('a token of some keys sees no budget and no alert, and a token sees those of its account alone', {
    tags: 'whole',
  }, async () => {
    for (const path of ['/v1/budgets', '/v1/alerts']) {
      const none = await answers(path, { keys: [subject.keys[0]] })
      expect(none).toMatch(/\{"(budgets|alerts)":\[\]\}$/)
      const other = await bytesOf(await all.ask(path, await tokenOf(others[3]!.name)))
      expect(other).toContain(String(others[3]!.amount))
      for (const { name, amount } of [subject, others[0]!, others[2]!]) {
        expect(other.includes(name) || other.includes(String(amount))).toBe(false)
      }
    }
  })

  test('an error names no one, and a token of another account sees the other', {
    tags: 'whole',
  }, async () => {
    const other = await tokenOf(others[3]!.name)
    const answer = await bytesOf(
      await all.ask('/v1/usage/breakdown?from=2026-11-01&to=2026-12-01&by=model', other),
    )
    expect(answer.includes(others[3]!.model)).toBe(true)
    expect(answer.includes(subject.model)).toBe(false)
  })
})
