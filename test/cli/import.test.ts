import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { importAction } from '../../src/cli/usage/import.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-import-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

const map = join(folder, 'map.yaml')
writeFileSync(map, 'fields: { time: at, id: id }\n')
const logOf = (name: string) => {
  const file = join(folder, `${name}.jsonl`)
  writeFileSync(file, '{"id":"a","at":"2026-01-01T00:00:00Z"}\n')
  return file
}

/** Imports the logs; a signal comes when the counts of the first are printed. */
async function interrupted(db: string, logs: readonly string[]) {
  const told = { out: '', err: '' }
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    if (told.out === '') process.emit('SIGTERM')
    told.out += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told.err += text
    return true
  })
  await importAction(logs, { db: join(folder, db), map, tag: [], maxRejects: '0.01' })
  vi.restoreAllMocks()
  return { ...told, code: process.exitCode ?? 0 }
}

/** What the process writes from now on. */
function spied() {
  const told = { out: '', err: '' }
  const keep = (name: keyof typeof told) => (text: string | Uint8Array) => {
    told[name] += text
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(keep('out'))
  vi.spyOn(process.stderr, 'write').mockImplementation(keep('err'))
  return told
}

test('a signal after the last log is in says that all of it was imported', {
  tags: 'whole',
}, async () => {
  const log = logOf('only')
  expect(await interrupted('one.duckdb', [log])).toEqual({
    out: `${log}: 1 line = 1 accepted + 0 known + 0 rejected\nNext: assay usage --db ${join(folder, 'one.duckdb')}  # prints what was used\n`,
    err: `Interrupted at the end: all of ${log} was imported.\n`,
    code: 130,
  })
})

test('a signal between two logs names the one that is not imported', async () => {
  const [first, second] = [logOf('first'), logOf('second')]
  expect(await interrupted('two.duckdb', [first, second])).toEqual({
    out: `${first}: 1 line = 1 accepted + 0 known + 0 rejected\n`,
    err: `Interrupted: nothing from ${second} was imported. Import it again; known lines count once.\n`,
    code: 130,
  })
})

test('an import that rejects more of a log than --max-rejects allows exits with 3, and keeps its good lines', {
  tags: 'whole',
}, async () => {
  const file = join(folder, 'bad.jsonl')
  const good = Array.from({ length: 99 }, (_, id) => `{"id":"${id}","at":"2026-01-01T00:00:00Z"}\n`)
  writeFileSync(file, `${good.join('')}{"id":"x","at":"never"}\n{"id":"y","at":"never"}\n`)
  const told = spied()
  const importInto = async (db: string, maxRejects = '0.01') => {
    process.exitCode = 0
    await importAction([file], { db: join(folder, db), map, tag: [], maxRejects })
    return process.exitCode
  }
  expect(await importInto('three.duckdb')).toBe(3)
  expect(await importInto('four.duckdb', '0.02')).toBe(0)
  vi.restoreAllMocks()
  expect(told.out).toContain('101 lines = 99 accepted + 0 known + 2 rejected')
  expect(told.err).toBe(
    `${file}: 2.0 % of its lines were rejected, more than --max-rejects 0.01 allows.\n`,
  )
})

test('records of which too many are rejected exit with 3, and a check of them says that it imports nothing', async () => {
  const file = join(folder, 'records.jsonl')
  const record = (startNs: number) =>
    JSON.stringify({ metadata: { request_start_ns: startNs, was_cancelled: false }, error: null })
  const startNs = 1_760_000_000_000_000_000
  writeFileSync(file, `${record(startNs)}\nnot json\n${record(startNs + 1e6)}\n`)
  const told = spied()
  const options = {
    db: join(folder, 'records.duckdb'),
    tag: [],
    maxRejects: '0.01',
    check: true as const,
  }
  await importAction([file], options)
  vi.restoreAllMocks()
  expect(process.exitCode).toBe(3)
  expect(told.out).toMatch(
    /run aiperf-\w+, 2 attempts, 1 rejected\n {2}nothing is imported \(--check\)\n/,
  )
  expect(told.err).toBe(
    `${file}: 33.3 % of its lines were rejected, more than --max-rejects 0.01 allows.\n`,
  )
})
