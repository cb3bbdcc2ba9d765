import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, loadavg, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { canWrite } from '../../store/session/can-write.ts'

/** Properties of the machine that a run depends on; null if unknown. */
export interface MachineFacts {
  readonly node: string
  readonly neededNode: string
  readonly openFiles: number | null
  /** Local ports for outgoing connections. */
  readonly ports: number | null
  readonly cores: number
  /** Programs that ran or waited for a core, on average over the last minute. */
  readonly load: number
  readonly memoryBytes: number
  /** Difference between wall clock and monotonic clock after `watchedUs`. */
  readonly clockStepUs: number
  readonly watchedUs: number
  /** Lateness of a timer of 1 ms, at the 99th percentile. */
  readonly timerLateP99Us: number
  readonly freeBytes: number | null
  readonly storeFolder: string
  readonly isWritable: boolean
}

/** `bad` would spoil a run; `fair` limits what can be measured. */
export interface Check {
  readonly name: string
  readonly state: 'good' | 'fair' | 'bad' | 'unknown'
  readonly found: string
  /** What to do; null if nothing. */
  readonly remedy: string | null
}

const watchUs = 1_000_000
const gib = 2 ** 30

/** Measures this machine for a second. @param neededNode the lowest version, such as `22.19` */
export async function machineFacts(storePath: string, neededNode: string): Promise<MachineFacts> {
  const folder = dirname(resolve(storePath))
  const [wall, monotonic] = [Date.now(), performance.now()]
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  await wait(watchUs / 1000)
  delays.disable()
  const [wallMs, monotonicMs] = [Date.now() - wall, performance.now() - monotonic]
  return {
    node: process.versions.node,
    neededNode,
    openFiles: openFiles(),
    ports: localPorts(),
    cores: availableParallelism(),
    load: loadavg()[0]!,
    memoryBytes: totalmem(),
    clockStepUs: Math.abs(wallMs - monotonicMs) * 1000,
    watchedUs: monotonicMs * 1000,
    timerLateP99Us: Math.max(0, delays.percentile(99) / 1000 - 1000),
    freeBytes: existsSync(folder) ? freeBytesOf(folder) : null,
    storeFolder: folder,
    isWritable: canWrite(folder),
  }
}

/** Judges the facts; a pure function. */
export function checksOf(facts: MachineFacts): readonly Check[] {
  const { openFiles, ports, cores, freeBytes } = facts
  const check = (
    name: string,
    state: Check['state'],
    found: string,
    remedy: string | null = null,
  ): Check => ({ name, state, found, remedy: state === 'good' ? null : remedy })
  const whole = (value: number) => value.toLocaleString('en-US')
  return [
    check(
      'Node',
      isAtLeast(facts.node, facts.neededNode) ? 'good' : 'bad',
      facts.node,
      `Install Node ${facts.neededNode} or newer.`,
    ),
    openFiles === null
      ? check('open files', 'unknown', 'this system does not show its limit')
      : check(
          'open files',
          openFiles >= 4096 ? 'good' : openFiles >= 1024 ? 'fair' : 'bad',
          `${whole(openFiles)} at most`,
          'Each connection takes one. Raise the limit: ulimit -n 65536.',
        ),
    ports === null
      ? check('local ports', 'unknown', 'this system does not show its range')
      : check(
          'local ports',
          ports >= 20_000 ? 'good' : 'fair',
          whole(ports),
          'Closed connections hold a port for a minute. Widen net.ipv4.ip_local_port_range.',
        ),
    check(
      'cores',
      cores >= 2 ? 'good' : 'fair',
      String(cores),
      'One core sends and records at once. Use a machine with two or more.',
    ),
    check(
      'load',
      facts.load < 0.5 * cores ? 'good' : facts.load < cores ? 'fair' : 'bad',
      `${facts.load.toFixed(1)} on ${cores} ${cores === 1 ? 'core' : 'cores'} over the last minute`,
      'Other programs take the cores, so requests would be sent late. Stop them, or run on another machine.',
    ),
    check(
      'memory',
      facts.memoryBytes >= 2 * gib ? 'good' : 'fair',
      `${(facts.memoryBytes / gib).toFixed(1)} GiB`,
      'A run with many streams takes up to 1 GiB. Use a machine with 2 GiB or more.',
    ),
    check(
      'clock',
      facts.clockStepUs < 0.01 * facts.watchedUs ? 'good' : 'fair',
      `the wall clock drifted ${(facts.clockStepUs / 1000).toFixed(1)} ms in ${(facts.watchedUs / 1e6).toFixed(1)} s`,
      'Usage by hour follows the wall clock. Let one service alone set it (chrony or ntpd).',
    ),
    check(
      'timers',
      facts.timerLateP99Us < 2000 ? 'good' : facts.timerLateP99Us < 20_000 ? 'fair' : 'bad',
      `late by ${(facts.timerLateP99Us / 1000).toFixed(1)} ms at p99`,
      'Another program takes the cores. Stop it, or run on another machine.',
    ),
    !facts.isWritable
      ? check(
          'disk',
          'bad',
          `${facts.storeFolder} cannot be written`,
          'Name a folder that can be written with --db.',
        )
      : freeBytes === null
        ? check('disk', 'unknown', 'free space cannot be read')
        : check(
            'disk',
            freeBytes >= 10 * gib ? 'good' : freeBytes >= gib ? 'fair' : 'bad',
            `${(freeBytes / gib).toFixed(1)} GiB free in ${facts.storeFolder}`,
            'A million attempts take about 100 MB, kept bodies more. Free some space, or move --db.',
          ),
  ]
}

function isAtLeast(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

function openFiles(): number | null {
  const report = process.report?.getReport() as
    | { readonly userLimits?: { readonly open_files?: { readonly soft: number | 'unlimited' } } }
    | undefined
  const soft = report?.userLimits?.open_files?.soft
  return soft === undefined ? null : soft === 'unlimited' ? Infinity : soft
}

function localPorts(): number | null {
  const file = '/proc/sys/net/ipv4/ip_local_port_range'
  if (!existsSync(file)) return null
  const [first = 0, last = 0] = readFileSync(file, 'utf8').trim().split(/\s+/).map(Number)
  return last - first + 1
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
