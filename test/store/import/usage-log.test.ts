import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { type Mapping, ownMapping, parseMapping } from '../../../src/store/import/mapping.ts'
import { formatOf, importUsageLog } from '../../../src/store/import/usage-log.ts'
import { tries } from '../../nightly/tries.ts'
import { openStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-import-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeAll(async () => {
  store = await openStore(join(folder, 'a.duckdb'))
})
afterAll(() => store.close())

const mapping = parseMapping(
  `
fields:
  id: request.id
  time: { column: at, unit: auto, timezone: Asia/Kolkata }
  model: model
  endpoint: path
  key: api_key
  credits: cost
  promptTokens: usage.prompt_tokens
  completionTokens: usage.completion_tokens
  status: status
`,
  'map.yaml',
)

let files = 0
async function importText(text: string | Uint8Array, extension = 'jsonl', change: object = {}) {
  const file = join(folder, `log ${files++}'s [x].${extension}`)
  writeFileSync(file, text)
  const source = `s${files}`
  const options = {
    file,
    mapping,
    source,
    format: formatOf(file)!,
    rejectsFile: `${file}.rejects.jsonl`,
    nowUs: 1_800_000_000_000_000,
    ...change,
  }
  const run = () => importUsageLog(store, options)
  const rejects = () =>
    readFileSync(options.rejectsFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { reason: string; line: string })
  const events = () =>
    store.rows(
      `SELECT id, at_us, model, endpoint, key_fp, outcome, status, credits, prompt_tokens,
              completion_tokens FROM usage_events WHERE source = $1 ORDER BY id`,
      [options.source],
    )
  return { ledger: await run(), again: run, rejects, events, source: options.source }
}

const at = Date.UTC(2026, 0, 1) * 1000

test('a line becomes an event: paths, units, zone, fingerprint, endpoint, and null for a missing value', async () => {
  const { ledger, events } = await importText(
    [
      `{"request":{"id":"a"},"at":"2026-01-01T05:30:00","model":"svc-k2","path":"/v1/chat/completions","api_key":"sk-secret-1","cost":1,"usage":{"prompt_tokens":3,"completion_tokens":4},"status":200}`,
      `{"request":{"id":"b"},"at":${at / 1e6}}`,
      `{"request":{"id":"c"},"at":${at / 1e3}.5,"status":429}`,
      `{"request":{"id":"d"},"at":"${at}","cost":"0.25"}`,
      `{"request":{"id":"e"},"at":${at}000}`,
      `{"request":{"id":"f"},"at":"2026-01-01T00:00:00.5Z"}`,
    ].join('\n'),
  )
  expect(ledger).toMatchObject({ lines: 6, accepted: 6, rejected: 0, rejectsFile: null })
  const rows = await events()
  expect(rows[0]).toEqual({
    id: 'a',
    at_us: at,
    model: 'svc-k2',
    endpoint: 'chat',
    key_fp: fingerprintOf('sk-secret-1'),
    outcome: 'ok',
    status: 200,
    credits: 1,
    prompt_tokens: 3,
    completion_tokens: 4,
  })
  expect(rows.map((row) => [row.at_us, row.outcome, row.credits])).toEqual([
    [at, 'ok', 1],
    [at, 'ok', null],
    [at + 500, 'http_error', null],
    [at, 'ok', 0.25],
    [at, 'ok', null],
    [at + 500_000, 'ok', null],
  ])
})

test('an endpoint is its whole path without the query, which may hold a key; a longer one is refused', async () => {
  const long = `/v1/${'x'.repeat(190)}`
  const secret = 'AIzaSyExample0123456789'
  const paths = {
    ...{ a: `${long}/aa?sig=${'s'.repeat(300)}`, b: `${long}/bb#${secret}` },
    c: '/openai/deployments/k2/chat/completions?api-version=2026-01-01',
    ...{
      d: `/v1beta/models?key=${secret}`,
      e: `?key=${secret}`,
      f: `${long}/${long}?key=${secret}`,
    },
  }
  const lines = Object.entries(paths).map(([id, path]) =>
    JSON.stringify({ request: { id }, at: at / 1e6, path }),
  )
  const { ledger, events } = await importText(lines.join('\n'))
  expect(ledger).toMatchObject({ lines: 6, accepted: 5, rejected: 1 })
  const rows = await events()
  expect(Object.fromEntries(rows.map(({ id, endpoint }) => [id, endpoint]))).toEqual({
    ...{ a: `${long}/aa`, b: `${long}/bb`, c: 'chat', d: '/v1beta/models', e: null },
  })
})

test('what an import makes of a JSON log does not depend on the order of its lines', {
  tags: 'whole',
}, async () => {
  const line = (id: number, credits: string) =>
    `{"request":{"id":"${id}"},"at":${at / 1e6},"credits":${credits}}`
  const odd = fc.constantFrom(
    line(90, 'NaN'),
    line(91, '-Infinity'),
    line(92, '1').slice(0, -1),
    '{"request":{"id":"93"},"at":',
    '{',
    '{}',
    '',
    '{"a":{"b":"}{"}}',
  )
  const own = await openStore(':memory:')
  let file = 0
  const made = async (lines: readonly string[]) => {
    const path = join(folder, `order-${file++}.jsonl`)
    writeFileSync(path, `${lines.join('\n')}\n`)
    const { accepted, duplicates, rejected } = await importUsageLog(own, {
      ...{ file: path, mapping, source: path, format: 'jsonl', nowUs: at },
      rejectsFile: `${path}.rejects.jsonl`,
    })
    return { accepted, duplicates, rejected }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(odd, { minLength: 1, maxLength: 3 }),
      fc.nat(4),
      async (odds, turn) => {
        const lines = [...odds, line(1, '1'), line(2, '0.5')]
        const turned = [...lines.slice(turn % lines.length), ...lines.slice(0, turn % lines.length)]
        // A last line may be cut off where a writer stopped, which is told apart: it is whole here.
        const whole = (each: readonly string[]) => [...each, line(3, '2')]
        expect(await made(whole(turned))).toEqual(await made(whole(lines.toReversed())))
      },
    ),
    { numRuns: tries(8, 100) },
  )
  own.close()
})

