import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { assay } from '../e2e/command.ts'
import { attempt, enterRun, novemberUs } from '../report/attempts.ts'
import { enterEvents } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sums-'))
const db = join(folder, 'a.duckdb')
afterAll(() => rmSync(folder, { recursive: true }))
beforeAll(async () => {
  const store = await openStore(db)
  for (const [runId, requests] of [
    ['one', 2],
    ['two', 3],
  ] as const) {
    await enterRun(store, runId)
    await appendAttempts(
      store,
      Array.from({ length: requests }, (_, slot) => attempt(slot, { runId })),
    )
  }
  await enterEvents(store, [{ atUs: novemberUs, account: 'a', credits: 7 }])
  store.close()
})

async function sumsOf(...flags: readonly string[]) {
  const out = join(folder, 'sums.json')
  rmSync(out, { force: true })
  const { code, stderr } = await assay(['export', 'sums', '--by', 'source', '--out', out, ...flags])
    .ended
  expect([code, stderr]).toEqual([0, ''])
  const rows = JSON.parse(readFileSync(out, 'utf8')) as { source: string; requests: number }[]
  return Object.fromEntries(rows.map(({ source, requests }) => [source, requests]))
}

test('sums of named runs are of these alone', { tags: 'whole' }, async () => {
  expect(await sumsOf('--db', db)).toEqual({ one: 2, two: 3, log: 1 })
  expect(await sumsOf('--db', db, '--run', 'two')).toEqual({ two: 3 })
})

test('sums of a file of quarters are those of its store', { tags: 'whole' }, async () => {
  const quarters = join(folder, 'quarters.parquet')
  expect((await assay(['export', 'quarters', '--db', db, '--out', quarters]).ended).code).toBe(0)
  expect(await sumsOf('--quarters', quarters)).toEqual(await sumsOf('--db', db))
})

test('rows of a store come from no other engine: the error names the option', async () => {
  const out = join(folder, 'attempts.json')
  const { code, stderr } = await assay([
    ...['export', 'attempts', '--engine', 'clickhouse://127.0.0.1:1/db', '--out', out],
  ]).ended
  expect(code).toBe(2)
  expect(stderr).toContain(
    '--engine with export attempts: only sums, and quarters by --engine, come from elsewhere',
  )
})
