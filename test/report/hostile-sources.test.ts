import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { makeReport, readUsageOf } from '../../src/report/page.ts'
import { textFormats } from '../../src/report/pages.ts'
import { makeText } from '../../src/report/text.ts'
import { terminalUsage } from '../../src/report/usage/terminal.ts'
import { response, scriptedServer } from '../client/scripted-server.ts'
import { main } from '../e2e/command.ts'
import { openStore } from '../store/opened.ts'
import { expectNoFormula, expectPlainHtml, expectPlainMarkdown, expectQuiet } from './harmless.ts'
import { hostileTexts, megabyte } from './hostile.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sources-'))
afterAll(() => rmSync(folder, { recursive: true }))
const db = join(folder, 'a.duckdb')

/** The output of the command, on both streams. */
function assay(...args: readonly string[]): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [main, ...args, '--db', db], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', ASSAY_API_KEY: 'sk-for-a-hostile-service' },
    })
    let told = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        told += text
      })
    }
    child.on('error', failed)
    child.on('close', () => done(told))
  })
}

/** The pages of these runs and of all usage, in every format. */
async function expectHarmlessStore(runIds: readonly string[]): Promise<void> {
  const store = await openStore(db)
  const options = {
    store,
    contract: defaultContract,
    timeZone: 'UTC',
    nowUs: Date.UTC(2026, 11, 1) * 1000,
  }
  try {
    for (const about of [
      { page: 'run', runIds },
      { page: 'usage', runIds: [] },
    ] as const) {
      const { page } = about
      const { html, warnings } = await makeReport({ ...options, ...about })
      expectPlainHtml(html, page)
      expect(warnings).toEqual([])
      const [md, json, csv] = await Promise.all(
        textFormats.map((format) => makeText({ ...options, ...about }, format)),
      )
      expectPlainMarkdown(md!, page)
      expectQuiet(json!, page, 10_000_000)
      expectNoFormula(csv!, page)
    }
    expectQuiet(
      terminalUsage(await readUsageOf(store, { ...options, page: 'usage', runIds: [] })),
      'usage',
    )
  } finally {
    store.close()
  }
}