test('an import whose signal is aborted fails with the reason of the signal, and enters nothing', {
  tags: 'whole',
}, async () => {
  const file = join(folder, 'aborted.jsonl')
  const line = (id: number) => `{"request":{"id":"${id}"},"at":${at / 1e6}}`
  writeFileSync(file, Array.from({ length: 400_000 }, (_, id) => line(id)).join('\n'))
  const own = await openStore(join(folder, 'aborted.duckdb'))
  for (const afterMs of [0, 30, 300]) {
    const stop = new AbortController()
    const importing = importFile(own, {
      ...{ file, mapping, format: 'jsonl', signal: stop.signal },
    })
    const refused = expect(importing).rejects.toMatchObject({ name: 'AbortError' })
    setTimeout(() => stop.abort(), afterMs)
    await refused
    expect(await own.rows('SELECT count(*) AS n FROM usage_events')).toEqual([{ n: 0 }])
  }
  own.close()
})

test('a signal while the rejected lines are written no longer ends an import, whose lines are in', {
  tags: 'whole',
}, async () => {
  const file = join(folder, 'late.jsonl')
  const line = (id: number) =>
    `{"request":{"id":"${id}"},"at":${id % 2 === 0 ? at / 1e6 : '"never"'}}`
  writeFileSync(file, Array.from({ length: 40_000 }, (_, id) => line(id)).join('\n'))
  const stop = new AbortController()
  const signalled: Store = {
    ...store,
    execute(sql, parameters) {
      const done = store.execute(sql, parameters)
      if (sql.startsWith('COPY')) stop.abort()
      return done
    },
  }
  const rejectsFile = `${file}.rejects.jsonl`
  const imported = await importUsageLog(signalled, {
    ...{ file, mapping, source: 'late', format: 'jsonl', rejectsFile, nowUs: at },
    signal: stop.signal,
  })
  expect(stop.signal.aborted).toBe(true)
  expect(imported).toMatchObject({ lines: 40_000, accepted: 20_000, rejected: 20_000, rejectsFile })
  expect(readFileSync(rejectsFile, 'utf8').trim().split('\n').length).toBe(20_000)
})

