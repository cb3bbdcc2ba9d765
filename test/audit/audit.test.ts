import { afterEach, beforeEach, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { selectRuns } from '../../src/audit/runs.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { emptyStore, type Store } from '../store/opened.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

const options = { contract: defaultContract, auditId: 'audit-1', auditedAt: new Date(0) }

test('the audit of an empty store fails with a message that the store holds no runs', async () => {
  await expect(audit(store, options)).rejects.toThrow(/has no runs.*assay run/s)
})

test('an unknown run or rule is an error that names it', async () => {
  await enterEndedRun(store, 'a')
  await expect(audit(store, { ...options, runIds: ['b'] })).rejects.toThrow(
    'has no run b. It has a.',
  )
  await expect(audit(store, { ...options, rules: ['BULL-1'] })).rejects.toThrow(/BULL-1/)
})

test('by default, the audit selects all runs with the base URL of the newest run', async () => {
  await enterEndedRun(store, 'old', { startedAtUs: 1, baseUrl: 'http://127.0.0.1:2' })
  await enterEndedRun(store, 'b', { startedAtUs: 2 })
  await enterEndedRun(store, 'c', { startedAtUs: 3 })
  await enterEndedRun(store, 'd', { startedAtUs: 4, kind: 'calibrate' })
  expect((await selectRuns(store, [])).map((run) => run.runId)).toEqual(['b', 'c'])
})

test('the audit writes its findings to the store', { tags: 'whole' }, async () => {
  await enterEndedRun(store, 'a')
  await appendAttempts(store, [attempt(0)])
  const report = await audit(store, options)
  const kept = await store.rows('SELECT rule, verdict, run_ids FROM findings ORDER BY rowid')
  expect(kept).toEqual(
    report.findings.map(({ rule, verdict }) => ({
      rule,
      verdict: verdict.verdict,
      run_ids: ['a'],
    })),
  )
})

test('columns of doubles hold every row, with NaN for null', async () => {
  const [values, halves] = await store.doubles(
    'SELECT CASE WHEN i % 2 = 0 THEN i END::DOUBLE, (i / 2)::DOUBLE FROM range(5000) t(i)',
  )
  expect(values!.length).toBe(5000)
  expect([...values!.slice(4097, 4100)]).toEqual([Number.NaN, 4098, Number.NaN])
  expect(halves![4999]).toBe(2499.5)
})
