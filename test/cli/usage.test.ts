import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { usageShape } from '../../src/report/usage/json/shape.ts'
import { startService } from '../../src/service/start.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { openStore } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'
import { enterEvents, utc } from '../report/usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-usage-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))
const db = join(folder, 'a.duckdb')

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A real process, started as a user does. */
function assay(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', ...env },
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (text) => {
      out += text
    })
    child.stderr.on('data', (text) => {
      err += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

const day = (n: number, hour: number) => new Date(Date.UTC(2026, 9, n, hour)).toISOString()

describe('from a log to the usage page', () => {
  test('keys with names in the log have these names on the terminal and on the page', {
    tags: 'whole',
  }, async () => {
    const names = ['billing-bot', 'web team']
    const rows = names.map((who, at) => `r${at},${day(1, at)},svc-k2,${who},2`)
    writeFileSync(join(folder, 'named.csv'), ['id,at,model,who,credits', ...rows, ''].join('\n'))
    writeFileSync(
      join(folder, 'named.yaml'),
      'source: named\nfields: { id: id, time: at, model: model, keyFp: who, credits: credits }\n',
    )
    const named = ['--db', join(folder, 'named.duckdb')]
    await assay(['import', 'named.csv', '--map', 'named.yaml', ...named])
    const { out } = await assay(['usage', ...named, '--by', 'key'])
    expect(out).toMatch(/billing-bot +1 +2\b.*\n *web team +1 +2\b/)
    await assay(['report', 'usage', ...named, '--by', 'key', '--out', 'named.html'])
    const page = readFileSync(join(folder, 'named.html'), 'utf8')
    for (const name of names)
      expect(page).toMatch(new RegExp(`<th scope="row"[^>]*>(<[^>]*>)*${name}`))
  })

  test('import, usage and export agree, and a second import changes nothing', {
    tags: 'whole',
    timeout: 120_000,
  }, async () => {
    const log = join(folder, 'log.jsonl')
    const lines = Array.from({ length: 14 * 24 }, (_, hour) =>
      JSON.stringify({
        request: `r${hour}`,
        when: day(1, hour),
        model: 'svc-k2',
        key: 'sk-a-real-secret-key',
        cost: 2,
        in: 10,
        out: 30,
      }),
    )
    writeFileSync(log, `${lines.join('\n')}\nbroken\n`)
    writeFileSync(
      join(folder, 'map.yaml'),
      'source: billing\nfields: { id: request, time: when, model: model, key: key, credits: cost, promptTokens: in, completionTokens: out }\n',
    )
    writeFileSync(
      join(folder, 'grants.yaml'),
      '- { name: Standard, credits: 900, expires: 2026-10-20 }\n- { name: Starter, credits: 500 }\n',
    )
    const imported = await assay(['import', 'log.jsonl', '--map', 'map.yaml', '--db', db])
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(imported.out).toContain('337 lines = 336 accepted + 0 known + 1 rejected')
    expect(readFileSync(`${log}.rejects.jsonl`, 'utf8')).toContain('expected JSON')
    const again = await assay(['import', 'log.jsonl', '--map', 'map.yaml', '--db', db, '--json'])
    expect(JSON.parse(again.out)).toMatchObject({ accepted: 0, duplicates: 336, rejected: 1 })

    const usage = await assay(['usage', '--db', db, '--grants', 'grants.yaml'])
    expect(usage).toMatchObject({ code: 0, err: '' })
    expect(usage.out).toMatch(/credits used +672/)
    expect(usage.out).toMatch(/tokens per success +40/)
    expect(usage.out).toMatch(/2026-10-13 +24 +48/)
    expect(usage.out).toMatch(/48 credits a day/)
    expect(usage.out).toMatch(/expires .* of Standard unused on 2026-10-20/)
    // The next command is whole, so that it can be copied.
    const printed = usage.out.split('\n').filter((line) => !line.startsWith('Next: '))
    expect(Math.max(...printed.map((line) => line.length))).toBeLessThanOrEqual(80)

    const exported = await assay(['export', 'usage', '--out', 'usage.parquet', '--db', db])
    expect(exported.out).toContain('336 rows of usage')
    const other = join(folder, 'b.duckdb')
    const back = await assay(['import', 'usage.parquet', '--map', 'assay', '--db', other])
    expect(back.out).toContain('336 accepted')
    const first = await assay(['usage', '--db', db, '--json', '--timezone', 'Asia/Kolkata'])
    const second = await assay(['usage', '--db', other, '--json', '--timezone', 'Asia/Kolkata'])
    const cards = (ended: Ended) => JSON.parse(ended.out).cards
    expect(cards(second)).toEqual(cards(first))
    for (const file of [db, other, join(folder, 'usage.parquet')]) {
      expect(readFileSync(file).includes('sk-a-real-secret-key')).toBe(false)
    }
  })

  test('with settings, usage says what an account holds, in its zone', {
    tags: 'whole',
    timeout: 120_000,
  }, async () => {
    const own = join(folder, 'held.duckdb')
    const store = await openStore(own)
    const atUs = utc(2026, 10, 2, 9)
    const events = [
      { account: 'a', model: 'mini', credits: '30.5' },
      { account: 'a', model: 'large', credits: '10' },
      { account: 'b', model: 'mini', credits: '7' },
    ]
    await enterEvents(
      store,
      events.map((event) => ({ ...event, atUs })),
    )
    store.close()
    writeFileSync(
      join(folder, 'page.yaml'),
      `product: Text API
timezone: Asia/Kolkata
tokens: { algorithm: HS256, secretEnv: USAGE_SECRET }
accounts:
  a: { grants: [{ name: Pack, credits: 100, from: 2026-10-01 }, { name: Trial, credits: 20, models: [large] }] }
`,
    )
    const words = ['usage', '--db', own, '--settings', 'page.yaml']
    const json = await assay([...words, '--account', 'a', '--json'])
    expect(json).toMatchObject({ code: 0, err: '' })
    const { credits, scope } = JSON.parse(json.out)
    expect(scope.timezone).toBe('Asia/Kolkata')
    expect(credits).toMatchObject({ held: '120', used: '40.5', remaining: '79.5', uncovered: '0' })
    expect(credits.grants[1]).toEqual({
      ...{ name: 'Trial', credits: '20', used: '10', remaining: '10', models: ['large'] },
      ...{ fromUs: null, expiresUs: null },
    })
    const text = await assay([...words, '--account', 'a', '--timezone', 'UTC'])
    expect(text.out).toContain('held       120 credits: 40.5 used, 79.5 left.')
    expect(text.out).toContain('100 of Pack: 30.5 used, 69.5 left')
    expect(text.out).toContain('20 of Trial for large: 10 used, 10 left')
    expect(text.out).toContain('(UTC)')
    for (const [more, message] of [
      [[], '--settings needs --account'],
      [['--account', 'a', '--key', 'k1'], '--settings with --key'],
      [['--account', 'a', '--grants', 'page.yaml'], '--grants with --settings'],
    ] as const)
      expect(await assay([...words, ...more])).toMatchObject({
        ...{ code: 2, err: expect.stringContaining(message) },
      })
  })

  test('with settings, usage as JSON has the budgets of the account in their present periods', {
    tags: 'whole',
    timeout: 120_000,
  }, async () => {
    const own = join(folder, 'budgets.duckdb')
    const store = await openStore(own)
    // Of the command's own clock, and of no other year than it.
    const year = new Date().getUTCFullYear()
    const atUs = Math.max(Date.UTC(year, 0, 1), Date.now() - 60_000) * 1000
    await enterEvents(store, [
      { atUs, account: 'a', keyFp: '3f2a91c04d7e', unit: 'EUR', credits: '30.50' },
      { atUs, account: 'a', keyFp: '9b00c4d2e1f7', unit: 'EUR', credits: '10' },
      { atUs, account: 'b', keyFp: '9b00c4d2e1f7', unit: 'EUR', credits: '7' },
    ])
    store.close()
    writeFileSync(
      join(folder, 'budgets.yaml'),
      `product: Text API
tokens: { algorithm: HS256, secretEnv: USAGE_SECRET }
keyNames: { 3f2a91c04d7e: production }
accounts:
  a: { budget: [{ amount: '100', unit: EUR, period: year }, { amount: '20', unit: EUR, period: year, key: production }] }
  b: {}
`,
    )
    const budgetsOf = async (...more: string[]) => {
      const ended = await assay(['usage', '--db', own, '--json', ...more])
      expect(ended).toMatchObject({ code: 0, err: '' })
      const printed: unknown = JSON.parse(ended.out)
      expect(usageShape.safeParse(printed).error).toBeUndefined()
      return (printed as { budgets: unknown }).budgets
    }
    const [fromUs, toUs] = [year, year + 1].map((each) => Date.UTC(each, 0, 1) * 1000)
    const all = { unit: 'EUR', period: 'year', tag: null, fromUs, toUs, crossesUs: null }
    expect(await budgetsOf('--settings', 'budgets.yaml', '--account', 'a')).toEqual([
      { ...all, key: null, amount: '100', used: '40.5', share: 0.405 },
      { ...all, key: 'production', amount: '20', used: '30.5', share: 1.525 },
    ])
    expect(await budgetsOf('--settings', 'budgets.yaml', '--account', 'b')).toEqual([])
    expect(await budgetsOf()).toBe(null)
  })

  test('with settings, usage as JSON says what came after a month was closed, and when', {
    tags: 'whole',
    timeout: 120_000,
  }, async () => {
    const own = join(folder, 'closed.duckdb')
    const store = await openStore(own)
    const event = { account: 'a', atUs: utc(2026, 1, 20) }
    await enterEvents(store, [{ ...event, id: 'a1', credits: 10 }])
    const file = join(folder, 'january.parquet')
    await exportTable(store, { what: 'quarters', file, format: 'parquet' })
    await enterEvents(store, [{ ...event, id: 'a2', credits: '1.5' }])
    await store.execute(`UPDATE usage_events SET ingested_us = ${utc(2026, 2, 12)} WHERE id = 'a2'`)
    store.close()
    writeFileSync(
      join(folder, 'closed.yaml'),
      `product: Text API
tokens: { algorithm: HS256, secretEnv: USAGE_SECRET }
closed: [{ month: 2026-01, file: january.parquet }]
accounts: { a: {} }
`,
    )
    const closingsOf = async (...more: string[]) => {
      const { out } = await assay(['usage', '--db', own, '--json', ...more])
      const { closings, totals } = usageShape.parse(JSON.parse(out))
      return [closings, totals.money[0]?.used]
    }
    // The month has it here, and a bill of the later month.
    expect(await closingsOf('--settings', 'closed.yaml', '--account', 'a')).toEqual([
      [{ month: '2026-01', unit: 'credits', amount: '1.5', atUs: utc(2026, 2, 12) }],
      '11.5',
    ])
    expect(await closingsOf()).toEqual([null, '11.5'])
  })

  test('usage errors are reported in one sentence, with exit code 2', async () => {
    const strange = join(folder, 'strange.csv')
    writeFileSync(strange, 'one,two\n1,2\n')
    const cases = [
      [['import', strange, '--db', db], /needs --map FILE/],
      [['usage', '--db', join(folder, 'empty.duckdb')], /There is no store at/],
      [['import', 'absent.jsonl', '--db', db], /absent.jsonl: no such file/],
      [['usage', 'watch', '--base-url', 'http://127.0.0.1:1'], /ASSAY_API_KEY is not set/],
      [
        ['usage', 'watch', '--base-url', 'ftp://me:secret@127.0.0.1'],
        /expected the address of a service.*got ftp:/,
        'sk-1',
      ],
      [
        ['usage', 'watch', '--base-url', 'http://127.0.0.1:1'],
        /is not valid in a header/,
        'two\nlines',
      ],
    ] as const
    await Promise.all(
      cases.map(async ([args, summary, key = '']) => {
        const { code, err } = await assay(args, { ASSAY_API_KEY: key })
        expect(err).not.toContain('secret')
        expect(err).toMatch(summary)
        expect(err).not.toMatch(/\n\s+at /)
        expect(code).toBe(2)
      }),
    )
  })
})

test("watch keeps the service's own figures, without the key", { tags: 'whole' }, async () => {
  const service = await startService({ seed: 1 })
  const { apiKey, balance } = service.keys[0]!
  const watched = join(folder, 'watched.duckdb')
  try {
    const poll = () =>
      assay(
        [
          'usage',
          'watch',
          '--base-url',
          service.baseUrl,
          '--db',
          watched,
          '--count',
          '2',
          '--every',
          '0.05',
          '--json',
        ],
        { ASSAY_API_KEY: apiKey },
      )
    const { code, out, err } = await poll()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({ status: 200, consumed: 0, remaining: balance, kept: true })
  } finally {
    await service.close()
  }
  expect(readFileSync(watched).includes(apiKey)).toBe(false)
  const usage = await assay(['usage', '--db', watched])
  expect(usage).toMatchObject({ code: 0, err: '' })
  expect(usage.out).toMatch(new RegExp(`balance +${balance.toLocaleString('en-US')} credits;`))
  expect(usage.out).toMatch(/requests +-/)
  const page = await assay(['report', 'usage', '--db', watched, '--out', 'watched.html'])
  expect(page).toMatchObject({ code: 0, err: '' })
  expect(readFileSync(join(folder, 'watched.html'), 'utf8')).toContain('from polls of the balance')
})

test('watch polls by the contract, and ends with 4 if no poll returned a balance', {
  tags: 'whole',
}, async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-key']}`)
    response.statusCode = request.headers['x-key'] === 'sk-right' ? 200 : 401
    response.end('{"remaining": 7}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const contract = join(folder, 'other.yaml')
  writeFileSync(
    contract,
    'name: other\npaths: { credits: /balance }\nauth: { chat: { name: x-key, prefix: "" }, messages: { name: x-key, prefix: "" } }\n',
  )
  const watch = (key: string, at = port) =>
    assay(
      ['usage', 'watch', '--base-url', `http://127.0.0.1:${at}`, '--contract', contract].concat([
        '--db',
        join(folder, 'other.duckdb'),
        '--count',
        '2',
        '--every',
        '0.01',
      ]),
      { ASSAY_API_KEY: key },
    )
  try {
    const right = await watch('sk-right')
    expect(right).toMatchObject({ code: 0, err: '' })
    expect(right.out).toMatch(/remaining 7\n.*remaining 7\n/)
    expect(asked).toEqual(['/balance sk-right', '/balance sk-right'])
    const wrong = await watch('sk-wrong')
    expect(wrong.err).toMatch(/^No poll of .* brought a balance: .*401\. Check ASSAY_API_KEY\.\n$/)
    expect(wrong.code).toBe(4)
  } finally {
    server.close()
  }
  const gone = await watch('sk-right')
  expect(gone.err).toMatch(
    /^No poll of .* brought a balance: nothing answered\. Check --base-url\.\n$/,
  )
  expect(gone.code).toBe(4)
})
