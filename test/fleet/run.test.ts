import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { joinFleet } from '../../src/fleet/fleet.ts'
import { judgeParts } from '../../src/run/crew/merge.ts'
import { run } from '../../src/run/run.ts'
import { mergeParts } from '../../src/store/runs/merge.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, chatScenario, query, startTarget } from '../run/target.ts'
import { natsServer, withoutNats } from './nats.ts'

const of = 2
const scenario = chatScenario(
  `  - { name: counted, load: concurrency, users: 3, max_requests: 31 }
  - { name: find, load: sweep, arrivals: constant, start: 20/s, max: 40/s, trial: 500ms, goodput: 95%, hold: 100 }
  - { name: last, load: constant, rate: 20/s, duration: 500ms }`,
  'objectives: { service: 1s }',
)

test.skipIf(withoutNats !== null)(
  `shards of a fleet share a sweep and a request count, and start each phase together${withoutNats === null ? '' : ` (skipped: ${withoutNats})`}`,
  { tags: 'whole', timeout: 240_000 },
  async () => {
    const [server, target] = await Promise.all([
      natsServer(),
      startTarget((_, response) => answerChat(response)),
    ])
    const folder = mkdtempSync(join(tmpdir(), 'assay-fleet-'))
    const path = (name: number | string) => join(folder, `${name}.duckdb`)
    try {
      const results = await Promise.all(
        Array.from({ length: of }, async (_, index) => {
          const shard = { index, of }
          const team = await joinFleet({
            ...{ address: server.address, runId: 'launch', shard, waitMs: 20_000 },
          })
          const { baseUrl } = target
          const options = { baseUrl, dbPath: path(index), shard, runId: 'launch', team }
          const result = await run(scenario, { ...options, keys: { default: 'sk-test' } })
          await team.close({ verdict: result.verdict.verdict, stopped: result.stopped })
          return result
        }),
      )
      expect(results.map(({ stopped, verdict }) => [stopped, verdict.rowsHold])).toEqual([
        [null, true],
        [null, true],
      ])
      // Each saw the same trials, with counts of both shards.
      const [sweep] = results[0]!.sweeps
      expect(results[1]!.sweeps).toEqual(results[0]!.sweeps)
      expect(sweep).toMatchObject({
        phase: 'find',
        safeRate: { kind: 'held', failedPerS: null },
      })
      const rated = sweep!.trials.filter(({ step }) => step !== 'warm-up')
      expect(rated.map(({ step, goodput }) => [step, goodput])).toEqual([
        ['bracket', 1],
        ['bracket', 1],
        ['hold', 1],
      ])
      expect(rated.map(({ sent }) => sent)).toEqual(rated.map(({ planned }) => planned))

      const store = await openStore(path('all'))
      await mergeParts(store, { paths: [path(0), path(1)] })
      const whole = await judgeParts(store, { runId: 'launch' })
      store.close()
      expect(whole.sweeps).toEqual(results[0]!.sweeps)
      const searched = sweep!.trials.reduce((sum, { sent }) => sum + sent, 0)
      expect(whole.counts).toMatchObject({ planned: 41 + searched, ok: 41 + searched })
      const phases = await query<Record<string, number | string>>(
        path('all'),
        `SELECT phase, count(*)::INTEGER AS n, count(DISTINCT shard)::INTEGER AS shards,
           count(DISTINCT slot)::INTEGER AS slots FROM attempts
         WHERE phase IN ('counted', 'last') GROUP BY phase ORDER BY min(slot)`,
      )
      expect(phases).toEqual([
        { phase: 'counted', n: 31, shards: 2, slots: 31 },
        { phase: 'last', n: 10, shards: 2, slots: 10 },
      ])
      // Requests are due on one clock: the shards alternate, a twentieth of a second apart.
      const due = await query<{ us: number; shard: number }>(
        path('all'),
        `SELECT (intended_us - min(intended_us) OVER ())::INTEGER AS us, shard FROM attempts
         WHERE phase = 'last' ORDER BY us`,
      )
      expect(due).toEqual(
        Array.from({ length: 10 }, (_, at) => ({ us: at * 50_000, shard: at % of })),
      )
      const [clocks] = await query<{ error: number; shards: number }>(
        path('all'),
        `SELECT max(clock_error_us) AS error, count(*)::INTEGER AS shards FROM run_shards`,
      )
      expect(clocks!.shards).toBe(2)
      expect(clocks!.error).toBeGreaterThan(0)
      expect(clocks!.error).toBeLessThan(1e6)
    } finally {
      target.close()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
