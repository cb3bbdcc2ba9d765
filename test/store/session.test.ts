import { linkSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { makeReport } from '../../src/report/page.ts'
import { isOpen, reserveFile } from '../../src/store/session/file.ts'
import { openStore } from '../../src/store/session/open.ts'
import { inSession } from '../../src/store/session/session.ts'
import { seededOptions, seededStore } from '../report/seeded.ts'
import { emptyStore } from './opened.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-session-'))
  path = join(folder, 'a.duckdb')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a file that is opened twice in a process', () => {
  test('is one database, however its path is spelled', async () => {
    const first = await openStore(path)
    symlinkSync(path, join(folder, 'link.duckdb'))
    linkSync(path, join(folder, 'hard.duckdb'))
    await first.execute('CREATE TABLE seen (n INTEGER)')
    for (const name of ['a.duckdb', 'link.duckdb', 'hard.duckdb', './a.duckdb']) {
      const again = await openStore(`${folder}/${name}`)
      await again.execute('INSERT INTO seen VALUES (1)')
      again.close()
    }
    expect(await first.rows('SELECT count(*) AS n FROM seen')).toEqual([{ n: 4 }])
    first.close()
    expect(isOpen(path)).toBe(false)
  })

  test('at once is one database, with its tables', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(path)))
    await stores[0]!.execute('CREATE TABLE seen AS SELECT 7 AS n')
    for (const store of stores) {
      expect(await store.rows('SELECT n, (SELECT count(*) FROM runs) AS runs FROM seen')).toEqual([
        { n: 7, runs: 0 },
      ])
      store.close()
    }
  })

  test('is another database once it was removed and made again', async () => {
    const first = await openStore(path)
    await first.execute('CREATE TABLE seen (n INTEGER)')
    rmSync(path)
    const second = await openStore(path)
    expect(await second.rows(`SELECT 1 FROM duckdb_tables() WHERE table_name = 'seen'`)).toEqual([])
    first.close()
    second.close()
  })

  test('by another thread is refused as store-held', { tags: 'whole' }, async () => {
    const thread = new Worker(
      `import { DuckDBInstance } from '@duckdb/node-api'
       import { parentPort, workerData } from 'node:worker_threads'
       const instance = await DuckDBInstance.create(workerData)
       parentPort.once('message', () => { instance.closeSync(); parentPort.postMessage('closed'); })
       parentPort.postMessage('open')`,
      { eval: true, workerData: path },
    )
    const said = () => new Promise((resolve) => thread.once('message', resolve))
    await said()
    await expect(openStore(path)).rejects.toMatchObject({
      code: 'store-held',
      message: expect.stringContaining('held by another thread in this process'),
    })
    thread.postMessage('close')
    await said()
    await thread.terminate()
    const store = await openStore(path)
    expect(await store.rows('FROM runs')).toEqual([])
    store.close()
  })

  test('while something else keeps it is refused as store-held, with the holder named', async () => {
    const giveBack = reserveFile(path, 'a run')
    await expect(openStore(path)).rejects.toMatchObject({
      code: 'store-held',
      message: expect.stringContaining('held by a run in this process'),
    })
    giveBack()
    const store = await openStore(path)
    expect(() => reserveFile(path, 'a run')).toThrow('held by an open store')
    store.close()
  })

  test('can be opened again after an opening that failed', async () => {
    const missing = join(folder, 'none', 'a.duckdb')
    await expect(openStore(missing)).rejects.toThrow('there is no folder')
    expect(isOpen(missing)).toBe(false)
  })
})

