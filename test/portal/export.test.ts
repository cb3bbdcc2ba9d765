import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { timeIn } from '../../src/measure/usage/calendar.ts'
import { fileName } from '../../src/portal/api/file-name.ts'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { timeSql } from '../../src/portal/figures/export.ts'
import type { Source } from '../../src/portal/source/source.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { requestSorts } from '../../src/report/usage/board/tables.js'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { november, type Served, served, servedFrom, settingsOf, tokenOf } from './portal.ts'

let service: Served
let token: string
beforeAll(async () => {
  const settings = settingsOf(`accounts: { a: { label: '=Nordlicht Studio' } }\n`)
  service = await served([], settings, (store) =>
    enterEvents(store, [
      { atUs: utc(2024, 10, 3, 5), account: 'a', model: 'nova' },
      { atUs: utc(2026, 10, 3, 5, 10), account: 'a', model: 'nova' },
      { atUs: utc(2026, 10, 3, 6, 10), account: 'a', model: 'nova/mini' },
      { atUs: utc(2026, 10, 30, 23), account: 'a', model: 'nova' },
    ]),
  )
  token = await tokenOf('a')
})
afterAll(() => service.close())

const ask = (query: string) => service.ask(`/v1/export?${query}`, token)
const linesOf = async (answer: Response) => (await answer.text()).trimEnd().split('\n').slice(1)
const nameOf = (answer: Response) =>
  /filename="([^"]*)"/.exec(answer.headers.get('content-disposition') ?? '')![1]

test('the hours of a month and the days of two years are a file', async () => {
  const hours = await linesOf(await ask('from=2026-10-01&to=2026-11-01&bucket=hour'))
  expect(hours.map((line) => line.slice(0, 36))).toEqual([
    '2026-10-03T05:00:00+00:00,usage,nova',
    '2026-10-03T06:00:00+00:00,usage,nova',
    '2026-10-30T23:00:00+00:00,usage,nova',
  ])
  const days = await ask('from=2024-01-01&to=2026-12-02')
  expect([days.status, (await linesOf(days)).length]).toEqual([200, 4])
})

test('the bucket that a refused export is told is one that it takes', async () => {
  const query = 'from=2024-01-01&to=2026-12-02'
  const refused = await ask(`${query}&bucket=hour`)
  const { code, hint } = (await refused.json()) as { code: string; hint: string }
  expect([refused.status, code, hint]).toEqual([400, 'too-many-bars', 'bucket=day fits.'])
  for (const bucket of ['day', 'week', 'month'])
    expect([bucket, (await ask(`${query}&bucket=${bucket}`)).status]).toEqual([bucket, 200])
})

test('a file is named by the account, the period, its bars and what was filtered', async () => {
  const query = 'from=2026-10-01&to=2026-11-01'
  const name = async (more: string) => nameOf(await ask(`${query}${more}`))
  expect(await name('')).toBe('usage-Nordlicht-Studio-2026-10-01-2026-10-31.csv')
  expect(await name('&bucket=hour&format=jsonl')).toBe(
    'usage-Nordlicht-Studio-2026-10-01-2026-10-31-hour.jsonl',
  )
  expect(await name('&model=nova')).toBe(
    'usage-Nordlicht-Studio-2026-10-01-2026-10-31-model-nova.csv',
  )
  // Signs that a path has are left out, and the digest tells such names apart.
  expect(await name('&model=nova/mini')).toMatch(
    /^usage-Nordlicht-Studio-2026-10-01-2026-10-31-model-nova-mini-[0-9a-f]{6}\.csv$/,
  )
  expect(nameOf(await ask('from=2026-10-25T01:00:00%2B00:00&to=2026-10-25T02:00:00%2B00:00'))).toBe(
    'usage-Nordlicht-Studio-2026-10-25T0100+0000-2026-10-25T0200+0000.csv',
  )
})

