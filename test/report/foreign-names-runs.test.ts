import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../e2e/command.ts'

/** Names that every object has, as names of models, accounts, steps, phases, errors and fields. */
const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']
const wrong = /a bug in Assay|\[native code\]|\[object Object|TypeError|"name":\s*\{/
const folder = mkdtempSync(join(tmpdir(), 'assay-names-'))

let asked = 0
const server = createServer(async (request, response) => {
  let text = ''
  for await (const bytes of request) text += bytes
  const name = names[asked++ % names.length]!
  const model = /"model":"([^"]*)"/.exec(text)?.[1] ?? name
  const isRefused = asked % 4 === 0
  const usage =
    '{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"__proto__":4,"cost":0.5}'
  const choice = `{"index":0,"message":{"role":"assistant","content":"${name}"},"finish_reason":"${name}"}`
  response.writeHead(isRefused ? 429 : 200, {
    ...{ 'content-type': 'application/json', [name]: name },
    ...{ 'x-ratelimit-remaining': '5', 'x-ratelimit-limit': name },
  })
  response.end(
    isRefused
      ? `{"error":{"code":"${name}","type":"${name}","message":"${name}","__proto__":1}}`
      : `{"id":"${name}-${asked}","object":"chat.completion","created":1793534400,"model":"${model}","choices":[${choice}],"usage":${usage},"${name}":{"${name}":1}}`,
  )
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

const env = {
  ...process.env,
  ...Object.fromEntries(names.map((_, at) => [`KEY_${at}`, `sk-names-${at}-0123456789`])),
}

/** Ends with a code for the user, not with ours, and says nothing that only the language has. */
async function assay(codes: readonly number[], ...words: readonly string[]): Promise<string> {
  const [code, stdout, stderr] = await new Promise<[number, string, string]>((resolve) => {
    execFile(
      process.execPath,
      [main, ...words],
      { cwd: folder, env, maxBuffer: 2 ** 26 },
      (error, out, err) => resolve([error === null ? 0 : Number(error.code), out, err]),
    )
  })
  const said = words.join(' ')
  expect([said, codes.includes(code) ? 0 : code, codes.includes(code) ? '' : stderr]).toEqual([
    said,
    0,
    '',
  ])
  expect([said, wrong.exec(stdout + stderr)?.[0]]).toEqual([said, undefined])
  return stdout
}

/** A page without its scripts, which hold code. */
const pageOf = (file: string) =>
  readFileSync(join(folder, file), 'utf8').replace(
    /<script(?![^>]*application\/json)[\s\S]*?<\/script>/g,
    '',
  )

/** A scenario refuses `__proto__` as the name of a key or a step, with its line. */
const ownName = (name: string) => name.replace('__proto__', 'isPrototypeOf')

const scenario = `name: constructor
question: Are names of the language names?
model: __proto__
threads: 1
keys:
${names.map((name, at) => `  ${ownName(name)}: { env: KEY_${at}, account: ${name} }`).join('\n')}
steps:
${names.map((name) => `  ${ownName(name)}: { endpoint: chat, model: ${name}, prompt: Hello, max_tokens: 4 }`).join('\n')}
phases:
  - { name: valueOf, load: constant, rate: 40/s, duration: 2s }
  - { name: toString, load: constant, rate: 40/s, duration: 1s }
`

const contract = `extends: none
name: toString
currency: USD
charged: { success: full, refused: none }
models:
${names.map((name) => `  - { id: ${name}, price: { input: 4, output: 20 } }`).join('\n')}
evidence:
  cost: [{ body: usage.cost }]
  log: { id: request_id, cost: spend }
`

test('every command about runs tells of names that every object has', {
  tags: 'whole',
  timeout: 300_000,
}, async () => {
  writeFileSync(join(folder, 'names.yaml'), scenario)
  writeFileSync(join(folder, 'gateway.yaml'), contract)
  const start = ['--start-at', new Date(Date.now() + 8000).toISOString()]
  const run = (id: string, ...more: readonly string[]) =>
    assay(
      [0, 3, 4],
      ...['run', 'names.yaml', '--base-url', url, '--run-id', id, '--yes', '--no-first-requests'],
      ...['--contract', 'gateway.yaml', '--seed', '7', ...more],
    )
  await Promise.all(
    ['0', '1'].map((at) =>
      run('constructor', '--shard', `${at}/2`, '--db', `${at}.duckdb`, ...start),
    ),
  )
  const db = ['--db', 'all.duckdb']
  const clear = ['--contract', 'gateway.yaml']
  await assay([0, 3, 4], 'merge', '0.duckdb', '1.duckdb', ...db, ...clear, '--clock-error', '50ms')
  await run('__proto__', ...db)
  for (const json of [[], ['--json']])
    expect(await assay([0], 'runs', ...db, ...json)).toContain('__proto__')
  for (const format of ['terminal', 'md', 'json', 'html'])
    await assay(
      [0, 3, 4],
      ...['compare', 'constructor', '__proto__', ...db, '--all', '--format', format, ...clear],
      ...(format === 'html' ? ['--out', 'compare.html'] : []),
    )
  expect(pageOf('compare.html')).not.toMatch(wrong)
  for (const id of ['constructor', '__proto__']) {
    const said = await assay([0, 3, 4], 'summary', id, ...db)
    expect(said).toContain(id)
    for (const format of ['text', 'json', 'junit', 'sarif', 'md'])
      await assay([0, 3, 4], 'audit', id, ...db, ...clear, '--verbose', '--format', format)
    for (const page of ['launch', 'audit', 'run', 'usage']) {
      await assay([0, 3, 4], 'report', page, id, ...db, ...clear, '--out', `${page}.html`)
      expect(pageOf(`${page}.html`)).not.toMatch(wrong)
    }
  }
  for (const what of ['attempts', 'runs', 'findings', 'health', 'polls', 'changes', 'times'])
    await assay([0], 'export', what, ...db, '--out', `${what}.json`)
})

test('every command about a log alone or a bill tells of names that every object has', {
  tags: 'whole',
  timeout: 300_000,
}, async () => {
  writeFileSync(join(folder, 'gateway.yaml'), contract)
  const rows = names.flatMap((name, at) =>
    Array.from({ length: 4 }, (_, day) => ({
      ...{ request_id: `${name}-${day}`, startTime: `2026-11-0${day + 1}T10:00:0${at}Z` },
      ...{ model: name, user: name, api_key: name, call_type: name, status: 'success' },
      ...{
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        spend: day === 3 ? 1 : 0.00014,
      },
    })),
  )
  const lines = (list: readonly object[]) =>
    list
      .map((row) => JSON.stringify(row).replace('{', '{"__proto__":"x","constructor":1,'))
      .join('\n')
  writeFileSync(join(folder, 'spend.jsonl'), `${lines(rows)}\n`)
  writeFileSync(
    join(folder, 'bill.csv'),
    `day,model,account,total,type\n${names.map((name) => `2026-11-01,${name},${name},0.0002,${name}`).join('\n')}\n`,
  )
  writeFileSync(
    join(folder, 'bill.yaml'),
    'fields: { id: [day, model], time: { column: day, timezone: UTC }, model: model, account: account, credits: total, unit: { value: USD } }\n',
  )
  const log = ['--log', 'spend.jsonl', '--contract', 'gateway.yaml']
  for (const format of ['text', 'json', 'junit', 'sarif', 'md'])
    expect(
      await assay([0, 3, 4], 'audit', ...log, '--alone', '--verbose', '--format', format),
    ).toContain('PRICE')
  for (const format of ['text', 'md', 'json'])
    for (const name of names)
      expect(
        await assay(
          [0, 3, 4],
          ...['usage', 'reconcile', '--bill', 'bill.csv', '--bill-map', 'bill.yaml'],
          ...[...log, '--format', format],
        ),
      ).toContain(format === 'md' ? name.replaceAll('_', '').slice(0, 5) : name)
  writeFileSync(
    join(folder, 'map.yaml'),
    'fields: { id: request_id, time: startTime, model: model, account: user, keyFp: api_key, endpoint: call_type, credits: spend, promptTokens: prompt_tokens, completionTokens: completion_tokens }\n',
  )
  await assay([0], 'import', 'spend.jsonl', '--map', 'map.yaml', '--db', 'log.duckdb')
  for (const name of names)
    for (const view of ['billing', 'showback'])
      for (const version of ['1.2', '1.4']) {
        await assay(
          [0],
          ...['export', 'focus', '--db', 'log.duckdb', '--out', 'focus.csv', '--account', name],
          ...['--from', '2026-11-01', '--to', '2026-12-01', '--product', name, '--label', name],
          ...['--credit-price', '0.01', '--focus', version, '--focus-view', view],
        )
        const written = readFileSync(join(folder, 'focus.csv'), 'utf8')
        expect(written).toContain(name)
        expect(written).not.toMatch(wrong)
      }
})
