/**
 * Where the CPU of a run goes: `node bench/profile.ts chat|streams|open|stall [--open 500] [--checkout folder] [--perf]`.
 *
 * Plays a work of `npm run peers` with V8's sampling profiler on, and prints for each thread the time by folder
 * and the functions that took most. With --perf it samples the cores instead (perf of Linux), and prints the CPU per
 * request or event by kind of thread and by program. Another checkout of Assay can be profiled with the same work.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { apiKey, scenarioOf } from './peers/own.ts'
import { serverOf } from './peers/trial.ts'
import { type Work, worksOf } from './peers/works.ts'
import { clientCore, cpuSeconds, timed } from './processes.ts'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface Result {
  readonly summary: { readonly all: { readonly counts: { readonly ok: number } } }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    open: { type: 'string', default: '500' },
    checkout: { type: 'string', default: resolve(import.meta.dirname, '..') },
    perf: { type: 'boolean', default: false },
  },
})
const works = worksOf(false, Number(values.open))
const work = works.find(({ name }) => name === positionals[0])
if (work === undefined) {
  process.stderr.write(`Expected one of ${works.map(({ name }) => name).join(', ')}.\n`)
  process.exit(2)
}
const checkout = resolve(values.checkout)
const home = mkdtempSync(join(tmpdir(), 'assay-profile-'))
const program = join(home, 'server')
const built = spawnSync('go', ['build', '-o', program, '.'], {
  cwd: fileURLToPath(new URL('peers/server', import.meta.url)),
  stdio: 'inherit',
})
if (built.status !== 0) throw new Error('the server was not built')
const server = await serverOf(work, program)
try {
  const scenario = join(home, 'load.yaml')
  // Older checkouts do not know this field.
  writeFileSync(scenario, scenarioOf(work).replace(', include_usage: true', ''))
  const samples = join(home, 'perf.data')
  const node = values.perf
    ? ['perf', 'record', '-q', '-F', '999', '-o', samples, process.execPath, '--perf-basic-prof']
    : [process.execPath, '--cpu-prof', `--cpu-prof-dir=${join(home, 'profiles')}`]
  const store = ['--db', join(home, 'assay.duckdb'), '--json']
  const target = ['--base-url', `http://127.0.0.1:${server.port}`]
  const run = [join(checkout, 'src/cli/assay.js'), 'run', scenario, ...target, ...store]
  const { status, stdout, stderr } = spawnSync(...timed(clientCore, [...node, ...run]), {
    cwd: home,
    env: { ...process.env, ASSAY_API_KEY: apiKey },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  // A run on a full machine is invalid: its profile is there all the same.
  if (status !== 0 && status !== 4) throw new Error(`the run ended with ${status}: ${stderr}`)
  if (values.perf) printPrograms(samples, stdout, work)
  else
    for (const file of readdirSync(join(home, 'profiles')).toSorted()) {
      print(JSON.parse(readFileSync(join(home, 'profiles', file), 'utf8')))
    }
} finally {
  server.stop()
  rmSync(home, { recursive: true, force: true })
}

/** The CPU of a request or event, as shares of the samples: a sleep has none. */
function printPrograms(samples: string, stdout: string, { unitsPerRequest }: Work): void {
  const { ok } = (JSON.parse(stdout.slice(0, stdout.lastIndexOf('}') + 1)) as Result).summary.all
    .counts
  const cpuUs = cpuSeconds(stdout.trimEnd().split('\n').at(-1)!) * 1e6
  const perUnitUs = cpuUs / (ok * unitsPerRequest)
  const report = ['report', '-i', samples, '--stdio', '-g', 'none', '--sort', 'comm,dso']
  const { stdout: lines } = spawnSync('perf', report, { encoding: 'utf8', maxBuffer: 1 << 26 })
  process.stdout.write(`${perUnitUs.toFixed(2)} us\n`)
  for (const [, share, thread, from] of lines.matchAll(
    /^ +([\d.]+)% +(\S+) +(\[?\w.*?)(?: +-.*)?$/gm,
  )) {
    const us = (Number(share) / 100) * perUnitUs
    if (Number(share) >= 1)
      process.stdout.write(`${us.toFixed(2).padStart(8)} us  ${thread} ${from}\n`)
  }
}

/** Samples also count the time in which a thread waits for its core, and the naps of the pacing. */
function print({ nodes, samples, timeDeltas }: Profile): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byFolder = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let busyUs = 0
  for (const [at, id] of samples.entries()) {
    const { functionName, url } = frames.get(id)!
    if (functionName === '(idle)') continue
    const us = timeDeltas[at]!
    const folder = folderOf(functionName, url)
    const name = `${functionName || '(top level)'} ${url.split('/').slice(-2).join('/')}`
    busyUs += us
    byFolder.set(folder, (byFolder.get(folder) ?? 0) + us)
    byFunction.set(name, (byFunction.get(name) ?? 0) + us)
  }
  const thread = threadOf(nodes)
  process.stdout.write(`\n${thread}: ${(busyUs / 1e6).toFixed(2)} s\n`)
  for (const [name, us] of [...most(byFolder, 8), ...most(byFunction, 14)]) {
    process.stdout.write(`${(us / 1000).toFixed(0).padStart(8)} ms  ${name}\n`)
  }
}

function most(times: ReadonlyMap<string, number>, count: number) {
  return [...times].toSorted(([, a], [, b]) => b - a).slice(0, count)
}

/** A room of ours, a package, or the platform. */
function folderOf(name: string, url: string): string {
  const [, room] = /\/src\/([\w-]+)\//.exec(url.replace(pathToFileURL(checkout).href, '')) ?? []
  const [, packageName] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (packageName !== undefined) return packageName
  if (room !== undefined) return `src/${room}`
  return name.startsWith('(') ? name : 'Node'
}

function threadOf(nodes: Profile['nodes']): string {
  const has = (file: string) => nodes.some(({ callFrame }) => callFrame.url.endsWith(file))
  if (has('/run/send/sender.ts')) return 'sender'
  return has('/store/attempts/recorder.ts') && !has('/cli/main.ts') ? 'recorder' : 'main'
}
