import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { makeReport } from '../../src/report/page.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { makeText } from '../../src/report/text.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { run } from '../../src/run/run.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { parseMapping } from '../../src/store/import/mapping.ts'
import { mergeParts } from '../../src/store/runs/merge.ts'
import { tries } from '../nightly/tries.ts'
import { seededOptions, seededStore } from '../report/seeded.ts'
import { usageOptions } from '../report/usage-events.ts'
import { answerChat, chatScenario, key, startTarget } from '../run/target.ts'
import type { Store } from './opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-interleaved-'))
const contract = defaultContract
const keys = { default: key }
let store: Store
let target: Awaited<ReturnType<typeof startTarget>>
let nth = 0

const scenario = chatScenario('  - { name: steady, load: constant, rate: 200/s, max_requests: 20 }')

beforeAll(async () => {
  store = await seededStore({ attempts: 100, path: join(folder, 's.duckdb') })
  target = await startTarget((_, response) => answerChat(response))
  for (const index of [0, 1]) {
    await run(scenario, {
      ...{ baseUrl: target.baseUrl, keys, runId: 'merged' },
      ...{ dbPath: join(folder, `part-${index}.duckdb`), shard: { index, of: 2 } },
      startAtUs: 1_700_000_000_000_000,
    })
  }
})
afterAll(() => {
  store.close()
  target.close()
  rmSync(folder, { recursive: true })
})

const auditOf = async (runId: string, accounts?: { index: number; of: number }) =>
  (
    await audit(store, {
      ...{ contract, runIds: [runId], rules: ['BILL', 'ERR', 'CHAT'] },
      ...(accounts === undefined ? {} : { accounts }),
    })
  ).findings

const pageOf = (page: 'launch' | 'usage', runId: string, timeZone: string) =>
  makeReport({ ...seededOptions(store), page, runIds: [runId], timeZone }).then(({ html }) => html)

const mapping = parseMapping('fields: { time: at, id: id }\n', 'map.yaml')

/** What a user does with a store; each result says nothing of what other operations wrote. */
const operations = {
  audit: () => auditOf('run-1'),
  'audit of a share': () => auditOf('run-1', { index: 1, of: 3 }),
  'audit of a sweep': () => auditOf('run-sweep'),
  'launch page': () => pageOf('launch', 'run-1', 'UTC'),
  'launch page of a sweep': () => pageOf('launch', 'run-sweep', 'Asia/Kolkata'),
  'usage page': () => pageOf('usage', 'run-1', 'Europe/Rome'),
  'usage as text': () =>
    makeText({ ...seededOptions(store), page: 'usage', runIds: ['run-1'] }, 'csv'),
  'usage as data': () => readUsage(store, usageOptions({ runIds: ['run-1'], by: 'endpoint' })),
  summary: () => summarise(store, 'run-1', contract),
  comparison: () => compareRuns({ store, runId: 'run-1' }, { store, runId: 'run-sweep' }, contract),
  async export() {
    const out = join(folder, `${nth++}.csv`)
    await exportTable(store, { what: 'attempts', runIds: ['run-1'], file: out, format: 'csv' })
    return readFileSync(out, 'utf8')
  },
  async import() {
    const id = nth++
    const file = join(folder, `log-${id}.jsonl`)
    writeFileSync(
      file,
      `{"id":"a${id}","at":"2026-03-01T00:00:00Z"}\n{"id":"b${id}","at":"never"}\n`,
    )
    const { accepted, rejected } = await importFile(store, { file, mapping })
    return { accepted, rejected }
  },
  merge: () =>
    mergeParts(store, { paths: [join(folder, 'part-0.duckdb'), join(folder, 'part-1.duckdb')] }),
  async run() {
    const { counts, runId } = await run(scenario, { baseUrl: target.baseUrl, keys, store })
    return [
      counts,
      await store.rows('SELECT count(*) AS n FROM attempts WHERE run_id = $1', [runId]),
    ]
  },
} satisfies Record<string, () => Promise<unknown>>

type Operation = keyof typeof operations

const one = fc.record({
  operation: fc.constantFrom(...(Object.keys(operations) as Operation[])),
  afterMs: fc.integer({ min: 0, max: 60 }),
})
const numRuns = tries(4, 200)

test('interleaved operations on one store have the results of each alone', {
  tags: 'whole',
  timeout: numRuns * 60_000,
}, async () => {
  const alone = new Map<Operation, string>()
  for (const name of Object.keys(operations) as Operation[]) {
    alone.set(name, JSON.stringify(await operations[name]()))
  }
  await fc.assert(
    fc.asyncProperty(
      fc
        .array(one, { minLength: 2, maxLength: 4 })
        // One run at a time records into a store.
        .filter((all) => all.filter(({ operation }) => operation === 'run').length < 2),
      async (all) => {
        const results = await Promise.all(
          all.map(async ({ operation, afterMs }) => {
            await wait(afterMs)
            return JSON.stringify(await operations[operation]())
          }),
        )
        for (const [at, { operation }] of all.entries()) {
          expect(results[at], operation).toBe(alone.get(operation))
        }
      },
    ),
    { numRuns },
  )
})