describe('all requests', () => {
  let own: Served
  const query = 'from=2026-11-01&to=2026-12-01'
  beforeAll(async () => {
    const settings = settingsOf(`accounts: { a: { timezone: Europe/Berlin }, b: {} }\n`)
    own = await served([], settings, (store) =>
      enterEvents(store, [
        { ...{ atUs: utc(2026, 11, 3, 5, 10), account: 'a', id: 'r1', model: '=nova' } },
        {
          ...{
            atUs: utc(2026, 11, 3, 5, 10),
            account: 'a',
            id: 'r2',
            credits: '0.25',
            model: 'nova',
          },
          ...{ latencyUs: 1500, status: 200, tags: '{"team":"search"}', keyFp: '0123456789ab' },
        },
        {
          atUs: utc(2026, 11, 3, 5, 10),
          account: 'a',
          id: 'r3',
          outcome: 'http_error',
          status: 429,
        },
        {
          ...{ atUs: utc(2026, 11, 4), account: 'a', id: 'r2-back', type: 'refund', requests: 0 },
          ...{ credits: '-0.25' },
        },
        { atUs: utc(2026, 11, 5), account: 'a', id: 'r4', credits: null, promptTokens: null },
        { atUs: utc(2026, 11, 5), account: 'b', id: 'other' },
      ]),
    )
  })
  afterAll(() => own.close())
  const asked = async (more: string, claims = {}) =>
    own.ask(`/v1/export/requests?${query}${more}`, await tokenOf('a', claims))
  const parsed = async (answer: Response) =>
    (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('are lines with id, time with offset, status, duration and exact amounts, refunds among them', async () => {
    const answer = await asked('&format=jsonl')
    const lines = await parsed(answer)
    expect(lines.map(({ id }) => id)).toEqual(['r1', 'r2', 'r3', 'r2-back', 'r4'])
    expect(lines[1]).toMatchObject({
      ...{ at: '2026-11-03T06:10:00+01:00', type: 'usage', id: 'r2', model: 'nova' },
      ...{
        key: 'key 1',
        endpoint: 'chat',
        'tag:team': 'search',
        'tag:__proto__ ~1/a.b"\'<b>': null,
      },
      ...{ outcome: 'ok', status: 200, requests: 1, input_tokens: 10, output_tokens: 20 },
      ...{ cached_tokens: null, duration_ms: 1.5, unit: 'credits', amount: '0.25' },
      ...{ currency: 'EUR', cost: '0.003125' },
    })
    expect(lines.map(({ type, outcome, amount }) => [type, outcome, amount])).toEqual([
      ['usage', 'ok', '1'],
      ['usage', 'ok', '0.25'],
      ['usage', 'limited', '1'],
      ['refund', null, '-0.25'],
      // Unknown is never zero.
      ['usage', 'ok', null],
    ])
    expect(nameOf(answer)).toBe('requests-a-2026-11-01-2026-11-30.jsonl')
    expect(nameOf(await asked('&outcome=limited'))).toBe(
      'requests-a-2026-11-01-2026-11-30-outcome-limited.csv',
    )
    expect(await (await asked('')).text()).toContain(",'=nova,")
    expect((await parsed(await asked('&format=jsonl&outcome=limited'))).length).toBe(1)
  })

  test('go on in the next file, whichever moments its lines share', async () => {
    const seen: unknown[] = []
    let more = '&format=jsonl&limit=2'
    const names: unknown[] = []
    for (let files = 0; files < 3; files++) {
      const answer = await asked(more)
      seen.push(...(await parsed(answer)).map(({ id }) => id))
      names.push(nameOf(answer))
      const [, next] = /^<\?(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? []
      if (next === undefined) break
      more = `&${new URLSearchParams([...new URLSearchParams(next)].filter(([name]) => name !== 'from' && name !== 'to'))}`
    }
    expect(seen).toEqual(['r1', 'r2', 'r3', 'r2-back', 'r4'])
    expect(names).toEqual([
      'requests-a-2026-11-01-2026-11-30.jsonl',
      'requests-a-2026-11-01-2026-11-30-part-2.jsonl',
      'requests-a-2026-11-01-2026-11-30-part-3.jsonl',
    ])
  })

  test('need a token that shows both requests and exports, and hide what it does not show', async () => {
    for (const shows of [['requests'], ['export']])
      expect((await asked('', { shows })).status).toBe(403)
    const [line] = await parsed(await asked('&format=jsonl', { shows: ['requests', 'export'] }))
    expect([line!.model, line!.key, line!.amount, line!.cost]).toEqual([null, null, null, null])
    expect((await asked('&cursor=nonsense')).status).toBe(400)
  })
})

test('times of files are those of the runtime in every zone, whatever zones the database knows', async () => {
  const fromUs = utc(2024, 1, 1)
  const moments = Array.from({ length: 300 }, (_, at) => fromUs + at * 3.5 * 86_400e6 + at * 1e6)
  for (const timezone of [...Intl.supportedValuesOf('timeZone'), '+05:30', '-03']) {
    const period = { fromUs, toUs: moments.at(-1)! + 1, timezone }
    const rows = await service.store.rows<{ at: string }>(
      `SELECT ${timeSql('us', period)} AS at FROM (SELECT unnest([${moments.join()}]::BIGINT[]) AS us)`,
    )
    expect(rows.map(({ at }) => at)).toEqual(moments.map((us) => timeIn(us, timezone)))
  }
})

test.each(['America/Vancouver', 'Asia/Kolkata'])(
  'days of a file are those of the chart in %s',
  async (timezone) => {
    const a = await tokenOf('a')
    const query = `from=2026-10-30&to=2026-11-01&timezone=${encodeURIComponent(timezone)}`
    const series = await service.ask(`/v1/usage/series?${query}`, a)
    const { bars } = (await series.json()) as Answers['series']
    const lines = await linesOf(await ask(query))
    const requests = await service.ask(`/v1/usage/requests?${query}`, a)
    const [listed] = ((await requests.json()) as Answers['requests']).requests
    const file = await service.ask(`/v1/export/requests?${query}`, a)
    const at = listed!.at
    expect(bars.map(({ start }) => start)).toContain(lines[0]!.slice(0, 25))
    expect((await linesOf(file)).map((line) => line.slice(0, 25))).toEqual([at])
  },
)

test('an offset is no time zone of a file', async () => {
  const answer = await ask(`from=2026-10-30&to=2026-11-01&timezone=${encodeURIComponent('+05:30')}`)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'bad-timezone' })
})

