import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'

/** Takes no byte, as a full disk does. */
const fullDisk = '/dev/full'

test.skipIf(!existsSync(fullDisk))(
  'a full disk is reported in one sentence (needs /dev/full, which Linux has)',
  () => {
    const { status, stderr } = spawnSync(process.execPath, [main, '--help'], {
      stdio: ['ignore', openSync(fullDisk, 'w'), 'pipe'],
      encoding: 'utf8',
    })
    expect(stderr).toMatch(/^The output cannot be written: ENOSPC.*\n$/)
    expect(status).toBe(1)
  },
)

test('a truncated or damaged store is reported in one sentence, on opening or later', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-cut-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const db = join(folder, 'a.duckdb')
  const store = await openStore(db)
  // The columns that are read fill nine tenths of the file, in any order of its blocks.
  await store.execute(`INSERT INTO usage_events BY NAME
    SELECT 'log' AS source, n::VARCHAR AS id, hash(n) % 30000000000000 AS at_us, 0 AS ingested_us,
      1 AS import_no, 'svc-k2' AS model, 'ok' AS outcome, hash(n + 1) % 1000000 AS credits
    FROM range(500000) AS t(n)`)
  store.close()
  const told = () => spawnSync(process.execPath, [main, 'usage', '--db', db], { encoding: 'utf8' })
  // In the middle of the rows: the store opens, and a query reaches the damage.
  const bytes = statSync(db).size
  const file = openSync(db, 'r+')
  writeSync(file, Buffer.alloc(bytes >> 1), 0, bytes >> 1, bytes >> 2)
  closeSync(file)
  expect(told()).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(
      /^The store cannot be read or written: Corrupt database file: .*\n$/,
    ),
  })
  truncateSync(db, Math.floor(bytes / 10))
  expect(told()).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/a\.duckdb cannot be opened: .*\n$/),
  })
})

test('--explain takes several rules, and an unknown rule is an error', { tags: 'whole' }, () => {
  const explained = (...args: readonly string[]) =>
    spawnSync(process.execPath, [main, 'audit', ...args], { encoding: 'utf8' })
  for (const args of [
    ['--explain', 'BILL-10', '--explain', 'RATE-12'],
    ['--explain', 'BILL-10', 'RATE-12'],
    ['--explain', 'bill-10,rate-12'],
  ]) {
    expect(explained(...args).stdout.match(/^[A-Z]+-\d\d(?= )/gm)).toEqual(['BILL-10', 'RATE-12'])
  }
  expect(explained('--explain', 'NOPE')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^--explain: no rule is called NOPE\./),
  })
})

test('code compiled at one start is cached for the next', { tags: 'whole' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compiled-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const command = new URL('../../src/cli/assay.js', import.meta.url).pathname
  const env = { ...process.env, TMPDIR: folder, NODE_COMPILE_CACHE: '' }
  expect(spawnSync(process.execPath, [command, '--version'], { env }).status).toBe(0)
  const kept = readdirSync(folder, { recursive: true, withFileTypes: true })
  expect(kept.filter((each) => each.isFile()).length).toBeGreaterThan(5)
})
