import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { fingerprintOf } from '../../src/attempt/fingerprint.ts'
import { openExistingStore } from '../../src/store/session/open.ts'
import { openSoon } from '../../src/store/session/open-soon.ts'
import { main } from '../e2e/command.ts'
import { settingsText } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-serve-'))
const run = promisify(execFile)
const env = { ...process.env, USAGE_SECRET: 'a secret for this test, with 32 bytes and more' }
const apiKey = 'sk-poll-key'
const db = join(folder, 'usage.duckdb')
const settings = join(folder, 'settings.yaml')
let server: ChildProcess | undefined
afterAll(() => {
  server?.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const assay = (...words: string[]) =>
  run(process.execPath, [main, ...words], { env: { ...env, ASSAY_API_KEY: apiKey } })

function logOf(at: number, lines: number): string {
  const file = join(folder, `log${at}.jsonl`)
  const rows = Array.from({ length: lines }, (_, line) =>
    JSON.stringify({
      ...{ id: `r${at}-${line}`, at_us: Date.UTC(2026, 10, 3, at, 0, line % 3600) * 1000 },
      ...{
        model: 'm',
        endpoint: 'chat',
        key_fp: fingerprintOf(apiKey).slice(0, 12),
        account: line % 2 === 0 ? 'a' : 'b',
      },
      ...{
        ...{
          source: 'log',
          type: 'usage',
          unit: 'credits',
          error_code: null,
          cached_tokens: null,
          ttft_us: null,
        },
        latency_us: 9000,
        outcome: 'ok',
        status: 200,
        credits: 1,
        prompt_tokens: 5,
        completion_tokens: 7,
        requests: 1,
      },
    }),
  )
  writeFileSync(file, `${rows.join('\n')}\n`)
  return file
}

test('usage is served while imports and polls write the same store', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  writeFileSync(settings, settingsText.replace(/^keyNames.*$/m, ''))
  await assay('import', logOf(0, 1000), '--map', 'assay', '--db', db)
  server = spawn(
    process.execPath,
    [
      main,
      'usage',
      'serve',
      '--db',
      db,
      '--settings',
      settings,
      '--listen',
      '127.0.0.1:0',
      '--every',
      '1',
    ],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let log = ''
  server.stderr!.on('data', (text) => {
    log += text
  })
  const [line] = await once(server.stdout!, 'data')
  const url = String(line).trim()
  const token = async () =>
    (await assay('usage', 'token', '--account', 'a', '--settings', settings)).stdout.trim()
  const used = async () => {
    const answer = await fetch(`${url}/v1/usage/summary?from=2026-11-03&to=2026-11-04`, {
      headers: { authorization: `Bearer ${await token()}` },
    })
    const { requests } = (await answer.json()) as { requests: { value: string } }
    return Number(requests.value)
  }
  expect(await used()).toBe(500)
  // A service whose balance is polled.
  const service = createServer((_, response) =>
    response.end('{"total_consumed": 10, "remaining": 90}'),
  )
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const watch = assay(
    'usage',
    'watch',
    '--base-url',
    base,
    '--db',
    db,
    '--every',
    '1',
    '--count',
    '12',
  )
  for (const at of [1, 2, 3]) {
    const imported = await assay('import', logOf(at, 1000), '--map', 'assay', '--db', db)
    expect(imported.stdout).toContain('1,000 accepted')
    const startMs = Date.now()
    while ((await used()) !== 500 * (at + 1)) expect(Date.now() - startMs).toBeLessThan(50_000)
  }
  const polls = (await watch).stdout.split('\n').filter((line) => line.startsWith('20'))
  expect(polls).toHaveLength(12)
  // A poll that found the store held waited for the next, or for the end.
  const store = await openSoon(() => openExistingStore(db), 30_000)
  expect(await store.rows('SELECT count(*)::INTEGER AS n FROM usage_polls')).toEqual([{ n: 12 }])
  store.close()
  service.close()
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  server.kill('SIGTERM')
  const [code] = await once(server, 'exit')
  expect(code).toBe(130)
  expect(log).toMatch(/\/v1\/usage\/summary 200 \d+ms [0-9a-f]{8}\n/)
  expect(log).not.toContain('2026-11-03')
})

test('wrong settings, addresses and tokens are errors before anything is served', async () => {
  writeFileSync(settings, settingsText.replace(/^keyNames.*$/m, ''))
  const fails = async (...words: string[]) => {
    const error = await assay('usage', ...words).then(
      () => null,
      (each: { code: number; stderr: string }) => each,
    )
    expect(error?.code).toBe(2)
    return error!.stderr
  }
  expect(await fails('serve', '--db', db)).toContain('--settings is required')
  expect(await fails('serve', '--db', db, '--settings', settings, '--listen', 'here')).toContain(
    'expected host:port',
  )
  expect(await fails('token', '--settings', settings)).toContain('--account is required')
  expect(await fails('token', '--account', 'a', '--settings', settings, '--for', '25h')).toContain(
    'at most 24h',
  )
  writeFileSync(settings, `${settingsText}accent: '#ffff00'\n`)
  expect(await fails('check', '--settings', settings)).toContain(
    '#ffff00 has a contrast of 1.07 on white',
  )
}, 60_000)
