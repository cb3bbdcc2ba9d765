import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'
import { startTarget } from '../run/target.ts'
import { inFrontOf } from '../service/upstream/relaying.ts'
import { encodings } from '../user/secrets/encodings.ts'

const keys = ['sk-live-Zx8q-R0vT5wY2mN7pL4', 'sk-test-9GhK3bVc1XsW8nQe5Rt2']
const encode = Object.values(encodings)

interface Written {
  /** Pieces of which each stretch has at least one: a tenth as many, so bytes are searched quickly. */
  readonly pieces: readonly string[]
  /** Every stretch that shows eight letters of the key. */
  readonly stretches: readonly string[]
}

/** Each key in each encoding of the whole key, in small letters. */
const written: readonly Written[] = keys.flatMap((key) =>
  [key, ...encode.map((each) => each(key))].map((text) => {
    const length = Math.ceil((8 * text.length) / key.length)
    const half = Math.floor((length + 1) / 2)
    const cut = (size: number, step: number) =>
      Array.from({ length: Math.max(0, Math.floor((text.length - size) / step) + 1) }, (_, at) =>
        text.slice(at * step, at * step + size).toLowerCase(),
      )
    return { pieces: cut(half, half), stretches: cut(length, 1) }
  }),
)

/** The stretches of keys in some bytes, as UTF-8 and as Latin-1. */
function found(bytes: Buffer): readonly string[] {
  const texts = [bytes.toString('utf8'), bytes.toString('latin1')].map((each) => each.toLowerCase())
  const isIn = (each: string) => texts.some((of) => of.includes(each))
  return written
    .filter(({ pieces }) => pieces.some(isIn))
    .flatMap(({ stretches }) => stretches.filter(isIn))
}

test('the search finds a stretch of eight letters wherever it begins', () => {
  for (const { stretches } of written) {
    for (const each of stretches) expect(found(Buffer.from(`0${each}0`))).toContain(each)
  }
})

test('no eight letters of a key are in any byte that a run, its pages, exports and terminal leave', {
  tags: 'whole',
  timeout: 300_000,
}, async () => {
  expect(encode.length).toBeGreaterThanOrEqual(25)
  const folder = mkdtempSync(join(tmpdir(), 'assay-echo-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let sent = 0
  const target = await startTarget((_, response) => {
    const nth = sent++
    const echo = keys.map((key) => encode[nth % encode.length]!(key)).join(' ')
    const isOk = nth % 2 === 0
    response.writeHead(isOk ? 200 : 400, {
      'content-type': 'application/json',
      'x-echo': encodeURIComponent(echo),
    })
    const message = { role: 'assistant', content: echo }
    const choices = [{ index: 0, message, finish_reason: echo }]
    const error = { message: `bad ${echo}`, code: echo, type: echo }
    response.end(JSON.stringify({ id: echo, model: echo, ...(isOk ? { choices } : { error }) }))
  })
  onTestFinished(() => target.close())
  writeFileSync(
    join(folder, 'echo.yaml'),
    `name: echo
question: What does it echo?
model: svc-k2
capture: all
keys: { one: { env: ONE }, two: { env: TWO } }
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: constant, rate: 50/s, max_requests: ${4 * encode.length} }]
`,
  )
  const commands = [
    ['run', 'echo.yaml', '--base-url', target.baseUrl, '--run-id', 'echo'],
    ['runs'],
    ['summary', 'echo'],
    ['audit', 'echo', '--format', 'json'],
    ['report', 'launch', 'echo', '--out', 'launch.html'],
    ['report', 'audit', 'echo', '--out', 'audit.html'],
    ['export', 'attempts', '--format', 'csv', '--out', 'attempts.csv'],
    ['export', 'attempts', '--format', 'jsonl', '--out', 'attempts.jsonl'],
    ['export', 'attempts', '--format', 'parquet', '--out', 'attempts.parquet'],
  ]
  for (const [name, ...words] of commands) {
    const child = spawn(process.execPath, [main, name!, ...words, '--db', 's.duckdb'], {
      cwd: folder,
      env: { ...process.env, ONE: keys[0], TWO: keys[1] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    const [out, told] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await ended
    expect([name, code === 1 || code === 2, told]).toEqual([name, false, told])
    expect([name, found(Buffer.from(out + told))]).toEqual([name, []])
  }
  const store = await openStore(join(folder, 's.duckdb'))
  const rows = await store.rows('SELECT * FROM attempts JOIN bodies USING (run_id, slot, retry)')
  store.close()
  // The first request shows whether the service is there.
  expect(rows).toHaveLength(4 * encode.length + 1)
  const asText = JSON.stringify(rows, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(found(Buffer.from(asText))).toEqual([])
  expect(asText.split('[key]').length).toBeGreaterThan(4 * encode.length)
  const files = readdirSync(folder).filter((name) => name !== 'echo.yaml')
  expect(files).toEqual(expect.arrayContaining(['s.duckdb', 'launch.html', 'attempts.parquet']))
  for (const name of files) {
    expect([name, found(readFileSync(join(folder, name)))]).toEqual([name, []])
  }
})

test('no eight letters of an upstream’s key are in any byte that its relay sends', {
  tags: 'whole',
}, async () => {
  const [secret] = keys
  let asked = 0
  const target = await startTarget((_, response) => {
    const echo = encode[asked++ % encode.length]!(secret!)
    response.writeHead(200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content: `it is ${echo}`, note: [echo] }
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: echo }] }))
  })
  onTestFinished(() => target.close())
  const names = Object.keys(encodings)
  let relay = await inFrontOf(`${target.baseUrl}/v1`, { apiKey: secret })
  for (const [nth, name] of names.entries()) {
    // A fresh one has its limit whole.
    if (nth % 8 === 7) relay = await inFrontOf(`${target.baseUrl}/v1`, { apiKey: secret })
    const answer = await relay.target.chat({}, relay.key)
    const sent = Buffer.from(await answer.arrayBuffer())
    const heads = JSON.stringify([...answer.headers])
    expect([name, answer.status, found(sent), found(Buffer.from(heads))]).toEqual([
      name,
      200,
      [],
      [],
    ])
  }
})
