import { afterEach, beforeEach, expect, test } from 'vitest'
import { decideInOrder } from '../../src/audit/decide.ts'
import { decideInWorker } from '../../src/audit/rate-worker.ts'
import type { Evidence } from '../../src/audit/rule.ts'
import { selectRules } from '../../src/audit/rules/select.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { openStore, type Store } from '../store/opened.ts'

let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
  await enterEndedRun(store, 'run')
})
afterEach(() => store.close())

const evidence = (): Evidence => ({ store, runIds: ['run'], contract: defaultContract })

test('rules reach the same verdicts in a worker thread as in the main thread', {
  tags: 'whole',
}, async () => {
  const rows = Array.from({ length: 40 }, (_, slot) =>
    attempt(slot, {
      runId: 'run',
      keyFp: 'k',
      sentUs: slot * 1e5,
      headersUs: slot * 1e5 + 1e4,
      closedUs: slot * 1e5 + 1e4,
      rateLimit: 60,
      rateRemaining: slot === 30 ? -20 : 59 - slot,
      creditsRemaining: 900 - slot,
    }),
  )
  await appendAttempts(store, rows)
  const here = await decideInOrder(selectRules(['RATE']), evidence())
  expect(await decideInWorker(['RATE'], evidence())).toEqual(here)
  expect(here.find(({ rule }) => rule === 'RATE-08')?.verdict.verdict).toBe('fail')
})

test('a query that fails in the worker thread leaves its rule undecided, with the reason', async () => {
  await store.execute('DROP VIEW attempts')
  const findings = await decideInWorker(['RATE'], evidence())
  expect(findings.find(({ rule }) => rule === 'RATE-01')?.verdict).toMatchObject({
    verdict: 'inconclusive',
    isUndecided: true,
    why: expect.stringMatching(/^undecided: .*attempts/s),
  })
})

test('the worker thread tells of each rule as it begins, in order', async () => {
  const begun: string[] = []
  const findings = await decideInWorker(['RATE'], evidence(), {}, (id) => begun.push(id))
  expect(begun).toEqual(selectRules(['RATE']).map(({ id }) => id))
  expect(findings.map(({ rule }) => rule)).toEqual(begun)
})

test('an aborted signal ends the worker thread, before a query of it is answered', {
  tags: 'whole',
}, async () => {
  const stop = new AbortController()
  const silent: Evidence['store'] = { ...store, rows: () => new Promise(() => {}) }
  const decided = decideInWorker(['RATE'], { ...evidence(), store: silent }, stop, () =>
    stop.abort(new Error('stopped by the user')),
  )
  await expect(decided).rejects.toThrow('stopped by the user')
})