const textOf = (n: number) => hostileTexts[n % hostileTexts.length]!
/** As a header line can carry it: without line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no header can carry those
const headerOf = (n: number) => textOf(n).replace(/[\r\n\u0000\u2028]/g, '')

function answer(path: string, n: number): string {
  const json = { 'Content-Type': 'application/json' }
  if (path.includes('credits')) {
    const kept = Object.fromEntries(hostileTexts.map((text) => [text, { [text]: text }]))
    const grants = hostileTexts.map((text) => ({ name: text, credits: 100, expires_at: text }))
    return response(
      200,
      json,
      JSON.stringify({ ...kept, total_consumed: n, remaining: 500, grants, megabyte }),
    )
  }
  const headers = {
    ...json,
    'X-Credits-Remaining': headerOf(n),
    'X-RateLimit-Limit': headerOf(n + 1),
    'X-RateLimit-Reset': headerOf(n + 2),
    'Retry-After': headerOf(n + 3),
  }
  if (n % 3 === 0) {
    const error = { type: textOf(n), code: textOf(n + 1), message: megabyte, param: textOf(n + 2) }
    return response([400, 429, 500][(n / 3) % 3]!, headers, JSON.stringify({ error }))
  }
  return response(
    200,
    headers,
    JSON.stringify({
      id: textOf(n),
      object: textOf(n + 1),
      model: textOf(n + 2),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: textOf(n) },
          finish_reason: textOf(n + 3),
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }),
  )
}

test("hostile texts in every field of a service's answers stay harmless in all output", {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const server = await scriptedServer((socket, request, n) => {
    socket.write(answer(request.split(' ')[1] ?? '', n))
  })
  writeFileSync(
    join(folder, 'hostile.yaml'),
    `name: hostile\nquestion: x\nmodel: svc-k2\ncapture: all\nsteps:\n  chat: { endpoint: chat, max_tokens: 8 }\nphases:\n  - { name: p, load: poisson, rate: 40/s, duration: 1500ms }\n`,
  )
  expectQuiet(await assay('run', 'hostile.yaml', '--base-url', server.origin), 'run')
  const watched = await assay(
    'usage',
    'watch',
    '--base-url',
    server.origin,
    '--count',
    '2',
    '--every',
    '0.1',
  )
  expectQuiet(watched, 'watch')
  // A megabyte next to them does not hide the totals.
  expect(watched).toMatch(/consumed \d+, remaining 500/)
  expectQuiet(await assay('audit'), 'audit')
  expectQuiet(await assay('runs'), 'runs')
  await expectHarmlessStore([])
})

test('hostile texts in logs and records of other tools stay harmless in all output', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const lines = hostileTexts.map((text, n) => ({
    [text]: text,
    id: `${text}${n}`,
    at: '2026-11-01T10:00:00Z',
    model: text,
    endpoint: text,
    key: text,
    account: text,
    credits: 1,
    status: 500,
    error: n === 0 ? megabyte : text,
  }))
  const jsonl = [...lines.map((line) => JSON.stringify(line)), `{"id": "${'\u001b[2J'}`].join('\n')
  writeFileSync(join(folder, 'log.jsonl'), `${jsonl}\n`)
  const cell = (value: unknown) => `"${String(value).replaceAll('"', '""')}"`
  const names = [
    'id',
    'at',
    'model',
    'endpoint',
    'key',
    'account',
    'credits',
    'status',
    'error',
  ] as const
  const csv = [
    names,
    ...lines.map((line) => names.map((name) => (line as Record<string, unknown>)[name])),
  ]
  writeFileSync(
    join(folder, 'log.csv'),
    `${csv.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`,
  )
  writeFileSync(
    join(folder, 'map.yaml'),
    'fields: { id: id, time: at, model: model, endpoint: endpoint, keyFp: key, account: account, credits: credits, status: status, errorCode: error }\n',
  )
  const nanosecond = 1_793_000_000_000_000_000n
  const aiperf = hostileTexts.map(
    (text, n) =>
      `{"metadata":{"request_start_ns":${nanosecond + BigInt(n) * 1_000_000n},"request_end_ns":${nanosecond + BigInt(n + 9) * 1_000_000n},"x_request_id":${JSON.stringify(text)}},"metrics":{"request_latency":{"value":9,"unit":"ms"}},"error":${n % 2 ? JSON.stringify({ code: 500, type: text, message: n === 1 ? megabyte : text }) : 'null'}}`,
  )
  writeFileSync(join(folder, 'profile_export.jsonl'), `${aiperf.join('\n')}\n`)
  writeFileSync(
    join(folder, 'vllm.json'),
    JSON.stringify({
      date: '20261101-100000',
      duration: 1,
      backend: textOf(0),
      model_id: textOf(1),
      tokenizer_id: textOf(2),
      input_lens: [1, 1, 1],
      output_lens: [2, 0, 0],
      ttfts: [0.01, 0, 0],
      itls: [[0.01], [], []],
      errors: ['', megabyte, textOf(3)],
      start_times: [0, 0.1, 0.2],
    }),
  )
  expectQuiet(await assay('import', 'log.jsonl', 'log.csv', '--map', 'map.yaml'), 'import')
  const records = await assay(
    'import',
    'profile_export.jsonl',
    'vllm.json',
    '--model',
    textOf(4).replaceAll('\u0000', ''),
  )
  expectQuiet(records, 'records')
  expect(records).toMatch(/profile_export/)
  const store = await openStore(db)
  const rows = await store.rows<{ run_id: string }>(
    "SELECT run_id FROM runs WHERE kind = 'import' OR scenario LIKE '%aiperf%' OR scenario LIKE '%vllm%'",
  )
  store.close()
  expect(rows.length).toBe(2)
  expectQuiet(await assay('compare', rows[0]!.run_id, rows[1]!.run_id), 'compare')
  await expectHarmlessStore(rows.map((row) => row.run_id))
})
