import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Servers on one core, whoever is measured on the other. */
export const serverCore = 0
export const clientCore = availableParallelism() > 1 ? 1 : 0

export function has(command: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command]).status === 0
}

const canPin = has('taskset')

function pinned(core: number, command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', `${core}`, ...command] : command
}

/** A module of the benchmark as a command, on the Node that runs this. */
export function module(name: string, ...args: readonly (string | number)[]): readonly string[] {
  return [process.execPath, fileURLToPath(new URL(name, import.meta.url)), ...args.map(String)]
}

export interface Finished {
  readonly stdout: string
  /** User and system time of the process and its children, in seconds. */
  readonly cpuS: number
}

/** All that was started here and runs; none outlives the benchmark. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

function keepUntilExit(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

/** Longer than any of them takes, so that one that hangs is an error and not a silence. */
const limitS = 180

/**
 * A command on one core, whose last line is the CPU time of it and its children (`cpuSeconds`): the
 * shell's `times` tells it of programs that do not tell it themselves. A line break comes before it, since some
 * programs end without one.
 */
export const timed = (core: number, command: readonly string[]): [string, string[]] => [
  'sh',
  ['-c', '"$@"; code=$?; echo; times; exit $code', 'sh', ...pinned(core, command)],
]

/** Runs a command to its end on one core. */
export async function finish(core: number, command: readonly string[]): Promise<Finished> {
  const child = spawn(...timed(core, command), {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: a signal to the shell alone would leave its child behind.
    detached: true,
  })
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid)
  }
  process.once('exit', stop)
  const limit = setTimeout(stop, limitS * 1000)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  child.stderr.on('data', (piece) => {
    stderr += piece
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(limit)
  process.off('exit', stop)
  if (code !== 0) {
    throw new Error(
      `${command.slice(0, 4).join(' ')} ended with ${signal ?? code}: ${stderr.trim().slice(-500)}`,
    )
  }
  const times = stdout.trimEnd().split('\n').at(-1)!
  return { stdout, cpuS: cpuSeconds(times) }
}

/** `0m0.47s 0m2.03s` in seconds. */
export function cpuSeconds(times: string): number {
  let total = 0
  for (const [, minutes, seconds] of times.matchAll(/(\d+)m([\d.]+)s/g)) {
    total += Number(minutes) * 60 + Number(seconds)
  }
  return total
}

/** Runs a module of the benchmark to its end; its last line of JSON is its answer. */
export async function answerOf<T>(core: number, command: readonly string[]): Promise<T> {
  const { stdout } = await finish(core, command)
  const line = stdout.split('\n').findLast((text) => text.startsWith('{'))
  if (line === undefined)
    throw new Error(`${command.slice(1).join(' ')} gave no answer:\n${stdout}`)
  return JSON.parse(line) as T
}

export interface Server {
  readonly port: number
  stop(): void
}

/** Starts a module that prints its port as its first line, and keeps it until `stop`. */
export async function serve(core: number, command: readonly string[]): Promise<Server> {
  const [program, ...args] = pinned(core, command)
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  keepUntilExit(child)
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (piece) => resolve(Number.parseInt(`${piece}`, 10)))
    child.once('exit', (code) => reject(new Error(`${command.join(' ')} ended with ${code}`)))
  })
  return { port, stop: () => void child.kill() }
}
