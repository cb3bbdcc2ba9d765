import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingParts, selectRuns, unknownClocks } from '../../src/audit/runs.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { prepareTop } from '../../src/report/page.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalFigures } from '../../src/report/summary/terminal.ts'
import { judgeParts } from '../../src/run/crew/merge.ts'
import { run } from '../../src/run/run.ts'
import { bodiesPath } from '../../src/store/attempts/packed-bodies.ts'
import { mergeParts } from '../../src/store/runs/merge.ts'
import { openStore, type Store } from '../store/opened.ts'
import { answerChat, chatScenario, key, startTarget, type Target } from './target.ts'

const of = 3
const scenario = chatScenario(
  `  - { name: ramp, load: poisson, rate: 60/s, duration: 700ms }
  - { name: closed, load: concurrency, users: 5, think: 20ms, duration: 300ms }
  - { name: last, load: constant, rate: 50/s, duration: 500ms }`,
  'threads: 1\ncapture: all\nthresholds: ["errors.share == 0", "service.mean < 10s"]',
)

let folder: string
let target: Target
let whole: string
/** Three shards, then one of another plan, a second try of shard 0, and one with another start. */
let parts: readonly string[]

async function record(
  name: string,
  shard: { index: number; of: number },
  seed: number,
  at: number,
) {
  const dbPath = join(folder, `${name}.duckdb`)
  await run(scenario, {
    baseUrl: target.baseUrl,
    dbPath,
    seed,
    shard,
    runId: 'launch-7',
    startAtUs: at,
    keys: { default: key },
  })
  return dbPath
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-merge-'))
  target = await startTarget((_, response) => answerChat(response, 'Yes. '.repeat(4000)))
  const soon = (Date.now() + 3000) * 1000
  const shards = Array.from({ length: of }, (_, index) =>
    record(`${index}`, { index, of }, 1, soon),
  )
  parts = await Promise.all(shards)
  whole = await record('whole', { index: 0, of: 1 }, 1, Date.now() * 1000)
  const now = Date.now() * 1000
  await Promise.all([
    record('other', { index: 2, of }, 2, now),
    record('again', { index: 0, of }, 1, soon),
    record('elsewhen', { index: 0, of }, 1, now),
  ])
}, 60_000)
afterAll(() => {
  target.close()
  rmSync(folder, { recursive: true, force: true })
})

const path = (name: string) => join(folder, `${name}.duckdb`)

async function merged<T>(
  name: string,
  groups: readonly (readonly string[])[],
  use: (store: Store) => Promise<T>,
  allowMissing = false,
): Promise<T> {
  const store = await openStore(path(name))
  try {
    for (const [at, group] of groups.entries()) {
      await mergeParts(store, {
        paths: group,
        allowMissing: allowMissing || at < groups.length - 1,
      })
    }
    return await use(store)
  } finally {
    store.close()
  }
}

/** A copy of a store with a change. */
async function edited(from: string, to: string, sql: string): Promise<void> {
  const bodies = bodiesPath(path(from))
  copyFileSync(path(from), path(to))
  if (existsSync(bodies)) copyFileSync(bodies, bodiesPath(path(to)))
  const store = await openStore(path(to))
  await store.execute(sql)
  store.close()
}

/**
 * Everything of the run in a fixed order, without numbers of shared tables and positions of bodies.
 */
async function contents(store: Store): Promise<readonly unknown[]> {
  const queries = [
    'SELECT * FROM attempts ORDER BY ALL',
    'SELECT * FROM histograms ORDER BY ALL',
    'SELECT * FROM health ORDER BY ALL',
    'SELECT * FROM templates ORDER BY ALL',
    'SELECT slot, retry, headers, body, packed_at IS NULL AS gone FROM bodies ORDER BY ALL',
    'SELECT * FROM run_shards ORDER BY ALL',
    'SELECT * FROM runs ORDER BY ALL',
  ]
  const rows: unknown[] = []
  for (const sql of queries) rows.push(await store.rows(sql))
  return rows
}

const openSql = (from: string) => `SELECT phase, slot, turn, step, key_fp, template, intended_us
  FROM ${from}attempts WHERE phase <> 'closed'`

test('a merge reports the store that it takes, and how many are done', {
  tags: 'whole',
}, async () => {
  const told: unknown[] = []
  const store = await openStore(path('told'))
  await mergeParts(store, { paths: parts, onProgress: (progress) => told.push(progress) })
  store.close()
  expect(told).toEqual(
    parts.map((part, at) => ({ doing: `taking ${part}`, done: at, of: parts.length })),
  )
})

