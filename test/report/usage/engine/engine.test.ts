import { afterEach, beforeEach, expect, test } from 'vitest'
import { storeEngine } from '../../../../src/report/usage/engine/engine.ts'
import {
  keyOutcomesSql,
  oddSql,
  outcomesSql,
} from '../../../../src/report/usage/engine/outcomes.ts'
import { prepareUsage } from '../../../../src/report/usage/prepare.ts'
import { appendAttempts } from '../../../../src/store/attempts/recorder.ts'
import { openStore, type Store } from '../../../store/opened.ts'
import { attempt, enterRun, novemberUs } from '../../attempts.ts'
import { enterEvents, usageOptions } from '../../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
  await enterRun(store)
  await enterRun(store, 'b')
  await appendAttempts(store, [attempt(0), attempt(0, { runId: 'b' })])
  // Logs with the names of runs.
  await enterEvents(
    store,
    ['a', 'log'].map((source) => ({ atUs: novemberUs, source })),
  )
})
afterEach(() => store.close())

test.each([
  [[], [], ['import a', 'import log', 'run a', 'run b']],
  [['a'], [], ['run a']],
  [[], ['a'], ['import a']],
  [['b'], ['a', 'b'], ['import a', 'run b']],
])('for runs %j and sources %j the page shows %j', async (runIds, sources, shown) => {
  const scope = await prepareUsage(store, usageOptions({ runIds, sources }))
  expect(scope.sources.map(({ origin, source }) => `${origin} ${source}`).sort()).toEqual(shown)
})

test('the engine of the store has no name and holds single requests', () => {
  expect([storeEngine.name, storeEngine.holdsRequests]).toEqual([null, true])
})

test('sums that two queries share are in the text of each', () => {
  for (const sql of [outcomesSql, keyOutcomesSql]) {
    expect(sql).toContain("WHEN status = 429 THEN 'limited'")
  }
})

test('the condition of odd requests chooses them and is counted alike', () => {
  expect(oddSql('credits > 7').split('AND (credits > 7)')).toHaveLength(3)
})