test('a name of a file has no more bytes than a file system takes', () => {
  const words = '界'.repeat(200)
  const query = { ...{ model: [words], key: [], endpoint: [], tag: [], outcome: [] } }
  const period = { fromUs: utc(2026, 11, 1, 1), toUs: utc(2026, 12, 1, 1), timezone: 'UTC' }
  const name = fileName('requests', { label: words }, period, { ...query, format: 'parquet' }, [
    'part-123456789',
  ])
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
})

test('two choices have two names of files, and so have two periods', () => {
  const none = { model: [], key: [], endpoint: [], tag: [], outcome: [], format: 'csv' as const }
  const named = (more: object, from: string, to: string, timezone = 'UTC', label = 'A') => {
    const period = { fromUs: Date.parse(from) * 1000, toUs: Date.parse(to) * 1000, timezone }
    return fileName('usage', { label }, period, { ...none, ...more })
  }
  const day = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'] as const
  const beginning = 'usage-A-2026-11-01-2026-11-01-model-a-key-b'
  expect(named({ model: ['a-key-b'] }, ...day)).toBe(`${beginning}.csv`)
  expect(named({ model: ['a'], key: ['b'] }, ...day)).toMatch(/-model-a-key-b-[0-9a-f]{6}\.csv$/)
  expect(named({}, '2026-11-01T00:00:10Z', '2026-11-01T00:00:40Z')).toBe(
    'usage-A-2026-11-01T000010+0000-2026-11-01T000040+0000.csv',
  )
  // The day begins twice in Havana.
  expect(named({}, '2026-11-01T04:00:00Z', '2026-11-01T05:00:00Z', 'America/Havana')).toBe(
    'usage-A-2026-11-01T0000-0400-2026-11-01T0000-0500.csv',
  )
  expect(named({}, ...day, 'UTC', '***')).toBe('usage-2026-11-01-2026-11-01.csv')
})

test('an id that a log joined shows none of its columns, and is the same in the list, the file and for the operator', async () => {
  const joined = 'secret-model/2026-11-10T13:00:00Z'
  const own = await served([], settingsOf(), (store) =>
    enterEvents(store, [
      { atUs: utc(2026, 11, 10), account: 'a', source: 'acme-file', id: joined },
      { atUs: utc(2026, 11, 9), account: 'a', source: 'acme-file', id: 'r1~0' },
    ]),
  )
  try {
    const a = await tokenOf('a', { shows: ['requests', 'export'] })
    const list = await (await own.ask(`/v1/usage/requests?${november}`, a)).text()
    const files = `/v1/export/requests?${november}&format=jsonl`
    const file = await (await own.ask(files, a)).text()
    for (const seen of [list, file]) expect(seen).not.toMatch(/secret|13:00|acme/)
    const digest = createHash('sha256').update(`acme-file/${joined}`).digest('hex').slice(0, 20)
    expect((JSON.parse(list) as Answers['requests']).requests.map(({ id }) => id)).toEqual([
      digest,
      'r1~0',
    ])
    const lines = file.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['r1~0', digest])
  } finally {
    await own.close()
  }
})

