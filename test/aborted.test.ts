import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  audit,
  compareRuns,
  exportTable,
  importFile,
  judgeParts,
  makeReport,
  mergeParts,
  readUsage,
  type Store,
  summarise,
} from '../src/index.ts'
import { seededStore } from './report/seeded.ts'

let seeded: Store
beforeAll(async () => {
  seeded = await seededStore({ attempts: 100 })
  await seeded.execute(
    `INSERT INTO run_shards BY NAME SELECT run_id, 0 AS shard, 1 AS shards, 'a' AS attempt, 'h' AS plan_hash,
       started_at AS began_at, '{}' AS machine_json FROM runs WHERE run_id = 'run-1'`,
  )
})
afterAll(() => seeded.close())

const runId = 'run-1'
const log = join(import.meta.dirname, 'store/import/usage-samples/bedrock-invocations.jsonl')
const operations: Readonly<
  Record<string, (store: Store, signal: AbortSignal) => Promise<unknown>>
> = {
  audit: (store, signal) => audit(store, { runIds: [runId], signal }),
  compareRuns: (store, signal) => compareRuns({ store, runId }, { store, runId }, { signal }),
  exportTable: (store, signal) =>
    exportTable(store, { what: 'attempts', format: 'csv', file: '/none/a.csv', signal }),
  importFile: (store, signal) => importFile(store, { file: log, signal }),
  judgeParts: (store, signal) => judgeParts(store, { runId, signal }),
  makeReport: (store, signal) => makeReport(store, { page: 'usage', signal }),
  mergeParts: (store, signal) => mergeParts(store, { paths: ['none.duckdb'], signal }),
  readUsage: (store, signal) => readUsage(store, { signal }),
  summarise: (store, signal) => summarise(store, { runId, signal }),
}

test.each(Object.entries(operations))('%s ends as an AbortError', async (_, operation) => {
  const aborted = expect(operation(seeded, AbortSignal.abort())).rejects
  await aborted.toMatchObject({ name: 'AbortError' })
})

describe('between two queries', () => {
  const readers = ['compareRuns', 'judgeParts', 'makeReport', 'readUsage', 'summarise']
  test.each(readers)('%s asks no further one', async (name) => {
    const stop = new AbortController()
    let queriesAfter = 0
    const store: Store = {
      ...seeded,
      async session(scope) {
        const session = await seeded.session(scope)
        return {
          ...session,
          async rows<Row>(...query: Parameters<typeof session.rows>) {
            if (stop.signal.aborted) queriesAfter++
            const rows = await session.rows<Row>(...query)
            stop.abort()
            return rows
          },
        }
      },
    }
    const aborted = expect(operations[name]!(store, stop.signal)).rejects
    await aborted.toMatchObject({ name: 'AbortError' })
    expect(queriesAfter).toBe(0)
  })
})