test('merged shards equal, row by row, the open phases that one machine sends by the same seed', {
  tags: 'whole',
}, async () => {
  await merged('all', [parts], async (store) => {
    const result = await judgeParts(store, { runId: 'launch-7', clockErrorUs: 5000 })
    await store.execute(`ATTACH '${whole}' AS one (READ_ONLY)`)
    const both = [openSql(''), openSql('one.')]
    const differ = await store.rows(
      `(${both[0]} EXCEPT ALL ${both[1]}) UNION ALL (${both[1]} EXCEPT ALL ${both[0]})`,
    )
    expect(differ).toEqual([])
    const [rows] = await store.rows<{ n: number; open: number; slots: number; machines: number }>(
      `SELECT count(*) AS n, count(*) FILTER (phase <> 'closed') AS open,
         count(DISTINCT slot) AS slots, count(DISTINCT shard) AS machines FROM attempts`,
    )
    expect(rows!.open).toBeGreaterThan(50)
    expect(rows).toMatchObject({ n: result.counts.planned, slots: rows!.n, machines: of })
    expect(result.counts).toMatchObject({ ok: rows!.n, notSent: 0 })
    const [counted] = await store.rows<{ n: number }>(
      `SELECT sum(samples)::INTEGER AS n FROM histograms WHERE metric = 'service'`,
    )
    expect(counted!.n).toBe(rows!.n)
    expect(result.thresholds.map((threshold) => threshold.result)).toEqual(['held', 'held'])
    expect(result.verdict.tests[0]).toMatchObject({ name: 'shards', figure: '3 of 3 present' })
    expect(result.verdict.rowsHold).toBe(true)
    const [entered] = await store.rows<{ counts: string; machine: string }>(
      'SELECT attempt_counts_json AS counts, machine_json AS machine FROM runs',
    )
    expect(JSON.parse(entered!.counts)).toMatchObject({
      parts: { of, present: of },
      clockErrorUs: 5000,
    })
    expect(JSON.parse(entered!.machine)).toMatchObject({ machines: of })
    const lag = result.verdict.tests.find(({ name }) => name.startsWith('lag'))!
    expect(lag.figure).toMatch(/ \(shard [012]; [a-z ]+ in [123] of 3\)$/)
    const summary = await summarise(store, 'launch-7', defaultContract)
    expect(terminalFigures(summary)).toContain('Z, from 3 machines\n')
    expect(markdownSummary(summary)).toContain(', from 3 machines, Assay')
    const page = { page: 'launch', contract: defaultContract, runIds: ['launch-7'] } as const
    const { end } = await prepareTop(store, { ...page, store, timeZone: 'UTC', nowUs: 0 })
    expect(end).toMatchObject({ text: expect.stringContaining(', from 3 machines.</li>') })
    expect(await unknownClocks(store, ['launch-7'])).toEqual([])
    await judgeParts(store, { runId: 'launch-7' })
    expect(await unknownClocks(store, ['launch-7'])).toEqual([{ runId: 'launch-7' }])

    // Two shards differ at most by the sum of what each measured from shard 0.
    await store.execute('UPDATE run_shards SET clock_error_us = [0, 700, 300][shard + 1]')
    await judgeParts(store, { runId: 'launch-7' })
    const [measured] = await store.rows<{ us: number }>(
      `SELECT (attempt_counts_json->>'$.clockErrorUs')::DOUBLE AS us FROM runs`,
    )
    expect(measured!.us).toBe(1000)
    await store.execute('UPDATE run_shards SET clock_error_us = NULL WHERE shard = 1')
    await judgeParts(store, { runId: 'launch-7' })
    expect(await unknownClocks(store, ['launch-7'])).toEqual([{ runId: 'launch-7' }])
  })
})

test('merging in any order, in groups, or twice gives the same rows', {
  tags: 'whole',
}, async () => {
  const [a, b, c] = parts as [string, string, string]
  const judged = async (store: Store) => {
    await judgeParts(store, { runId: 'launch-7' })
    return contents(store)
  }
  const first = await merged('first', [parts], judged)
  expect(await merged('turned', [[c], [a, b]], judged)).toEqual(first)
  await merged('group', [[b, c]], async () => {}, true)
  expect(await merged('grouped', [[path('group')], [a]], judged)).toEqual(first)
  expect(await merged('grouped', [[a, b, c, path('group')]], judged)).toEqual(first)
})

test('a missing shard, another plan, another start and a shard that ran twice at once are refused by name', {
  tags: 'whole',
}, async () => {
  const refusal = (name: string, group: readonly string[]) =>
    merged(name, [group], async () => 'merged').catch((error: Error) => error.message)
  expect(await refusal('r1', parts.slice(0, 2))).toContain('of 3 shards, 1 are missing: 2.')
  expect(await refusal('r2', [...parts.slice(0, 2), path('other')])).toContain('ran other plans')
  await edited('again', 'twice', 'UPDATE run_shards SET began_at = began_at - INTERVAL 1 HOUR')
  const twice = await refusal('r3', [...parts, path('twice')])
  expect(twice).toContain('shard 0 was run twice at once: ')
  expect([twice.includes(path('twice')), twice.includes(path('0'))]).toEqual([true, true])
  expect(await refusal('r5', [...parts, path('elsewhen')])).toContain('have other starts')
  expect(await refusal('r4', [whole])).toContain('holds no part of a run')
})