test('where durations are not known, no list is sorted by them, and the page does not offer it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-untimed-'))
  const file = join(folder, 'usage.duckdb')
  const store = await openStore(file)
  await enterEvents(store, [{ atUs: utc(2026, 11, 3), account: 'a' }])
  store.close()
  // As ClickHouse is.
  const asking = await servedFrom({ ...storeSource(file, defaultContract), timed: false })
  try {
    const a = await tokenOf('a')
    const path = '/v1/usage/requests?from=2026-11-01&to=2026-12-01&sort='
    const refused = await asking.ask(`${path}duration`, a)
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        ...{ code: 'bad-parameter', title: 'Durations are not known here' },
        hint: 'sort may be time, credits, cost, tokens.',
      },
    ])
    const withoutAmounts = await tokenOf('a', { shows: ['requests'] })
    expect(await (await asking.ask(`${path}duration`, withoutAmounts)).json()).toMatchObject({
      hint: 'sort may be time, tokens.',
    })
    expect((await asking.ask(`${path}tokens`, a)).status).toBe(200)
    const page = await (await asking.ask('/page', a)).text()
    const board = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as BoardData
    const sortsOf = (data: BoardData) => requestSorts(data).map(([name]) => name)
    expect(sortsOf(board)).toEqual(['time', 'amount', 'tokens'])
    expect(sortsOf({ ...board, timed: true })).toEqual(['time', 'amount', 'tokens', 'duration'])
  } finally {
    await asking.close()
    rmSync(folder, { recursive: true })
  }
})

test('a list of requests has id, status and duration, and is sorted by them', async () => {
  const own = await served([], settingsOf(), (store) =>
    enterEvents(store, [
      {
        atUs: utc(2026, 11, 3),
        account: 'a',
        id: 'dear',
        credits: 9,
        latencyUs: null,
        promptTokens: 1,
      },
      {
        atUs: utc(2026, 11, 4),
        account: 'a',
        id: 'slow',
        credits: 2,
        latencyUs: 9000,
        status: 200,
      },
      {
        ...{ atUs: utc(2026, 11, 5), account: 'a', id: 'long', credits: null, latencyUs: 5 },
        promptTokens: 900,
      },
      {
        ...{ atUs: utc(2026, 11, 6), account: 'a', id: 'euro', credits: '0.5', unit: 'EUR' },
        ...{ promptTokens: null, completionTokens: null },
      },
    ]),
  )
  const a = await tokenOf('a')
  const list = async (sort: string, more = '') => {
    const path = `/v1/usage/requests?from=2026-11-01&to=2026-12-01&sort=${sort}${more}`
    return ((await (await own.ask(path, a)).json()) as Answers['requests']).requests
  }
  const ids = async (sort: string, more = '') => (await list(sort, more)).map(({ id }) => id)
  try {
    expect(await ids('time')).toEqual(['euro', 'long', 'slow', 'dear'])
    expect(await ids('credits')).toEqual(['dear', 'slow', 'euro', 'long'])
    // 9 credits are 0.1125 EUR.
    expect(await ids('cost', '&unit=EUR')).toEqual(['euro', 'dear', 'slow', 'long'])
    expect(await ids('duration')).toEqual(['slow', 'long', 'euro', 'dear'])
    expect(await ids('tokens')).toEqual(['long', 'slow', 'dear', 'euro'])
    const [, , slow, dear] = await list('time')
    expect([slow!.status, slow!.durationMs, dear!.durationMs]).toEqual([200, 9, null])
    const breakdown = `/v1/usage/breakdown?from=2026-11-01&to=2026-12-01&by=model&sort=cost&unit=EUR`
    expect((await own.ask(breakdown, a)).status).toBe(200)
  } finally {
    await own.close()
  }
})

test('an export that takes too long ends in the store, and no list waits for it', async () => {
  const place = mkdtempSync(join(tmpdir(), 'assay-slow-'))
  const store = await openStore(join(place, 'usage.duckdb'))
  await enterEvents(store, [
    { atUs: utc(2026, 11, 10), account: 'a' },
    { atUs: utc(2026, 11, 10), account: 'b', id: 'own' },
  ])
  const source = storeSource(store, defaultContract)
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow: Source = {
    ...source,
    async writeRequests(scope, query, file, { signal }) {
      if (query.limit !== 8) return source.writeRequests(scope, query, file, { signal: signal! })
      begun.resolve()
      await once(signal!, 'abort')
      const work = source.writeRequests(scope, query, file, { signal: signal! })
      await expect(work).rejects.toBe(signal!.reason)
      ended.resolve()
      return work
    },
  }
  const own = await servedFrom(slow, settingsOf(), 60_000, { slowMs: 3000 })
  try {
    const [a, b] = [await tokenOf('a'), await tokenOf('b')]
    let isOver = false
    const late = own.ask(`/v1/export/requests?${november}&limit=7`, a).finally(() => {
      isOver = true
    })
    await begun.promise
    expect(await (await own.ask(`/v1/usage/requests?${november}`, b)).text()).toContain('"own"')
    expect(isOver).toBe(false)
    expect((await late).status).toBe(503)
    await ended.promise
    expect((await own.ask(`/v1/export/requests?${november}`, a)).status).toBe(200)
  } finally {
    await own.close()
    store.close()
    rmSync(place, { recursive: true })
  }
})
