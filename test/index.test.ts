import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as api from '../src/index.ts'
import { seededStore } from './report/seeded.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-api-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('each command that works on a service or a store is a function of the public API', () => {
  const functions = [
    ...['run', 'probe', 'audit', 'writeReport', 'makeReport', 'compareRuns', 'listRuns'],
    ...['importFile', 'exportTable', 'calibrate', 'watch', 'readUsage', 'summarise'],
    ...['joinFleet', 'watchRun'],
  ] as const
  expect(functions.filter((name) => typeof Reflect.get(api, name) !== 'function')).toEqual([])
})

test('a reader that names a missing store makes no file', async () => {
  const path = join(temporaryFolder(), 'typo.duckdb')
  const summary = `There is no store at ${path}.`
  await expect(api.openStore(path, { create: false })).rejects.toThrow(summary)
  await expect(api.openExistingStore(path)).rejects.toThrow(summary)
  expect(existsSync(path)).toBe(false)
})

test('a scenario may be an object, and its issues are reported at once', () => {
  const input = api.defineScenario({
    ...{ name: 'object', question: 'Does it hold?', model: 'svc-k2' },
    steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
    phases: [{ name: 'steady', load: 'constant', rate: '10/s', duration: '2s' }],
  })
  expect(api.scenarioFrom(input).phases).toMatchObject([{ name: 'steady', durationUs: 2e6 }])
  const wrong = { ...input, seed: 'none', phases: [{ ...input.phases[0]!, rate: '10' }] }
  let issues: readonly string[] = []
  try {
    api.scenarioFrom(wrong as never)
  } catch (error) {
    issues = (error as api.ScenarioError).issues.map(({ path }) => path.join('.'))
  }
  expect(issues.toSorted()).toEqual(['phases.0.rate', 'seed'])
})

test('an audit reports each rule as it decides it, and a signal aborts it with its reason', {
  tags: 'whole',
}, async () => {
  const store = await seededStore({ attempts: 200 })
  onTestFinished(() => store.close())
  const parts: api.WorkProgress[] = []
  const stop = new AbortController()
  const contract = api.defaultContract
  const rules = ['MODEL']
  const all = await api.audit(store, { contract, rules, onProgress: (part) => parts.push(part) })
  expect(parts.map(({ doing }) => doing)).toEqual(all.findings.map(({ rule }) => `rule ${rule}`))
  expect(parts.map(({ done }) => done)).toEqual(all.findings.map((_, at) => at))
  const ended = api.audit(store, {
    ...{ contract, rules, signal: stop.signal },
    onProgress: () => stop.abort(new Error('enough')),
  })
  await expect(ended).rejects.toThrow('enough')
})

test('a report and an export report their progress, and a signal aborts them', {
  tags: 'whole',
}, async () => {
  const store = await seededStore({ attempts: 200 })
  onTestFinished(() => store.close())
  const doing: string[] = []
  const onProgress = (part: api.WorkProgress) => doing.push(part.doing)
  const options = { page: 'launch' } as const
  await api.makeReport(store, { ...options, onProgress })
  expect(doing[0]).toBe('figures of the launch page')
  expect(doing).toContain('chart 21-time-to-first-token')
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(api.makeReport(store, { ...options, signal })).rejects.toThrow('enough')
  const file = join(temporaryFolder(), 'runs.csv')
  await expect(
    api.exportTable(store, { what: 'runs', file, format: 'csv', signal }),
  ).rejects.toThrow('enough')
  expect(await api.exportTable(store, { what: 'runs', file, format: 'csv', onProgress })).toBe(2)
  expect(doing.at(-1)).toBe(`writing runs to ${file}`)
})

test('a watch polls credits until a signal, and each poll is in the store', {
  tags: 'whole',
}, async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"consumed":3,"remaining":4}')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  const dbPath = join(temporaryFolder(), 'a.duckdb')
  const stop = new AbortController()
  const seen: (number | null)[] = []
  await api.watch(dbPath, {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ apiKey: 'sk-watch', everyMs: 1, signal: stop.signal },
    onPoll: ({ figures }) => {
      seen.push(figures.remaining)
      if (seen.length === 2) stop.abort()
    },
  })
  expect(seen).toEqual([4, 4])
  const store = await api.openStore(dbPath)
  onTestFinished(() => store.close())
  // The same store, open: it cannot be closed while it is watched.
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}`
  await api.watch(store, {
    ...{ baseUrl, apiKey: 'sk-watch', everyMs: 1, count: 1 },
    onPoll: () => expect(() => store.close()).toThrow('cannot be closed'),
  })
  expect(await store.rows('SELECT count(*) AS n FROM usage_polls')).toEqual([{ n: 3 }])
})
