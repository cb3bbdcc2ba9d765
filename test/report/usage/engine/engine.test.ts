import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillInStore, storeEngine } from '../../../../src/report/usage/engine/engine.ts'
import * as queries from '../../../../src/report/usage/engine/queries.ts'
import { prepareUsage } from '../../../../src/report/usage/prepare.ts'
import { appendAttempts } from '../../../../src/store/attempts/recorder.ts'
import { sessionVariable } from '../../../../src/store/session/variable.ts'
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
])(
  'for runs %j and sources %j the page shows %j',
  { tags: 'whole' },
  async (runIds, sources, shown) => {
    const scope = await prepareUsage(store, usageOptions({ runIds, sources }))
    expect(scope.sources.map(({ origin, source }) => `${origin} ${source}`).sort()).toEqual(shown)
  },
)

test('the engine of the store has no name and holds single requests', () => {
  expect([storeEngine.name, storeEngine.holdsRequests]).toEqual([null, true])
})

test('sums that two queries share are in the text of each', () => {
  for (const query of [queries.outcomes, queries.keyOutcomes]) {
    expect(query(sessionVariable).rows).toContain("WHEN status = 429 THEN 'limited'")
  }
})

test('the condition of odd requests chooses them and is counted alike', () => {
  const { rows } = queries.odd(() => 'credits > 7')(sessionVariable)
  expect(rows.split('AND (credits > 7)')).toHaveLength(3)
})

test('five odd requests are listed, each with the number of all', async () => {
  const odd = Array.from({ length: 6 }, (_, at) => ({ atUs: novemberUs + at, credits: 8 }))
  await enterEvents(store, [{ atUs: novemberUs, credits: 7, requests: 100 }, ...odd])
  await enterEvents(store, [{ atUs: novemberUs + 6, credits: 8, requests: 4 }])
  await prepareUsage(store, usageOptions())
  await fillInStore(
    store,
    'odd_ones',
    queries.odd(() => 'credits > 7'),
  )
  const rows = await store.rows('SELECT at_us - $1 AS at, n::DOUBLE AS n FROM odd_ones', [
    BigInt(novemberUs),
  ])
  expect(rows).toEqual([0, 1, 2, 3, 4].map((at) => ({ at, n: 10 })))
})

test('an engine says how a variable is written, and its relations come before those of the query', () => {
  const sql = queries.statementOf(
    queries.seen((name) => `{${name}}`),
    { usage_cells: 'SELECT 1' },
  )
  expect(sql).toMatch(
    /^WITH usage_cells AS \(SELECT 1\),\npolled AS \(\n {2}SELECT pair, \{usage_poll_keys\}\[pair\]/,
  )
  expect(sql).not.toContain('getvariable')
  expect(queries.statementOf({ rows: 'SELECT 1' })).toBe('SELECT 1')
})
