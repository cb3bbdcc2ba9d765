/**
 * Where the CPU of a run goes: `node bench/profile.ts chat|streams|open|stall [--open 500] [--checkout folder]`.
 *
 * Plays a work of `npm run peers` with V8's sampling profiler on, and prints for each thread the time by folder
 * and the functions that took most. Another checkout of Assay can be profiled with the same work.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { apiKey, scenarioOf } from './peers/own.ts'
import { serverOf } from './peers/trial.ts'
import { worksOf } from './peers/works.ts'
import { clientCore, timed } from './processes.ts'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    open: { type: 'string', default: '500' },
    checkout: { type: 'string', default: resolve(import.meta.dirname, '..') },
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
  const node = [process.execPath, '--cpu-prof', `--cpu-prof-dir=${join(home, 'profiles')}`]
  const store = ['--db', join(home, 'assay.duckdb'), '--json']
  const target = ['--base-url', `http://127.0.0.1:${server.port}`]
  const run = [join(checkout, 'src/cli/main.ts'), 'run', scenario, ...target, ...store]
  const { status, stderr } = spawnSync(...timed(clientCore, [...node, ...run]), {
    cwd: home,
    env: { ...process.env, ASSAY_API_KEY: apiKey },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  // A run on a full machine is invalid: its profile is there all the same.
  if (status !== 0 && status !== 4) throw new Error(`the run ended with ${status}: ${stderr}`)
  for (const file of readdirSync(join(home, 'profiles')).toSorted()) {
    print(JSON.parse(readFileSync(join(home, 'profiles', file), 'utf8')))
  }
} finally {
  server.stop()
  rmSync(home, { recursive: true, force: true })
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
  if (has('/run/sender.ts')) return 'sender'
  return has('/store/recorder.ts') && !has('/cli/main.ts') ? 'recorder' : 'main'
}