describe('a session', () => {
  test('keeps variables, temporary tables and its narrowed attempts from others', async () => {
    const store = await openStore(':memory:')
    const own = await store.session({ only: `account = 'a'` })
    await own.execute(`SET VARIABLE mine = 1; CREATE TEMP TABLE runs AS SELECT 1 AS n`)
    const other = await store.session()
    expect(await other.rows(`SELECT getvariable('mine') AS mine FROM runs`)).toEqual([])
    expect(await other.rows(`SELECT count(*) AS n FROM duckdb_tables() WHERE temporary`)).toEqual([
      { n: 0 },
    ])
    expect(
      await store.rows(`SELECT count(*) AS n FROM duckdb_views() WHERE temporary AND NOT internal`),
    ).toEqual([{ n: 0 }])
    store.end()
  })

  test('is not closed during an operation; a session that is closed during a query ends it', async () => {
    const store = await openStore(path)
    const session = await store.session()
    const endless = session.rows('SELECT count(*) FROM range(100000000000) AS t(i) WHERE i % 7 = 3')
    const refused = expect(endless).rejects.toThrow(/interrupt/i)
    const busy = { code: 'store-busy', message: expect.stringContaining('an operation uses it') }
    expect(() => store.close()).toThrow(expect.objectContaining(busy))
    session.close()
    await refused
    store.close()
    expect(isOpen(path)).toBe(false)
    await expect(session.rows('SELECT 1')).rejects.toThrow('is closed')
    await expect(store.rows('SELECT 1')).rejects.toThrow('is closed')
  })

  test('is interrupted by its signal, and no other session is', { tags: 'whole' }, async () => {
    const store = await openStore(':memory:')
    const stop = new AbortController()
    const counted = (signal: AbortSignal | undefined, n: number) =>
      inSession(store, signal === undefined ? {} : { signal }, (session) =>
        session.rows<{ n: number }>(
          `SELECT count(*) AS n FROM range(${n}) AS t(i) WHERE hash(i) % 7 >= 0`,
        ),
      )
    const stopped = expect(counted(stop.signal, 1e12)).rejects.toThrow('enough')
    const other = counted(undefined, 1e8)
    stop.abort(new Error('enough'))
    await stopped
    expect(await other).toEqual([{ n: 1e8 }])
    store.close()
  })

  test('that writes attempts waits for the one before it', async () => {
    const store = await openStore(':memory:')
    const first = await store.session({ writes: 'attempts' })
    let isOpen = false
    const second = store.session({ writes: 'attempts' }).then((session) => {
      isOpen = true
      return session
    })
    await store.rows('SELECT 1')
    expect(isOpen).toBe(false)
    first.close()
    await second
    expect(isOpen).toBe(true)
    store.end()
  })
})

describe('two operations at once on one store', () => {
  test('each make the page of their own run', { tags: 'whole' }, async () => {
    const store = await seededStore({ attempts: 100 })
    const page = (runId: string) =>
      makeReport({ ...seededOptions(store), page: 'launch', runIds: [runId] })
    const alone = [await page('run-1'), await page('run-sweep')]
    const both = await Promise.all([page('run-1'), page('run-sweep')])
    expect(both.map(({ html }) => html)).toEqual(alone.map(({ html }) => html))
    expect(both[0]!.html).not.toBe(both[1]!.html)
    store.close()
  })

  test('audit their own accounts: a share narrows no other audit', { tags: 'whole' }, async () => {
    const store = await seededStore({ attempts: 100 })
    const findings = async (accounts?: { index: number; of: number }) => {
      const options = { contract: defaultContract, runIds: ['run-1'], rules: ['BILL', 'ERR'] }
      const shared = accounts === undefined ? {} : { accounts }
      return (await audit(store, { ...options, ...shared })).findings
    }
    const share = { index: 0, of: 50 }
    const alone = [await findings(), await findings(share)]
    expect(await Promise.all([findings(), findings(share)])).toEqual(alone)
    expect(alone[0]).not.toEqual(alone[1])
    store.close()
  })
})

test('batches of doubles hold every row in order, with NaN for null', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  const seen: Float64Array[] = []
  await inSession(store, {}, (session) =>
    session.doubleBatches(
      'SELECT CASE WHEN i % 2 = 0 THEN i END::DOUBLE FROM range($1) t(i) ORDER BY i',
      [150_000],
      async ([values]) => void seen.push(values!),
    ),
  )
  expect(seen.length).toBe(3)
  expect(seen.flatMap((values) => [...values])).toEqual(
    Array.from({ length: 150_000 }, (_, row) => (row % 2 === 0 ? row : Number.NaN)),
  )
  store.close()
})

test('a query that needs more memory than it may use is an error that says so, and loses nothing', async () => {
  const store = await openStore(path)
  await store.execute('CREATE TABLE kept AS SELECT 1 AS n')
  const tooMuch = inSession(store, {}, async (session) => {
    await session.execute(`SET memory_limit = '20MiB'`)
    await session.rows('SELECT list(i) AS all FROM range(10000000) AS t(i)')
  })
  await expect(tooMuch).rejects.toThrow(
    `A query of ${path} needs more memory than the 20.0 MiB that DuckDB may use here. The file is whole.`,
  )
  expect(await store.rows('SELECT n FROM kept')).toEqual([{ n: 1 }])
  store.close()
})

test('a store of tests that is closed twice is given to one of them', async () => {
  const first = await emptyStore()
  first.close()
  first.close()
  const [one, other] = [await emptyStore(), await emptyStore()]
  await one.execute('CREATE TABLE shared AS SELECT 1 AS n')
  await expect(other.rows('FROM shared')).rejects.toThrow()
  await one.execute('DROP TABLE shared')
  one.close()
  other.close()
})
