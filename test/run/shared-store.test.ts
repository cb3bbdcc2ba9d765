import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type AttemptRow, columnNames, sqlName } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import { run } from '../../src/run/run.ts'
import { isOpen } from '../../src/store/session/file.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, chatScenario, key, query, startTarget, withStorePath } from './target.ts'

const keys = { default: key }
const scenario = (n: number) =>
  chatScenario(`  - { name: steady, load: constant, rate: 100/s, max_requests: ${n} }`)

test('a run records into a file that its process has open, next to earlier runs', {
  tags: 'whole',
}, async () => {
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

test('a run given an open store shares it, also in memory, and a second run at once is refused', {
  tags: 'whole',
}, async () => {
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

test.each([
  ['short run', 100],
  ['run with a thread for its recorder', 5000],
])(
  'a file that a %s opens by itself is store-held for its process until the run has ended',
  { tags: 'whole' },
  async (_, planned) => {
    const target = await startTarget((_, response) => answerChat(response))
    await withStorePath(async (dbPath) => {
      const heard = Promise.withResolvers<unknown>()
      const stop = new AbortController()
      const options = { baseUrl: target.baseUrl, dbPath, keys, onAttempts: heard.resolve }
      const first = run(scenario(planned), { ...options, signal: stop.signal })
      await heard.promise
      // The recorder of a short run is in this thread.
      expect(isOpen(dbPath)).toBe(planned === 100)
      await expect(openStore(dbPath)).rejects.toMatchObject({
        code: 'store-held',
        message: expect.stringContaining('held by a run in this process'),
      })
      await expect(run(scenario(5), options)).rejects.toThrow('held by a run in this process')
      stop.abort()
      const { counts } = await first
      expect(counts.planned).toBeGreaterThan(0)
      expect(isOpen(dbPath)).toBe(false)
      const store = await openStore(dbPath)
      expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual([
        { n: counts.planned },
      ])
      store.close()
    })
    target.close()
  },
)

test('a run tells its result while its store is open, also after an error of the listener', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const options = { baseUrl: target.baseUrl, dbPath, keys }
    const told: unknown[] = []
    const { runId, verdict } = await run(scenario(7), {
      ...options,
      async onJudged(result, store) {
        told.push(result.runId, ...(await store.rows('SELECT run_id, verdict FROM runs')))
      },
    })
    expect(told).toEqual([runId, { run_id: runId, verdict: verdict.verdict }])
    const failing = run(scenario(5), {
      ...options,
      onJudged: () => Promise.reject(new Error('no printer')),
    })
    await expect(failing).rejects.toThrow('no printer')
    expect(isOpen(dbPath)).toBe(false)
  })
  target.close()
})

test('a short run that fails before its load leaves its store closed', async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const options = { baseUrl: target.baseUrl, dbPath, keys, runId: 'twice' }
    await run(scenario(3), options)
    await expect(run(scenario(3), options)).rejects.toThrow('holds a run twice already')
    expect(isOpen(dbPath)).toBe(false)
    expect(await query(dbPath, 'SELECT count(*) AS n FROM attempts')).toEqual([{ n: 3 }])
    const none = join(dirname(dbPath), 'none', 'a.duckdb')
    await expect(run(scenario(3), { ...options, dbPath: none })).rejects.toThrow(
      'there is no folder',
    )
    expect(isOpen(none)).toBe(false)
  })
  target.close()
})

test.each(['a thread', 'this thread', 'this thread, which has the file open'])(
  'the listener hears of every attempt as it is stored, recorded by %s',
  { tags: 'whole' },
  async (by) => {
    const target = await startTarget((_, response) => answerChat(response))
    await withStorePath(async (dbPath) => {
      const heard: AttemptRow[] = []
      const open = by.endsWith('open') ? await openStore(dbPath) : null
      // An open number of requests is no short run.
      const load =
        by === 'a thread'
          ? 'concurrency, users: 2, think: 20ms, duration: 1s'
          : 'constant, rate: 100/s, max_requests: 40'
      const { counts } = await run(chatScenario(`  - { name: steady, load: ${load} }`), {
        ...{ baseUrl: target.baseUrl, dbPath, keys },
        onAttempts: (attempts) => heard.push(...attempts),
      })
      const store = open ?? (await openStore(dbPath))
      const kept = await store.rows(
        `SELECT ${columnNames.map((name) => `${sqlName(name)} AS "${name}"`).join(', ')} FROM attempts ORDER BY slot`,
      )
      expect(kept.length).toBe(counts.planned)
      expect(kept.length).toBeGreaterThan(9)
      expect(heard.sort((a, b) => a.slot - b.slot)).toEqual(kept)
      store.close()
    })
    target.close()
  },
)

test('a store cannot be closed during a run or an import of it, which go on', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => void setTimeout(() => answerChat(response), 20))
  await withStorePath(async (dbPath) => {
    const store = await openStore(dbPath)
    const busy = { code: 'store-busy' }
    const running = run(scenario(30), { baseUrl: target.baseUrl, store, keys })
    let refused = 0
    const closer = setInterval(() => {
      try {
        store.close()
      } catch (error) {
        expect(error).toMatchObject(busy)
        refused++
      }
    }, 5)
    const { runId, counts } = await running.finally(() => clearInterval(closer))
    expect(refused).toBeGreaterThan(5)
    expect(counts.ok).toBe(30)
    expect(await store.rows('SELECT run_id, count(*) AS n FROM attempts GROUP BY 1')).toEqual([
      { run_id: runId, n: 30 },
    ])
    store.close()
  })
  target.close()
})
