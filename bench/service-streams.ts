import { holdYoung, keepPausesShort } from '../src/service/pauses.ts'
import { gapMs, type PacedRun, pacedRun, streams, tokensPerStream, warmUp } from './paced-run.ts'
import { ServerProcess, withLedger } from './service-process.ts'
import type { Reading } from './service-server.ts'

const rounds = 3
const names = ['assay', 'bare'] as const

/** A run, and what its server says of it. */
interface Measured extends PacedRun {
  readonly inOpen: Reading
  readonly inWhole: Reading
}

/**
 * How well the service keeps the pace of 1,000 streams at 20 ms per token, and by turns with it how
 * well a bare node:http server does that sends the same bytes at the same times: what it misses,
 * this machine misses. Lateness in the service is by its own stamp, when a token was given to the
 * system; at the client, when it was read.
 *
 * The figures are those of the time in which all streams are open, and those of the whole run, with
 * the opening of 1,000 connections; each server is held to one core with all of its threads.
 */
export async function streamsBench(): Promise<void> {
  // Pauses of this client would be told as the lateness of what it reads.
  holdYoung()
  keepPausesShort()
  await withLedger(async (path) => {
    const assay = await ServerProcess.start('paced', path, `${gapMs}`, `${tokensPerStream}`)
    const sample = await assay.streamSample(tokensPerStream)
    const servers = { assay, bare: await ServerProcess.start('bare-paced', `${gapMs}`, sample) }
    const runs: Record<keyof typeof servers, PacedRun[]> = { assay: [], bare: [] }
    for (const name of names) await warmUp(servers[name])
    for (let round = 0; round < rounds; round++) {
      for (const name of names) runs[name].push(await pacedRun(servers[name]))
    }
    process.stdout.write(
      `${streams} streams at ${gapMs} ms per token, ${rounds} runs each by turns, ` +
        'medians (and ranges):\n',
    )
    for (const name of names) {
      const opens = await servers[name].read(runs[name].map(({ open }) => open))
      const wholes = await servers[name].read(runs[name].map(({ whole }) => whole))
      await servers[name].stop()
      print(
        name === 'assay' ? 'the service, ledger and limits on' : 'a bare node:http server',
        runs[name].map((run, at) => ({ ...run, inOpen: opens[at]!, inWhole: wholes[at]! })),
      )
    }
  })
}

function print(name: string, runs: readonly Measured[]): void {
  const line = (what: string, unit: string, of: (run: Measured) => number) =>
    `  ${what.padEnd(34)}${text(runs.map(of))} ${unit}\n`
  process.stdout.write(
    `${name}\n` +
      line('p99 in it, all open', 'ms', ({ inOpen }) => inOpen.p99LateMs) +
      line('p99 in it, whole run', 'ms', ({ inWhole }) => inWhole.p99LateMs) +
      line('p99 at the client, all open', 'ms', ({ clientOpenP99Ms }) => clientOpenP99Ms) +
      line('p99 at the client, whole run', 'ms', ({ clientWholeP99Ms }) => clientWholeP99Ms) +
      line('its CPU per token', 'us', ({ inOpen }) => inOpen.cpuUs / inOpen.tokens) +
      line('its core, all open', '%', (run) => run.inOpen.cpuUs / 1e4 / run.openSeconds) +
      line('one core of others, meanwhile', '%', othersPercent) +
      line('stolen by the host, meanwhile', '%', (run) => stolenPercent(run)),
  )
}

/** What neither the server nor this client used, of one core; NaN where the system does not tell. */
function othersPercent({ machine, inWhole, clientMs, seconds }: Measured): number {
  if (machine === null) return Number.NaN
  return Math.max(0, machine.busyMs - inWhole.cpuUs / 1000 - clientMs) / 10 / seconds
}

function stolenPercent({ machine, seconds }: Measured): number {
  return machine === null ? Number.NaN : machine.stolenMs / 10 / seconds
}

function text(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const show = (value: number | undefined) => (value ?? Number.NaN).toFixed(value! < 20 ? 2 : 0)
  const median = show(sorted[sorted.length >> 1]).padStart(6)
  return `${median} (${show(sorted[0])} to ${show(sorted.at(-1))})`
}
