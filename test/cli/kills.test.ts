import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../src/run/run.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { main, withService } from '../e2e/command.ts'
import { tries } from '../nightly/tries.ts'
import { answerChat, chatScenario, key, startTarget } from '../run/target.ts'
import { openStore } from '../store/opened.ts'
import { plainRow } from '../store/plain-row.ts'

/** How many random times each command is killed. */
const times = tries(6, 20)
const patience = { timeout: 60_000 + times * 30_000 }
const patient = { tags: 'whole', ...patience }
const nightly = test.skipIf(process.env.NIGHTLY === undefined)

const folder = mkdtempSync(join(tmpdir(), 'assay-kills-'))
const db = join(folder, 'rows.duckdb')
const rowCount = 100_000

beforeAll(async () => {
  const store = await openStore(db)
  await startRun(store, {
    runId: plainRow(0).runId,
    kind: 'run',
    scenario: 'rows',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://127.0.0.1',
    contract: 'svc',
    startedAtUs: 0,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  })
  await appendAttempts(
    store,
    Array.from({ length: rowCount }, (_, slot) => plainRow(slot)),
  )
  store.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** Measures the command once, then kills it this often at random times within that. */
async function kills(
  args: readonly string[],
  look: () => Promise<void>,
  ends: readonly number[] = [0],
): Promise<void> {
  const began = performance.now()
  expect(ends).toContain((await once(start(args), 'exit'))[0])
  const tookMs = performance.now() - began
  for (let nth = 0; nth < times; nth++) {
    const child = start(args)
    const exit = once(child, 'exit')
    await Promise.race([sleep(Math.random() * tookMs), exit])
    child.kill('SIGKILL')
    await exit
    await look()
  }
}

test(
  'a killed export leaves no file or a complete file, and the next export cleans up',
  patient,
  async () => {
    const out = join(folder, 'rows.csv')
    const command = ['export', 'attempts', '--db', db, '--out', out]
    await kills(command, async () => {
      if (!existsSync(out)) return
      expect(readFileSync(out, 'utf8').split('\n')).toHaveLength(rowCount + 2)
      rmSync(out)
    })
    expect(await once(start(command), 'exit')).toEqual([0, null])
    expect(existsSync(out)).toBe(true)
    expect(existsSync(`${out}.partial`)).toBe(false)
  },
)

nightly('a report that is killed leaves no page, or a whole one', patience, async () => {
  const out = join(folder, 'page.html')
  await kills(['report', 'launch', '--db', db, '--out', out], async () => {
    if (!existsSync(out)) return
    expect(readFileSync(out, 'utf8').trimEnd().endsWith('</html>')).toBe(true)
    rmSync(out)
  })
})

test(
  'a killed import takes all of a log or nothing, and the next import takes the rest',
  patient,
  async () => {
    const [log, map, imported] = [
      join(folder, 'log.jsonl'),
      join(folder, 'map.yaml'),
      join(folder, 'imported.duckdb'),
    ]
    const lines = 100_000
    const line = (id: number) =>
      `{"id":"${id}","at":"2026-01-01T00:00:00Z","model":"svc-k2","credits":1,"status":200}`
    writeFileSync(log, `${Array.from({ length: lines }, (_, id) => line(id)).join('\n')}\n`)
    writeFileSync(
      map,
      'fields: { time: at, id: id, model: model, credits: credits, status: status }\n',
    )
    const countOf = async () => {
      const store = await openStore(imported)
      const [row] = await store.rows<{ n: number; ids: number }>(
        'SELECT count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids FROM usage_events',
      )
      store.close()
      return row!
    }
    const command = ['import', log, '--map', map, '--db', imported]
    await kills(command, async () => {
      const { n, ids } = await countOf()
      expect([0, lines]).toContain(n)
      expect(ids).toBe(n)
      for (const file of [imported, `${imported}.wal`]) rmSync(file, { force: true })
    })
    expect(await once(start(command), 'exit')).toEqual([0, null])
    expect(await countOf()).toEqual({ n: lines, ids: lines })
  },
)

nightly(
  'a merge that is killed takes all of a shard or nothing, and the next one the rest',
  patient,
  async () => {
    const target = await startTarget((_, response) => answerChat(response))
    const of = 3
    const rows = 900
    const scenario = chatScenario(
      `  - { name: a, load: constant, rate: ${rows / 3}/s, duration: 3s }`,
      'threads: 1',
    )
    const startAtUs = (Date.now() + 3000) * 1000
    const paths = await Promise.all(
      Array.from({ length: of }, async (_, index) => {
        const dbPath = join(folder, `shard-${index}.duckdb`)
        const keys = { default: key }
        const shard = { index, of }
        const { baseUrl } = target
        await run(scenario, { baseUrl, dbPath, seed: 1, shard, runId: 'm', startAtUs, keys })
        return dbPath
      }),
    )
    target.close()
    const db = join(folder, 'merged.duckdb')
    const command = ['merge', ...paths, '--db', db, '--clock-error', '1ms']
    const countOf = async () => {
      const store = await openStore(db)
      const [row] = await store.rows<{ n: number; slots: number; shards: number; whole: number }>(
        `SELECT count(*)::INTEGER AS n, count(DISTINCT slot)::INTEGER AS slots,
           count(DISTINCT shard)::INTEGER AS shards,
           (SELECT count(*) FROM run_shards)::INTEGER AS whole FROM attempts`,
      )
      store.close()
      return row!
    }
    // If other tests use the cores, the run is invalid for latency.
    const ends = [0, 4]
    await kills(
      command,
      async () => {
        const { n, slots, shards, whole } = await countOf()
        expect({ n, slots, shards }).toEqual({
          ...{ n: (rows / of) * whole, slots: (rows / of) * whole, shards: whole },
        })
        for (const end of ['', '.wal', '.bodies']) rmSync(`${db}${end}`, { force: true })
      },
      ends,
    )
    expect(ends).toContain((await once(start(command), 'exit'))[0])
    expect(await countOf()).toEqual({ n: rows, slots: rows, shards: of, whole: of })
  },
)

nightly('a watch that is killed keeps each poll that it has told of', patience, () =>
  withService([], async ({ baseUrl, keys }) => {
    const watched = join(folder, 'watched.duckdb')
    for (let nth = 0; nth < times; nth++) {
      for (const file of [watched, `${watched}.wal`]) rmSync(file, { force: true })
      const watch = start(
        ['usage', 'watch', '--json', '--every', '0.01', '--base-url', baseUrl, '--db', watched],
        { ASSAY_API_KEY: keys[0]!.apiKey },
      )
      let told = ''
      watch.stdout!.on('data', (piece) => {
        told += piece
      })
      await once(watch.stdout!, 'data')
      await sleep(Math.random() * 1000)
      const closed = once(watch, 'close')
      watch.kill('SIGKILL')
      await closed
      const polls = told.trimEnd().split('\n').length
      const store = await openStore(watched)
      const [row] = await store.rows<{ n: number }>(
        'SELECT count(*)::INTEGER AS n FROM usage_polls',
      )
      store.close()
      expect(row!.n).toBeGreaterThanOrEqual(polls)
      expect(row!.n).toBeLessThanOrEqual(polls + 1)
    }
  }),
)
