import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { percentileOf } from '../../src/measure/percentile.ts'
import type { RunSummary } from '../../src/report/summary/shape.ts'
import type { RunResult } from '../../src/run/run.ts'
import { openStore } from '../../src/store/session/open.ts'
import { query } from '../run/target.ts'
import { assay, withFolder } from './command.ts'
import { namespaces, whyNoNamespaces } from './namespaces.ts'

const why = whyNoNamespaces()
const of = 4
const users = 6
/** Half a minute of load at night, otherwise two seconds. */
const [perS, seconds] = process.env.NIGHTLY === undefined ? [40, 0.5] : [200, 8]

const scenario = `name: parts
question: Is the union of the parts the whole?
model: svc-k2
threads: 1
max_in_flight: 100000
keys: { one: { env: ONE }, two: { env: TWO, weight: 3 } }
steps:
  chat: { endpoint: chat, weight: 2, prompt: Hello, max_tokens: 4 }
  stream: { endpoint: chat, stream: true, max_tokens: 4, prompt: { synthetic: { uniform: { min: 5, max: 20 } } } }
  talk: { endpoint: chat, prompt: Hello, max_tokens: 4, session: { turns: 3 } }
phases:
  - { name: ramp, load: constant, rate: { from: ${perS / 4}/s, to: ${perS}/s }, duration: ${seconds}s }
  - { name: random, load: poisson, rate: ${perS}/s, duration: ${seconds}s }
  - { name: closed, load: concurrency, users: ${users}, think: 20ms, duration: ${seconds}s }
  - { name: last, load: constant, rate: ${perS}/s, duration: ${seconds}s }
`

/** First turns of open phases: rows that depend only on the seed. */
const plannedSql = (
  from: string,
) => `SELECT phase, slot, turn, attempts.step, key_fp, sha256(body), intended_us
  FROM ${from}attempts LEFT JOIN ${from}templates USING (run_id, template)
  WHERE phase <> 'closed' AND turn = 0 AND retry = 0`

/** Rows of the plan that one store has and another lacks. */
async function differing(here: string, there: string): Promise<readonly unknown[]> {
  const store = await openStore(here)
  try {
    await store.execute(`ATTACH '${there}' AS one (READ_ONLY)`)
    const both = [plannedSql(''), plannedSql('one.')]
    return await store.rows(
      `(${both[0]} EXCEPT ALL ${both[1]}) UNION ALL (${both[1]} EXCEPT ALL ${both[0]})`,
    )
  } finally {
    store.close()
  }
}

/** Of the service times in several stores, without a merge. */
async function p95Of(paths: readonly string[]): Promise<number> {
  const times: number[] = []
  for (const path of paths) {
    const rows = await query<{ us: number }>(
      path,
      `SELECT (done_us - sent_us)::DOUBLE AS us FROM attempts WHERE outcome = 'ok'`,
    )
    times.push(...rows.map(({ us }) => us))
  }
  return percentileOf(
    times.sort((a, b) => a - b),
    0.95,
  )!
}

test.skipIf(why !== null)(
  `four machines send what one machine sends by the same seed, and are judged once${why === null ? '' : ` (skipped: ${why})`}`,
  { tags: 'whole', timeout: 240_000 },
  async () => {
    const net = namespaces(of)
    const serve = ['serve', '--json', '--port', '0', '--host', net.address, '--ttft', '5ms']
    const service = assay(serve, { within: net.service })
    try {
      await withFolder(async (folder) => {
        const { baseUrl, keys } = JSON.parse(await service.firstLine())
        writeFileSync(join(folder, 'parts.yaml'), scenario)
        const run = (name: string, machine: number, ...more: readonly string[]) =>
          assay(
            ['run', 'parts.yaml', '--base-url', baseUrl, '--db', `${name}.duckdb`].concat(
              ...['--seed', '7', '--yes', '--no-first-requests', '--json', ...more],
            ),
            {
              cwd: folder,
              env: { ONE: keys[2].apiKey, TWO: keys[3].apiKey },
              within: net.machines[machine]!,
            },
          ).ended
        const inS = (s: number) => ['--start-at', new Date(Date.now() + s * 1000).toISOString()]
        const start = inS(8)
        const parts = await Promise.all(
          net.machines.map((_, at) =>
            run(`${at}`, at, ...['--shard', `${at}/${of}`, '--run-id', 'parts', ...start]),
          ),
        )
        expect(parts.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0])
        await run('whole', 0, ...inS(3))
        const names = net.machines.map((_, at) => `${at}.duckdb`)
        const merge = (...stores: readonly string[]) =>
          assay(['merge', ...stores, '--json'], { cwd: folder }).ended
        const merged = await merge(...names, '--db', 'all.duckdb')
        const result = JSON.parse(merged.stdout) as RunResult & { summary: RunSummary }

        const path = (name: string) => join(folder, `${name}.duckdb`)
        expect(await differing(path('all'), path('whole'))).toEqual([])

        const [rows] = await query<Record<string, number>>(
          path('all'),
          `SELECT count(*)::INTEGER AS n, count(DISTINCT (slot, retry))::INTEGER AS slots,
             (count(*) FILTER (outcome = 'ok'))::INTEGER AS ok,
             (count(*) FILTER (phase = 'closed'))::INTEGER AS closed,
             (SELECT count(*) FROM runs)::INTEGER AS runs
           FROM attempts`,
        )
        const { planned, ok } = result.counts
        expect(rows).toMatchObject({ n: planned, slots: planned, ok, runs: 1 })
        const counts = parts.map(({ stdout }) => (JSON.parse(stdout) as RunResult).counts)
        expect(counts.reduce((sum, counts) => sum + counts.planned, 0)).toBe(planned)

        expect(result.summary.all.metrics.service.p95.us).toBeCloseTo(
          await p95Of(net.machines.map((_, at) => path(`${at}`))),
          3,
        )

        // The users of each machine are its share of six, whatever the others do.
        const peaks = await query<{ machine: number; peak: number }>(
          path('all'),
          `SELECT shard AS machine, max(here)::INTEGER AS peak FROM
             (SELECT shard, sum(step) OVER (PARTITION BY shard ORDER BY us, step) AS here FROM
               (SELECT shard, sent_us AS us, 1 AS step FROM attempts WHERE phase = 'closed' AND sent_us IS NOT NULL
                UNION ALL SELECT shard, closed_us, -1 FROM attempts WHERE phase = 'closed' AND sent_us IS NOT NULL))
           GROUP BY shard ORDER BY shard`,
        )
        for (const { machine, peak } of peaks) expect(peak).toBeLessThanOrEqual(machine < 2 ? 2 : 1)

        const everything = 'SELECT * FROM attempts ORDER BY ALL'
        const first = await query(path('all'), everything)
        await merge(names[3]!, names[1]!, '--db', 'group.duckdb', '--allow-missing')
        await merge(names[2]!, 'group.duckdb', names[0]!, '--db', 'grouped.duckdb')
        await merge(...names, '--db', 'grouped.duckdb')
        expect(await query(path('grouped'), everything)).toEqual(first)
      })
    } finally {
      service.child.kill('SIGTERM')
      await service.ended
      net.remove()
    }
  },
)