test('an array of lines with requests, durations in any unit and long decimals is imported completely', async () => {
  const own = parseMapping(
    `fields:
  id: id
  time: start
  credits: cost
  requests: n_requests
  ttft: { column: first_s, unit: s }
  latency: { from: start, to: end }
`,
    'map.yaml',
  )
  const start = '2026-11-01T09:30:00.000Z'
  const lines = [
    {
      id: 'a',
      start,
      end: '2026-11-01T09:30:01.5Z',
      first_s: 0.2500004,
      cost: 1.516e-6,
      n_requests: 40,
    },
    { id: 'b', start, cost: '0.000000000000000001' },
    { id: 'c', start, n_requests: -1 },
    { id: 'd', start, first_s: -1 },
  ]
  const { ledger, source } = await importText(JSON.stringify(lines), 'json', { mapping: own })
  expect(ledger).toMatchObject({ lines: 4, accepted: 3, rejected: 1 })
  expect(
    await store.rows(
      `SELECT id, requests, ttft_us, latency_us, credits::VARCHAR AS credits FROM usage_events
       WHERE source = $1 ORDER BY id`,
      [source],
    ),
  ).toEqual([
    {
      id: 'a',
      requests: 40,
      ttft_us: 250_000,
      latency_us: 1_500_000,
      credits: '0.000001516000000000',
    },
    { id: 'b', requests: 1, ttft_us: null, latency_us: null, credits: '0.000000000000000001' },
    // A duration that is none is not known; the line counts.
    { id: 'd', requests: 1, ttft_us: null, latency_us: null, credits: null },
  ])
  expect(readFileSync(ledger.rejectsFile!, 'utf8')).toMatch(
    /requests: expected a whole number, 0 or more/,
  )
})

test('bad lines go to the rejects file with the expected and the given value, the rest is imported', async () => {
  const { ledger, rejects, events } = await importText(
    Buffer.concat([
      Buffer.from(
        [
          '{"request":{"id":"ok"},"at":1767225600}',
          'no json',
          '[1,2]',
          '{"at":1767225600}',
          '{"request":{"id":"x"},"at":"yesterday"}',
          '{"request":{"id":"x"},"at":1767225600,"cost":"a lot"}',
          '{"request":{"id":"x"},"at":1767225600,"usage":{"prompt_tokens":-3}}',
          '{"request":{"id":"x"},"at":1767225600,"status":42}',
          '{"request":{"id":"x"},"at":12}',
          '',
          '{"request":{"id":"',
        ].join('\n'),
      ),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"},"at":1767225600}\n'),
    ]),
  )
  expect(ledger).toMatchObject({ lines: 10, accepted: 1, duplicates: 0, rejected: 9 })
  expect((await events()).map((row) => row.id)).toEqual(['ok'])
  const reasons = rejects().map((reject) => reject.reason)
  expect(reasons).toEqual(
    expect.arrayContaining([
      'line: expected JSON',
      'id: expected an id, got nothing',
      expect.stringMatching(/^time: expected a time between 2000 and 2100 .*, got "yesterday"$/),
      'credits: expected a number, got "a lot"',
      'prompt_tokens: expected a whole number, 0 or more, got "-3"',
      'status: expected an HTTP status, got "42"',
      expect.stringMatching(/^line 11: Invalid unicode/),
    ]),
  )
  expect(rejects().find((reject) => reject.reason === 'line: expected JSON')!.line).toBe('no json')
})

test('importing the same file again adds nothing, and a longer one adds its new lines, late or not', {
  tags: 'whole',
}, async () => {
  const line = (id: number, time = at) => `{"request":{"id":"${id}"},"at":${time},"cost":1}\n`
  const first = await importText(line(1) + line(2, at + 7e9) + line(2, at + 7e9))
  expect(first.ledger).toMatchObject({ lines: 3, accepted: 2, duplicates: 1, rejected: 0 })
  expect(await first.again()).toMatchObject({ accepted: 0, duplicates: 3, rejected: 0 })
  const second = await importText(line(1) + line(3, at - 9e9), 'jsonl', { source: first.source })
  expect(second.ledger).toMatchObject({ accepted: 1, duplicates: 1 })
  expect((await first.events()).length).toBe(3)
})

test('an export of an earlier build, without types and units, is read as JSON Lines', async () => {
  const { ledger, events } = await importText(
    `{"source":"a","id":"1","at_us":${at},"outcome":"ok","credits":2,"requests":1}\n`,
    'jsonl',
    { mapping: ownMapping },
  )
  expect(ledger).toMatchObject({ accepted: 1, rejected: 0 })
  expect(await events()).toMatchObject([{ id: 'a/1', credits: 2, model: null }])
})

