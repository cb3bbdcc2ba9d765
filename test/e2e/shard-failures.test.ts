import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Finding } from '../../src/audit/verdict.ts'
import type { RunResult } from '../../src/run/run.ts'
import { query } from '../run/target.ts'
import { assay, type Ended, type Running, withFolder, withService } from './command.ts'

const scenario = `name: parts
question: What becomes of a run whose part fails?
model: svc-k2
threads: 1
steps: { chat: { endpoint: chat, prompt: Hello, max_tokens: 4 } }
phases: [{ name: steady, load: constant, rate: 40/s, duration: 4s }]
`

/** A machine whose clock is behind by half a second. */
const behind = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('const now=Date.now;Date.now=()=>now()-500')}`,
}

interface Part {
  readonly folder: string
  readonly baseUrl: string
  /** Unix milliseconds. */
  readonly startMs: number
}

/** One of two shards, with a store of the same name. */
function shard(
  { folder, baseUrl, startMs }: Part,
  name: string,
  index: number,
  apiKey: string,
  env: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
): Running {
  const start = ['--run-id', 'launch', '--start-at', new Date(startMs).toISOString()]
  const own = ['--shard', `${index}/2`, '--db', `${name}.duckdb`, '--base-url', baseUrl]
  return assay(['run', 'parts.yaml', ...own, ...start, '--yes', '--json', ...more], {
    cwd: folder,
    env: { ASSAY_API_KEY: apiKey, ...env },
  })
}

/** Waits until a process has put rows into its journal. */
async function untilRows(folder: string, name: string, running: Running): Promise<void> {
  const journals = () =>
    readdirSync(folder).filter(
      (file) => file.startsWith(`${name}.duckdb.`) && file.includes('journal'),
    )
  while (!journals().some((file) => statSync(join(folder, file)).size > 1000)) {
    if (running.child.exitCode !== null) throw new Error(running.stderr)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test.skipIf(process.env.NIGHTLY === undefined)(
  'a shard that is killed, late, missing, duplicated, of another plan or on another clock ends as the documents say',
  async () => {
    await withService(['--ttft', '5ms'], ({ baseUrl, keys }) =>
      withFolder(async (folder) => {
        writeFileSync(join(folder, 'parts.yaml'), scenario)
        const [, , a, b] = keys.map(({ apiKey }) => apiKey) as [string, string, string, string]
        const merge = (db: string, stores: readonly string[], ...more: readonly string[]) =>
          assay(
            [
              'merge',
              ...stores.map((name) => `${name}.duckdb`),
              '--db',
              `${db}.duckdb`,
              '--json',
            ].concat(more),
            { cwd: folder },
          ).ended
        const judged = ({ stdout }: Ended) => JSON.parse(stdout) as RunResult
        const refused = ({ code, stderr, stdout }: Ended) => {
          expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
          return stderr.replaceAll(/\s+/g, ' ')
        }
        /**
         * The verdicts of the billing rules on a store, without duplicates, without not observed
         * and without not promised.
         */
        const billing = async (db: string) => {
          const { stdout } = await assay(
            ['audit', '--db', `${db}.duckdb`, '--rule', 'BILL', '--json'],
            { cwd: folder },
          ).ended
          const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
          const said = new Set(findings.map(({ verdict }) => verdict.verdict))
          return [...said].filter((each) => each !== 'not-observed' && each !== 'not-promised')
        }

        // The sets do not share accounts, because each would disturb the billing of the other.
        const set: Part = { folder, baseUrl, startMs: Date.now() + 6000 }
        const first = shard(set, '0', 0, a)
        const second = shard(set, '1', 1, a)
        const victim = shard(set, 'killed', 1, b)
        const beside = shard(set, 'beside', 0, b)
        await untilRows(folder, 'killed', victim)
        victim.child.kill('SIGKILL')
        expect((await first.ended).code).toBe(0)
        expect((await second.ended).code).toBe(0)
        expect((await beside.ended).code).toBe(0)
        await victim.ended

        const killed = await merge('with-killed', ['beside', 'killed'], '--clock-error', '100ms')
        expect(killed.code).toBe(4)
        const { verdict } = judged(killed)
        expect(verdict).toMatchObject({ verdict: 'invalid', rowsHold: false })
        expect(verdict.tests[0]).toMatchObject({
          name: 'shards',
          result: 'failed',
          figure: '2 of 2 present; 1 did not end',
        })
        const [rows] = await query<{ n: number }>(
          join(folder, 'with-killed.duckdb'),
          'SELECT count(*)::INTEGER AS n FROM attempts WHERE shard = 1',
        )
        expect(rows!.n).toBeGreaterThan(0)
        expect(await billing('with-killed')).toEqual(['inconclusive'])

        expect(refused(await merge('m1', ['0']))).toContain(
          'of 2 shards, 1 are missing: 1. Name their stores, or judge without them by --allow-missing.',
        )
        expect(existsSync(join(folder, 'm1.duckdb'))).toBe(false)
        const gap = await merge('gap', ['0'], '--allow-missing')
        expect(gap.code).toBe(4)
        expect(judged(gap).verdict).toMatchObject({ verdict: 'invalid', rowsHold: false })
        expect(judged(gap).verdict.tests[0]).toMatchObject({ figure: '1 of 2 present' })
        expect(await billing('gap')).toEqual(['inconclusive'])

        // The start is long past: each of these counts as a late machine, too.
        const late = shard(set, 'late', 1, a)
        const other = shard(set, 'other', 1, a, {}, ['--duration', '100ms'])
        expect([(await late.ended).code, (await other.ended).code]).toEqual([0, 0])
        const withLate = await merge('with-late', ['0', 'late'])
        expect(withLate.code).toBe(4)
        expect(judged(withLate).verdict).toMatchObject({ verdict: 'invalid', rowsHold: true })
        const lag = judged(withLate).verdict.tests.find(({ name }) => name.startsWith('lag'))
        expect(lag).toMatchObject({
          result: 'failed',
          figure: expect.stringMatching(/; failed in [12] of 2\)$/),
        })

        // The first complete try counts; the spend of the other is reported.
        const again = judged(await merge('m2', ['0', '1', 'late']))
        expect(again.counts.planned).toBe(160)
        expect(again.verdict.tests[1]).toMatchObject({
          name: 'another try of shard 1',
          result: 'degraded',
          figure: expect.stringMatching(/^\d+ credits more, kept as launch~1\.[0-9a-f]{16}$/),
        })
        expect(refused(await merge('m3', ['0', 'other']))).toContain('ran other plans: scenario,')

        const next: Part = { folder, baseUrl, startMs: Date.now() + 5000 }
        const [c] = keys.slice(1).map(({ apiKey }) => apiKey) as [string]
        const pair = [shard(next, 'true', 0, c), shard(next, 'behind', 1, c, behind)]
        for (const { ended } of pair) expect((await ended).code).toBe(0)
        await merge('skewed', ['true', 'behind'])
        expect(await billing('skewed')).toEqual(['inconclusive'])
        await merge('bounded', ['true', 'behind'], '--clock-error', '600ms')
        const bounded = await billing('bounded')
        expect(bounded).toContain('pass')
        expect(bounded).not.toContain('fail')
        expect(refused(await merge('m4', ['0', 'behind']))).toContain('other starts')
      }),
    )
  },
  240_000,
)
