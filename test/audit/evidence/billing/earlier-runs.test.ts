import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { withEarlier } from '../../../../src/audit/evidence/billing/earlier-runs.ts'
import { abandonments, effects } from '../../../../src/audit/evidence/billing/history.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { appendAttempts } from '../../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, novemberUs } from '../../../report/attempts.ts'
import { openStore } from '../../../store/opened.ts'
import { historyOf } from './made-history.ts'

/** How long the service works on a request at most. */
const lifetimeUs = 8e6
const own = historyOf(
  [{ slot: 0, callUs: 100, endUs: 200, effect: 'read', costCredits: 0, value: 900 }],
  { runId: 'second', account: 'main', lifetimeUs },
)

/** With attempts of a run that began ten seconds before the history's, and of one against another service. */
async function withRows(rows: readonly AttemptRow[]) {
  const store = await openStore(':memory:')
  try {
    await enterEndedRun(store, 'first')
    await enterEndedRun(store, 'elsewhere', { baseUrl: 'http://127.0.0.1:2' })
    await enterEndedRun(store, 'before', { startedAtUs: novemberUs + 1e6 })
    await enterEndedRun(store, 'second', { startedAtUs: novemberUs + 10e6 })
    await appendAttempts(store, [
      attempt(0, { runId: 'second', endpoint: 'credits', model: null, keyFp: 'one' }),
      attempt(1, { runId: 'second', endpoint: 'credits', model: null, keyFp: 'two' }),
      ...rows,
    ])
    return await withEarlier({ store, contract: defaultContract, runIds: ['second'] }, own)
  } finally {
    store.close()
  }
}
/** An attempt that the first run left, called so long before the history's run. */
const left = (slot: number, beforeUs: number, change: Partial<AttemptRow> = {}) =>
  attempt(slot, {
    ...{ runId: 'first', keyFp: 'one', outcome: 'aborted', sentUs: 10e6 - beforeUs },
    ...{ headersUs: null, closedUs: 10e6 - beforeUs + 300 },
    ...change,
  })

test('an attempt that an earlier run left on a key of the account comes first, on the clock of the run', async () => {
  const history = await withRows([
    left(5, 7e6, { keyFp: 'two', streamed: 1, contentEvents: 4, model: 'SVC-K2.5', retry: 1 }),
  ])
  expect(history).toEqual({
    ...{ runId: 'second', account: 'main', size: 2, lifetimeUs, earlierRunIds: ['first'] },
    slot: Float64Array.of(5, 0),
    retry: Float64Array.of(1, 0),
    callUs: Float64Array.of(-7e6, 100),
    readUs: Float64Array.of(Number.NaN, 200),
    endUs: Float64Array.of(-7e6 + 300, 200),
    effect: Float64Array.of(effects.ambiguous, effects.read),
    costCredits: Float64Array.of(2, 0),
    value: Float64Array.of(Number.NaN, 900),
    streamed: Float64Array.of(1, 0),
    model: Float64Array.of(3, 0),
    key: Float64Array.of(2, 1),
    status: Float64Array.of(200, 200),
    insufficient: Float64Array.of(0, 0),
    step: Float64Array.of(0, 0),
    contentEvents: Float64Array.of(4, 0),
    abandonment: Float64Array.of(abandonments.aborted, abandonments.no),
    timeout: Float64Array.of(0, 0),
    settlesByUs: Float64Array.of(-7e6 + lifetimeUs, 100 + lifetimeUs),
  })
})

test('earlier attempts are in the order of their calls, whichever run left them', async () => {
  const history = await withRows([
    left(1, 3e6, { outcome: 'timeout' }),
    left(2, 5e6, { outcome: 'broken', model: 'unknown' }),
    // Its run began a second later.
    left(3, 4e6, { runId: 'before', sentUs: 5e6, closedUs: null, headersUs: 5e6 + 70 }),
    left(4, 2e6, { closedUs: null }),
  ])
  expect(history.earlierRunIds).toEqual(['first', 'before', 'first', 'first'])
  expect([...history.slot]).toEqual([2, 3, 1, 4, 0])
  expect([...history.callUs]).toEqual([-5e6, -4e6, -3e6, -2e6, 100])
  expect([...history.endUs]).toEqual([-5e6 + 300, -4e6 + 70, -3e6 + 300, -2e6, 200])
  // A model that the contract does not know may cost the most.
  expect([...history.costCredits]).toEqual([2, 1, 1, 1, 0])
  expect([...history.model]).toEqual([-1, 0, 0, 0, 0])
  const { no, aborted, timeout } = abandonments
  expect([...history.abandonment]).toEqual([no, aborted, timeout, aborted, no])
})

test.each([
  ['a success', left(1, 7e6, { outcome: 'ok' })],
  ['a refused request', left(1, 7e6, { outcome: 'http_error', status: 500 })],
  ['a read', left(1, 7e6, { endpoint: 'models', model: null })],
  ['what was not sent', left(1, 7e6, { outcome: 'not_sent', sentUs: null, closedUs: null })],
  ['an attempt with a key of another account', left(1, 7e6, { keyFp: 'three' })],
  ['an attempt against another service', left(1, 7e6, { runId: 'elsewhere' })],
  ['an attempt called as the run began', left(1, 0)],
  ['an attempt that was given up by then', left(1, 8e6)],
])('no part of the history is %s of an earlier run', async (_, row) => {
  expect(await withRows([row])).toEqual(own)
})

test('an attempt has its part until its deadline, and if it was called just before the run', async () => {
  const history = await withRows([left(1, 1), left(2, 8e6 - 1)])
  expect([...history.slot]).toEqual([2, 1, 0])
})