test('a repeated id with other content is not counted twice, and is rejected', async () => {
  const { ledger, rejects, events } = await importText(
    `{"request":{"id":"a"},"at":${at},"cost":1}\n{"request":{"id":"a"},"at":${at},"cost":2}\n`,
  )
  expect(ledger).toMatchObject({ lines: 2, accepted: 1, duplicates: 0, rejected: 1 })
  expect((await events()).map((row) => row.credits)).toEqual([1])
  expect(rejects()[0]!.reason).toMatch(/seen before with other content/)
})

test('the import counts add up for any cut of a log into overlapping files', {
  tags: 'whole',
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 40 }),
      fc.nat({ max: 40 }),
      fc.nat({ max: 40 }),
      async (ids, from, to) => {
        const text = (some: readonly number[]) =>
          some.map((id) => `{"request":{"id":"${id}"},"at":${at + id}}`).join('\n')
        const first = await importText(text(ids.slice(0, Math.max(from, 1))))
        const second = await importText(text(ids.slice(Math.min(to, from))), 'jsonl', {
          source: first.source,
        })
        for (const { lines, accepted, duplicates, rejected } of [first.ledger, second.ledger]) {
          expect(lines).toBe(accepted + duplicates + rejected)
        }
        const known = new Set([
          ...ids.slice(0, Math.max(from, 1)),
          ...ids.slice(Math.min(to, from)),
        ])
        expect((await first.events()).length).toBe(known.size)
      },
    ),
    { numRuns: tries(4, 20) },
  )
})

test('no key reaches the store or the rejects file', async () => {
  const { rejects } = await importText(
    [
      `{"request":{"id":"a"},"at":"never","api_key":"very-secret-key-123"}`,
      `not json but sk-abcdefghijklmnop here`,
      '',
    ].join('\n'),
  )
  const text = JSON.stringify(rejects())
  expect(text).not.toContain('very-secret')
  expect(text).not.toContain('abcdefghijklmnop')
  expect(text).toContain('[key]')
  const events = JSON.stringify(await store.rows('SELECT * FROM usage_events'), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(events).not.toContain('sk-secret-1')
})

test('credits are stored in 64 bits until a log needs more, and all keep their values', {
  tags: 'whole',
}, async () => {
  const own = await openStore(join(folder, 'credits.duckdb'))
  const file = (name: string) => join(folder, name)
  const simple = parseMapping('fields: { id: id, time: at, credits: cost }', 'map.yaml')
  const importOf = async (name: string) => {
    const { accepted, duplicates, rejected } = await importUsageLog(own, {
      file: file(name),
      mapping: simple,
      source: name,
      format: formatOf(name)!,
      rejectsFile: `${file(name)}.rejects.jsonl`,
      nowUs: at,
    })
    return [accepted, duplicates, rejected]
  }
  const stored = async () => [
    (
      await own.rows(
        `SELECT column_type AS t FROM (DESCRIBE usage_events) WHERE column_name = 'credits'`,
      )
    )[0]!.t,
    ...(await own.rows('SELECT credits::VARCHAR AS c FROM usage ORDER BY source, id')).map(
      ({ c }) => c,
    ),
  ]
  try {
    writeFileSync(
      file('1.csv'),
      `id,at,cost\na,${at},0.001516\nb,${at},999999999.999999\nc,${at},\n`,
    )
    await own.execute(
      `COPY (SELECT 'a' AS id, ${at} AS at, 0.001516::DOUBLE AS cost) TO '${file('2.parquet')}';
       COPY (SELECT 'a' AS id, ${at} AS at, 3::UBIGINT AS cost) TO '${file('3.parquet')}';
       COPY (SELECT 'a' AS id, ${at} AS at, 5000000000000 AS cost) TO '${file('4.parquet')}';
       COPY (SELECT 'a' AS id, ${at} AS at, 0.000000000000000001::DECIMAL(38, 18) AS cost)
       TO '${file('5.parquet')}'`,
    )
    writeFileSync(file('6.csv'), `id,at,cost\na,${at},0.123456000000000001\n`)
    expect(await importOf('1.csv')).toEqual([3, 0, 0])
    expect(await importOf('2.parquet')).toEqual([1, 0, 0])
    expect(await importOf('3.parquet')).toEqual([1, 0, 0])
    const few = ['0.001516', '999999999.999999', null, '0.001516', '3.000000']
    expect(await stored()).toEqual(['DECIMAL(18,6)', ...few])
    for (const name of ['4.parquet', '5.parquet', '6.csv']) {
      expect(await importOf(name)).toEqual([1, 0, 0])
    }
    expect(await stored()).toEqual([
      'DECIMAL(38,18)',
      ...few.map((each) => (each === null ? null : `${each}${'0'.repeat(12)}`)),
      '5000000000000.000000000000000000',
      '0.000000000000000001',
      '0.123456000000000001',
    ])
    for (const name of ['1.csv', '2.parquet', '3.parquet', '4.parquet', '5.parquet', '6.csv']) {
      expect(await importOf(name)).toEqual([0, name === '1.csv' ? 3 : 1, 0])
    }
  } finally {
    own.close()
  }
})

test('credits from any text equal a cast to 18 decimals', async () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 12 })
  const decimal = fc
    .tuple(digits, fc.option(digits), fc.option(fc.integer({ min: -12, max: 3 })))
    .map(([whole, part, power]) => `${whole}${part ? `.${part}` : ''}${power ? `e${power}` : ''}`)
  const texts = [
    ...fc.sample(decimal, { numRuns: 300, seed: 15 }),
    ...[
      '0.000001516',
      '0.0000005',
      '1.516e-6',
      '1234567.1234567',
      '9007199254.1234',
      '12345678.0000001',
    ],
  ]
  const { source } = await importText(
    texts.map((cost, id) => JSON.stringify({ request: { id }, at, cost })).join('\n'),
  )
  const rows = await store.rows(
    `SELECT id::INTEGER AS id, credits::VARCHAR AS credits FROM usage_events WHERE source = $1 ORDER BY id::INTEGER`,
    [source],
  )
  expect(rows.length).toBeGreaterThan(250)
  const cast = await store.rows<{ c: string }>(
    `SELECT TRY_CAST(t AS DECIMAL(38, 18))::VARCHAR AS c FROM (SELECT unnest([${texts.map((each) => `'${each}'`).join()}]) AS t)`,
  )
  expect(rows.map(({ credits }) => credits)).toEqual(rows.map(({ id }) => cast[id as number]!.c))
})

