import { expect, test } from 'vitest'
import { partsOf, prepareTop, rowsOf } from '../../src/report/page.ts'
import { seededOptions, seededStore } from './seeded.ts'

test('a search that goes on shows the trials of the earlier run, with their times and intervals', async () => {
  const store = await seededStore({ attempts: 100 })
  const [row] = await store.rows<{ verdict_json: string }>(
    `SELECT verdict_json FROM runs WHERE run_id = 'run-sweep'`,
  )
  const verdict = JSON.parse(row!.verdict_json)
  for (const trial of verdict.sweeps[0].trials) {
    Object.assign(trial, { earlier: true, runId: 'run-sweep' })
  }
  await store.execute(
    `INSERT INTO runs SELECT * REPLACE ('run-on' AS run_id, '${JSON.stringify(verdict)}' AS verdict_json)
     FROM runs WHERE run_id = 'run-sweep'`,
  )
  const figuresOf = async (runId: string, name: string) => {
    await prepareTop(store, { ...seededOptions(store), page: 'launch', runIds: [runId] })
    return rowsOf(store, partsOf('launch').find((part) => part.name === name)!)
  }
  for (const name of ['02-goodput-by-load', '04-response-by-load']) {
    const before = await figuresOf('run-sweep', name)
    expect(before.length).toBeGreaterThan(5)
    expect(await figuresOf('run-on', name)).toEqual(before)
  }
  store.close()
})
