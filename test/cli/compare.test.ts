import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FigureHistory } from '../../src/report/compare/history.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { main } from '../e2e/command.ts'
import { attempt, enterRun, novemberUs } from '../report/attempts.ts'
import { openStore } from '../store/opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-compare-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))
const db = join(folder, 'a.duckdb')

beforeAll(async () => {
  const store = await openStore(db)
  for (const [runId, us] of [
    ['fast', 100_000],
    ['slow', 150_000],
  ] as const) {
    await enterRun(store, runId)
    await appendAttempts(
      store,
      Array.from({ length: 400 }, (_, slot) => {
        const end = slot * 1e6 + 20 + us + (slot % 7) * 1_000
        return attempt(slot, { runId, doneUs: end, closedUs: end })
      }),
    )
  }
  store.close()
})

function assay(...args: readonly string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [main, ...args, '--db', db], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })
}

test('compare ends with 3 if a gate fails or is inconclusive, else with 0', {
  tags: 'whole',
}, async () => {
  // Sequentially: only one process can open the file.
  const missed = await assay('compare', 'fast', 'slow', '--fail-on', 'p95 > +10%')
  const untold = await assay('compare', 'fast', 'slow', '--fail-on', 'ttft.p95 > +10%')
  const held = await assay('compare', 'slow', 'fast', '--fail-on', 'p95 > +10%', '--format', 'md')
  const wrong = await assay('compare', 'fast', 'slow', '--fail-on', 'speed')
  expect(missed).toMatchObject({ code: 3, err: '' })
  expect(missed.out).toMatch(/fail on p95 > \+10% +FAILED +\+4\d\.\d %/)
  expect(untold.code).toBe(3)
  expect(untold.out).toContain('INCONCLUSIVE')
  expect(held).toMatchObject({ code: 0 })
  expect(held.out).toContain('### Comparison: passed')
  expect(wrong.code).toBe(2)
  expect(wrong.err).toMatch(/--fail-on "speed": not a condition/)
})

test('summary prints each format, and Parquet needs a file', async () => {
  const json = await assay('summary', 'fa', '--json')
  const both = await assay('summary', 'fast', '--json', '--format', 'md')
  expect([both.code, both.err]).toEqual([2, '--json and --format md: expected one of them.\n'])
  const vllm = await assay('summary', 'fast', '--format', 'vllm')
  const parquet = await assay('summary', 'fast', '--format', 'parquet')
  expect(JSON.parse(json.out)).toMatchObject({
    run: { runId: 'fast' },
    all: { counts: { ok: 400 } },
  })
  expect(vllm.out).toContain('Successful requests:                     400')
  expect(parquet).toMatchObject({ code: 2 })
  expect(parquet.err).toContain('--out FILE')
})

test('a history names the build at which a figure changed, and says why it cannot', {
  tags: 'whole',
}, async () => {
  const own = join(folder, 'history.duckdb')
  const store = await openStore(own)
  for (let build = 0; build < 16; build++) {
    const runId = `build-${String(build).padStart(2, '0')}`
    await enterRun(store, runId, { startedAtUs: novemberUs + build * 3_600e6 })
    await appendAttempts(
      store,
      Array.from({ length: 40 }, (_, slot) => {
        const us = (build < 10 ? 100_000 : 120_000) + ((slot * 7 + build * 13) % 11) * 500
        const end = slot * 1e6 + 20 + us
        return attempt(slot, { runId, doneUs: end, closedUs: end })
      }),
    )
  }
  store.close()
  const history = (...args: readonly string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(process.execPath, [main, 'compare', ...args, '--db', own], (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
      })
    })
  const found = await history('latest', '--history', 'service.p50', '--json')
  const { steps, runs } = JSON.parse(found.out) as FigureHistory
  expect(runs.length).toBe(16)
  expect(steps.map(({ runId }) => runId)).toEqual(['build-10'])
  expect(steps[0]!.after / steps[0]!.before).toBeCloseTo(1.2, 1)
  const said = await history('latest', '--history', 'service.p50')
  expect(said.out).toMatch(/From build-10 \(2026-11-01.*\): 10\d\.\d ms before, 12\d\.\d ms/)
  expect(said.out.trimEnd().split('\n').at(-1)).toBe(
    `Next: assay compare build-09 build-10 --db ${own}  # compares the runs around the last change`,
  )
  expect((await history('latest', '--history', 'errors')).out).toContain('No significant change')
  expect(await history('latest', '--history', 'credits')).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('which a contract states') },
  })
  expect((await history('latest')).err).toContain('compare: expected two runs')
})