test('the first complete try of a shard counts; a later try is kept and named, and its spend is counted', {
  tags: 'whole',
}, async () => {
  const again = path('again')
  const judged = async (store: Store) => {
    const result = await judgeParts(store, { runId: 'launch-7', clockErrorUs: 5000 })
    const [row] = await store.rows<{ n: number; ok: number; id: string }>(
      `SELECT count(*) FILTER (run_id = 'launch-7')::INTEGER AS n,
         count(*) FILTER (outcome = 'ok' AND run_id <> 'launch-7')::INTEGER AS ok, max(run_id) AS id FROM attempts`,
    )
    const summary = await summarise(store, 'launch-7', defaultContract)
    return { result, row: row!, summary, rows: await contents(store) }
  }
  const [first] = parts as [string]
  const once = await merged('once', [[first]], judged, true)
  const { result, row, summary, rows } = await merged('both', [[again, first]], judged, true)
  expect(result.counts).toEqual(once.result.counts)
  expect(row.n).toBe(once.row.n)
  expect(row.ok).toBeGreaterThan(10)
  expect(row.id).toMatch(/^launch-7~0\.[0-9a-f]{16}$/)
  // One credit each.
  expect(result.creditsByContract).toBe(once.result.creditsByContract! + row.ok)
  expect(summary.credits).toMatchObject({
    spent: once.summary.credits.spent! + row.ok,
    otherTries: [{ runId: row.id, spent: row.ok }],
  })
  expect(terminalFigures(summary)).toContain(` of it by another try of a shard`)
  expect(result.verdict.tests[1]).toMatchObject({
    name: 'another try of shard 0',
    result: 'degraded',
    figure: `${row.ok} credits more, kept as ${row.id}`,
  })
  expect(result.verdict.verdict).not.toBe('valid')
  // In another order, in groups, or twice.
  const groups = [[first], [again], [path('both'), first, again]]
  expect((await merged('both again', groups, judged, true)).rows).toEqual(rows)
  expect((await merged('copied', [[path('both')]], judged, true)).rows).toEqual(rows)
  // An audit takes both, so the spend of both is explained.
  const audited = await merged('both', [], async (store) => [
    (await selectRuns(store, ['launch-7'])).map(({ runId }) => runId),
    await missingParts(store, [row.id]),
  ])
  expect(audited).toEqual([['launch-7', row.id], []])
})

test('a killed try of a shard does not count if a later one is complete', {
  tags: 'whole',
}, async () => {
  await edited(
    '0',
    'killed',
    'UPDATE run_shards SET verdict_json = NULL, ended_us = NULL, attempt_counts_json = NULL',
  )
  const counting = await merged(
    'after',
    [[path('killed'), path('again')]],
    (store) =>
      store.rows('SELECT run_id AS id, verdict_json IS NULL AS killed FROM run_shards ORDER BY id'),
    true,
  )
  expect(counting).toEqual([
    { id: 'launch-7', killed: false },
    { id: expect.stringMatching(/^launch-7~0\./), killed: true },
  ])
  const before = await merged(
    'before',
    [[path('again')], [parts[0]!]],
    async () => 'merged',
    true,
  ).catch((error: Error) => error.message)
  expect(before).toContain('counts a try of shard 0 that another came before')
})

test('a run with a missing shard is invalid, and names how many are present', {
  tags: 'whole',
}, async () => {
  await merged(
    'gap',
    [parts.slice(0, 2)],
    async (store) => {
      const { verdict } = await judgeParts(store, { runId: 'launch-7', clockErrorUs: 0 })
      expect(verdict.verdict).toBe('invalid')
      expect(verdict.tests[0]).toMatchObject({ result: 'failed', figure: '2 of 3 present' })
      const [row] = await store.rows<{ parts: string }>(
        `SELECT attempt_counts_json->>'$.parts' AS parts FROM runs`,
      )
      expect(JSON.parse(row!.parts)).toEqual({ of: 3, present: 2 })
    },
    true,
  )
})

test('long bodies are merged with their rows', { tags: 'whole' }, async () => {
  const copy = path('copy')
  copyFileSync(path('first'), copy)
  expect(existsSync(bodiesPath(path('first')))).toBe(true)
  const store = await openStore(copy)
  const [row] = await store.rows<{ n: number; packed: number }>(
    'SELECT count(*) AS n, count(packed_at) AS packed FROM bodies',
  )
  store.close()
  expect(row!.packed).toBe(row!.n)
  expect(row!.n).toBeGreaterThan(50)
})

test('a run of one machine, and one that is not there, have no parts to judge', async () => {
  const store = await openStore(whole)
  await store.execute('DELETE FROM run_shards')
  for (const runId of ['launch-7', 'other']) {
    await expect(judgeParts(store, { runId })).rejects.toMatchObject({
      code: 'store',
      message: `The store ${whole} holds no part of a run ${runId}. Merge the stores of its shards into it first (assay merge, mergeParts).`,
    })
  }
  store.close()
})