describe('other formats', () => {
  const flat: Mapping = parseMapping(
    'fields: { id: id, time: { column: when, timezone: America/New_York }, credits: cost, model: model }',
    'map.yaml',
  )

  test('CSV with quotes, line breaks in cells, broken rows and gzip', {
    tags: 'whole',
  }, async () => {
    const csv =
      'id,when,cost,model\na,2026-11-01 00:30:00,1,"x, ""y""\nz"\nb,2026-11-01T05:30:00Z,,\nshort,1\nc,2026-11-01T05:30:00Z,1,m,extra\n'
    for (const [extension, bytes] of [
      ['csv', Buffer.from(csv)],
      ['csv.gz', gzipSync(csv)],
      ['csv', Buffer.from(csv.replaceAll('\n', '\r\n').replace('""\r\n', '""\n'))],
    ] as const) {
      const { ledger, events, rejects } = await importText(bytes, extension, { mapping: flat })
      expect(ledger).toMatchObject({ lines: 4, accepted: 2, rejected: 2 })
      expect(await events()).toMatchObject([
        { id: 'a', at_us: Date.UTC(2026, 10, 1, 4, 30) * 1000, model: 'x, "y"\nz', credits: 1 },
        { id: 'b', at_us: Date.UTC(2026, 10, 1, 5, 30) * 1000, model: null, credits: null },
      ])
      expect(rejects().map((reject) => reject.line)).toEqual([
        'short,1',
        'c,2026-11-01T05:30:00Z,1,m,extra',
      ])
    }
  })

  test('Parquet with its own types', async () => {
    const path = join(folder, 'in.parquet')
    await store.execute(
      `COPY (SELECT 'p' AS id, TIMESTAMP '2026-11-01 00:30:00' AS "when", 1.5 AS cost, 'm' AS model
             UNION ALL SELECT 'q', TIMESTAMP '2026-11-02 00:30:00', NULL, NULL)
       TO '${path}' (FORMAT parquet)`,
    )
    const { events, ledger } = await importText(readFileSync(path), 'parquet', { mapping: flat })
    expect(ledger).toMatchObject({ accepted: 2 })
    expect(await events()).toMatchObject([
      { id: 'p', at_us: Date.UTC(2026, 10, 1, 4, 30) * 1000, credits: 1.5 },
      { id: 'q', at_us: Date.UTC(2026, 10, 2, 5, 30) * 1000, credits: null },
    ])
  })

  test('numbers of a Parquet file are imported like those of a CSV file', {
    tags: 'whole',
  }, async () => {
    const own = parseMapping(
      `fields: { id: id, time: at, status: status, credits: cost, promptTokens: tokens, requests: n,
         ttft: { column: ttft, unit: us }, latency: { column: ms, unit: ms } }`,
      'map.yaml',
    )
    const path = join(folder, 'numbers.parquet')
    const rows = `(VALUES
      ('a', ${at}, 200::SMALLINT, 1.25::DECIMAL(4, 2), 10::UBIGINT, 4::INTEGER, 250000::BIGINT, 1500::BIGINT),
      ('b', ${at}, NULL, NULL, NULL, NULL, NULL, NULL),
      ('c', ${at}, 42, 1, 1, 1, 1, 1), ('d', ${at}, 200, -1, 1, 1, 1, 1), ('e', ${at}, 200, 1, 1, -1, 1, 1),
      ('f', ${at}, 200, 1, 1, 1, -1, 1), ('g', ${at}, 200, 1, 1, 1, 1, 3000000000),
      ('h', ${at}, 200, 1, 18446744073709551615, 1, 1, 1))
      AS t(id, "at", status, cost, tokens, n, ttft, ms)`
    await store.execute(`COPY (FROM ${rows}) TO '${path}' (FORMAT parquet)`)
    await store.execute(`COPY (FROM ${rows}) TO '${path}.csv' (HEADER true)`)
    const [parquet, csv] = [
      await importText(readFileSync(path), 'parquet', { mapping: own }),
      await importText(readFileSync(`${path}.csv`), 'csv', { mapping: own }),
    ]
    const reasons = parquet.rejects().map(({ reason }) => reason)
    expect(reasons).toEqual(csv.rejects().map(({ reason }) => reason))
    expect(reasons.map((reason) => reason.replace(/: .* got/, ''))).toEqual([
      'status "42"',
      'requests "-1"',
      'prompt_tokens "18446744073709551615"',
    ])
    for (const { ledger, source } of [parquet, csv]) {
      expect(ledger).toMatchObject({ lines: 8, accepted: 5, rejected: 3 })
      expect(
        await store.rows(
          `SELECT status, credits, prompt_tokens, requests, ttft_us, latency_us FROM usage_events
           WHERE source = $1 AND id < 'd' ORDER BY id`,
          [source],
        ),
      ).toEqual([
        {
          status: 200,
          credits: 1.25,
          prompt_tokens: 10,
          requests: 4,
          ttft_us: 250_000,
          latency_us: 1_500_000,
        },
        {
          status: null,
          credits: null,
          prompt_tokens: null,
          requests: 1,
          ttft_us: null,
          latency_us: null,
        },
      ])
    }
  })

  test('a missing mapped column is reported with the existing columns', async () => {
    await expect(importText('id,time\n1,2\n', 'csv', { mapping: flat })).rejects.toThrow(
      /has no column "when", "model", "cost"; it has id, time/,
    )
  })
})

test('every fault of a mapping is reported at once', () => {
  expect(() => parseMapping('fields: { idd: x, time: { column: t, unit: h } }', 'm.yaml')).toThrow(
    /m\.yaml is no mapping:[\s\S]*idd[\s\S]*fields\.time/,
  )
  expect(() =>
    parseMapping('fields: { id: a, time: { column: t, timezone: Mars/One } }', 'm.yaml'),
  ).toThrow(/Mars\/One/)
  expect(() => parseMapping('a: [', 'm.yaml')).toThrow(/m\.yaml is not YAML/)
  expect(ownMapping.fields.id).toEqual(['source', 'id'])
})
