import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runsBeside } from '../../../src/audit/runs.ts'
import { checkEvidence } from '../../../src/report/vendor/check-evidence.ts'
import { writeEvidence } from '../../../src/report/vendor/write-evidence.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { openStore } from '../../store/opened.ts'
import { attempt, enterEndedRun, novemberUs } from '../attempts.ts'

const place = mkdtempSync(join(tmpdir(), 'assay-vendor-runs-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

const account = 'Ann Lee Ltd'
const read = (slot: number, atS: number, creditsRemaining: number) =>
  attempt(slot, {
    ...{ runId: 'second', endpoint: 'credits', model: null, account, creditsRemaining },
    ...{ sentUs: atS * 1e6, headersUs: atS * 1e6 + 1e5, closedUs: atS * 1e6 + 1e5 },
  })

/** A stream that the first run abandoned may be charged while the second run, which is judged, reads its balance. */
async function written(folder: string, isAnonymous: boolean) {
  const db = join(place, `${folder}.duckdb`)
  const store = await openStore(db)
  await enterEndedRun(store, 'first')
  await enterEndedRun(store, 'second', { startedAtUs: novemberUs + 10e6 })
  await appendAttempts(store, [
    attempt(1, {
      ...{ runId: 'first', account, outcome: 'aborted', reason: 'first-event', streamed: 1 },
    }),
    ...[read(0, 0, 900), read(1, 1, 900), read(2, 30, 899)],
  ])
  const otherIds = await runsBeside(store, ['second'])
  store.close()
  const { report } = await writeEvidence({
    ...{ folder: join(place, folder), runs: { db, runIds: ['second'], otherIds } },
    ...{ contract: 'svc', profile: null, log: null, choices: {}, isAnonymous },
    nowMs: Date.UTC(2026, 10, 30),
  })
  return report.findings.find(({ rule }) => rule === 'BILL-10')!.verdict.verdict
}

test('evidence of a run has the earlier runs that decide its findings', {
  tags: 'whole',
}, async () => {
  expect(await written('earlier', false)).toBe('inconclusive')
  const { report, differences } = await checkEvidence(join(place, 'earlier'))
  expect(differences).toEqual([])
  expect(report.runs.map(({ runId }) => runId)).toEqual(['second'])
  // The names are in the file as they are: the search of the next test can find them.
  expect(readFileSync(join(place, 'earlier', 'rows.duckdb')).includes('Ann Lee')).toBe(true)
})

test('anonymous evidence of a run names no account in any file, and has the same verdict', {
  tags: 'whole',
}, async () => {
  expect(await written('named', true)).toBe('inconclusive')
  for (const name of readdirSync(join(place, 'named'))) {
    expect([name, readFileSync(join(place, 'named', name)).includes('Ann Lee')]).toEqual([
      name,
      false,
    ])
  }
  expect((await checkEvidence(join(place, 'named'))).differences).toEqual([])
})
