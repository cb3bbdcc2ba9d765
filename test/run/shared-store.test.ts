import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type AttemptRow, columnNames, sqlName } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import { run } from '../../src/run/run.ts'
import { isOpen } from '../../src/store/file.ts'
import { openStore } from '../../src/store/open.ts'
import { answerChat, chatScenario, key, startTarget, withStorePath } from './target.ts'

const keys = { default: key }
const scenario = (n: number) =>
  chatScenario(`  - { name: steady, load: constant, rate: 100/s, max_requests: ${n} }`)

test('a run records into a file that its process has open, next to earlier runs', async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const earlier = await run(scenario(5), { baseUrl: target.baseUrl, dbPath, keys })
    expect(isOpen(dbPath)).toBe(false)
    const store = await openStore(dbPath)
    const { runId, verdict } = await run(scenario(30), { baseUrl: target.baseUrl, dbPath, keys })
    expect(verdict.rowsHold).toBe(true)
    const { runs } = await audit(store, { runIds: [runId], rules: ['TRN', 'CHAT'] })
    expect(runs).toMatchObject([{ runId, attempts: 30 }])
    expect(
      await store.rows('SELECT run_id, count(*) AS n FROM attempts GROUP BY ALL ORDER BY n'),
    ).toEqual([
      { run_id: earlier.runId, n: 5 },
      { run_id: runId, n: 30 },
    ])
    store.close()
    expect(isOpen(dbPath)).toBe(false)
    expect(existsSync(`${dbPath}.journal`)).toBe(false)
  })
  target.close()
})

test('a run given an open store shares it, also in memory, and a second run at once is refused', async () => {
  const target = await startTarget((_, response) => answerChat(response))
  const store = await openStore(':memory:')
  const options = { baseUrl: target.baseUrl, store, keys }
  const stop = new AbortController()
  const first = run(scenario(10_000), { ...options, signal: stop.signal })
  await expect
    .poll(() => store.rows('FROM attempts').then((rows) => rows.length), { timeout: 30_000 })
    .toBeGreaterThan(0)
  await expect(run(scenario(5), options)).rejects.toMatchObject({
    message: expect.stringContaining('held by another run'),
  })
  stop.abort()
  const { runId, counts } = await first
  expect(await store.rows('SELECT run_id, kind FROM runs')).toEqual([
    { run_id: runId, kind: 'run' },
  ])
  expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual([{ n: counts.planned }])
  const again = await run(scenario(5), options)
  expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual([
    { n: counts.planned + 5 },
  ])
  expect(again.counts.planned).toBe(5)
  store.close()
  target.close()
})

test('a file that a run opens by itself is store-held for its process until the run has ended', async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const heard = Promise.withResolvers<unknown>()
    const options = { baseUrl: target.baseUrl, dbPath, keys, onAttempts: heard.resolve }
    const first = run(scenario(100), options)
    await heard.promise
    await expect(openStore(dbPath)).rejects.toMatchObject({
      code: 'store-held',
      message: expect.stringContaining('held by a run in this process'),
    })
    await first
    const store = await openStore(dbPath)
    expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual([{ n: 100 }])
    store.close()
  })
  target.close()
})

test.each(['a thread', 'the process'])(
  'the listener hears of every attempt as it is stored, recorded by %s',
  async (by) => {
    const target = await startTarget((_, response) => answerChat(response))
    await withStorePath(async (dbPath) => {
      const heard: AttemptRow[] = []
      const open = by === 'a thread' ? null : await openStore(dbPath)
      await run(scenario(40), {
        ...{ baseUrl: target.baseUrl, dbPath, keys },
        onAttempts: (attempts) => heard.push(...attempts),
      })
      const store = open ?? (await openStore(dbPath))
      const kept = await store.rows(
        `SELECT ${columnNames.map((name) => `${sqlName(name)} AS "${name}"`).join(', ')} FROM attempts ORDER BY slot`,
      )
      expect(kept.length).toBe(40)
      expect(heard.sort((a, b) => a.slot - b.slot)).toEqual(kept)
      store.close()
    })
    target.close()
  },
)
