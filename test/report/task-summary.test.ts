import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { readTasks } from '../../src/report/summary/tasks.ts'
import { taskFigure } from '../../src/run/judge/thresholds/tasks.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { rowOf } from '../audit/rates/evidence.ts'
import { emptyStore } from '../store/opened.ts'

/** A run of two tasks of two requests, and one that ended with the run after its first. */
async function stored(model = 'svc-k2') {
  const store = await emptyStore()
  const of = (slot: number, session: number, change = {}) =>
    rowOf(slot, slot * 10, { session, task: 'fix', model: 'svc-k2', ...change })
  await appendAttempts(store, [...[of(0, 1), of(1, 1), of(2, 2), of(3, 2, { model })], of(4, 3)])
  for (const [session, outcome, requests] of [
    [1, 'ok', 2],
    [2, 'ok', 2],
    [3, 'stopped', 1],
  ] as const) {
    await store.execute(
      `INSERT INTO tasks BY NAME SELECT 'run-1' AS run_id, ${session} AS session, 'fix' AS task, 'p' AS phase, 'steady' AS part,
         0 AS intended_us, 100 AS ended_us, '${outcome}' AS outcome, ${requests} AS requests, 0 AS wait_us`,
    )
  }
  return store
}

const { thresholds, objectives } = parseScenario(
  `{ name: s, question: q, model: svc-k2, steps: { chat: { endpoint: chat } },
     tasks: { fix: { turns: [{ name: a, step: chat }] } },
     phases: [{ name: p, load: constant, rate: 1/s, max_requests: 1, tasks: [fix] }], thresholds: [task_credits < 5] }`,
  's.yaml',
)
const scope = { runId: 'run-1', contract: defaultContract, objectives }

test('the report and the threshold average the credits of the same tasks: those that did not end with the run', async () => {
  const store = await stored()
  const figure = await taskFigure(store, thresholds[0]!, scope)
  const [summary] = await readTasks(store, 'run-1', defaultContract)
  expect(figure).toMatchObject({ samples: 2, value: 2 })
  expect(summary).toMatchObject({
    ...{ counts: { tasks: 3, stopped: 1 }, requestsEach: 2, creditsEach: 2 },
  })
  await store.close()
})

test('one request without a price is one request', async () => {
  const store = await stored('none')
  const figure = await taskFigure(store, thresholds[0]!, scope)
  expect(figure).toMatchObject({ value: null, unknown: '1 request without a price in credits' })
  await store.close()
})
