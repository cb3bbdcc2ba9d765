import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunSeen } from '../../src/fleet/watch.ts'
import type { RunResult } from '../../src/run/run.ts'
import { natsServer, withoutNats } from '../fleet/nats.ts'
import { answerChat, startTarget } from '../run/target.ts'
import { assay, withFolder, withService } from './command.ts'

const of = 4
const scenario = (s: number) => `name: fleet
question: Do shards go on without their server?
model: svc-k2
threads: 1
steps: { chat: { endpoint: chat, prompt: Hello, max_tokens: 4 } }
phases: [{ name: steady, load: constant, rate: 40/s, duration: ${s}s }]
`

/** Answers at once, and records the time of each request. */
async function stampingTarget() {
  const cameMs: number[] = []
  const target = await startTarget((_, response) => {
    cameMs.push(performance.now())
    answerChat(response)
  })
  return { cameMs, baseUrl: target.baseUrl, close: () => target.close() }
}

test.skipIf(process.env.NIGHTLY === undefined || withoutNats !== null)(
  `processes that join a fleet start together, survive the loss of the server, end on one Ctrl-C, and wait only until the deadline${withoutNats === null ? '' : ` (skipped: ${withoutNats})`}`,
  async () => {
    const server = await natsServer()
    await withService(['--ttft', '5ms'], ({ baseUrl, keys }) =>
      withFolder(async (folder) => {
        writeFileSync(join(folder, 'fleet.yaml'), scenario(6))
        writeFileSync(join(folder, 'long.yaml'), scenario(60))
        const { apiKey } = keys.at(-1)!
        const meet = ['--join', server.address, '--join-timeout', '20s']
        const shard = (
          file: string,
          runId: string,
          index: number,
          more: readonly string[] = meet,
          url = baseUrl,
        ) =>
          assay(
            ['run', file, '--base-url', url, '--shard', `${index}/${of}`, '--run-id', runId]
              .concat(['--db', `${runId}-${index}.duckdb`, '--yes', '--json'])
              .concat(more),
            { cwd: folder, env: { ASSAY_API_KEY: apiKey } },
          )
        const shards = (file: string, runId: string) =>
          Array.from({ length: of }, (_, index) => shard(file, runId, index))
        const merge = async (runId: string, count: number) => {
          const stores = Array.from({ length: count }, (_, at) => `${runId}-${at}.duckdb`)
          const db = `${runId}.duckdb`
          const { code, stdout } = await assay(['merge', ...stores, '--db', db, '--json'], {
            cwd: folder,
          }).ended
          return { code, ...(JSON.parse(stdout) as RunResult) }
        }
        const seen = (stdout: string) =>
          stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as RunSeen]))

        // One shard never joins: the others end at the deadline and name its index.
        const few = ['--join', server.address, '--join-timeout', '3s']
        const lonely = await Promise.all(
          [0, 1, 3].map((index) => shard('fleet.yaml', 'lonely', index, few).ended),
        )
        for (const { code, stderr } of lonely) {
          expect(code).toBe(4)
          expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
            'of 4 shards of lonely, these did not join within 3 s: 2. Nothing was sent.',
          )
        }

        // One Ctrl-C stops all of them.
        const stopped = shards('long.yaml', 'stopped')
        const over = assay(['watch', 'stopped', ...meet, '--json'], { cwd: folder })
        while (!seen(over.stdout).some(({ progress }) => (progress?.counts.ok ?? 0) > 40))
          await new Promise((resolve) => setTimeout(resolve, 100))
        stopped[2]!.child.kill('SIGINT')
        expect(await Promise.all(stopped.map(async ({ ended }) => (await ended).code))).toEqual(
          Array(of).fill(130),
        )
        const last = seen((await over.ended).stdout).at(-1)!
        expect(last.shards.map(({ ended }) => ended?.stopped)).toEqual(
          Array(of).fill('interrupted'),
        )
        const whole = await merge('stopped', of)
        expect(whole).toMatchObject({ code: 130, stopped: 'interrupted' })

        // A server that is lost after the start changes nothing but the live view.
        const targets = await Promise.all(Array.from({ length: of }, stampingTarget))
        const running = targets.map(({ baseUrl: own }, index) =>
          shard('fleet.yaml', 'lost', index, meet, own),
        )
        const view = assay(['watch', 'lost', ...meet, '--json'], { cwd: folder })
        while (!seen(view.stdout).some(({ progress }) => (progress?.counts.ok ?? 0) > 20))
          await new Promise((resolve) => setTimeout(resolve, 100))
        await server.close()
        const ends = await Promise.all(running.map(({ ended }) => ended))
        expect(ends.map(({ code }) => code)).toEqual(Array(of).fill(0))
        expect(seen(view.stdout).at(-1)!.isConnected).toBe(false)
        view.child.kill('SIGINT')
        await view.ended
        for (const target of targets) target.close()
        const result = await merge('lost', of)
        expect(result.counts).toMatchObject({ planned: 240, sent: 240 })
        // Each process has its own target, whose clock shows when the run began.
        const began = targets.map(({ cameMs }, index) =>
          Math.min(...cameMs.map((ms, at) => ms - (index + at * of) * 25)),
        )
        console.log(
          'began',
          began.map((x) => x - began[0]!),
        )
        expect(Math.max(...began) - Math.min(...began)).toBeLessThan(10)
      }),
    ).finally(() => server.close())
  },
  240_000,
)
