/**
 * What ten times the attempts cost: `npx node bench/growth.ts [--sizes 10000,100000,1000000] [--only run,audit] [--written]`.
 *
 * At each size a closed load of plain chat is recorded, audited, shown as the launch page and the usage
 * page, exported as a usage log, imported again, and merged from two shards, each by its own command. Prints
 * seconds, CPU and peak memory of each, and the slope over the last decade: 1 is in proportion to the attempts.
 *
 * With `--written`, the attempts are not sent but written by `grown-store.ts`, 64 accounts of eight keys, and those of the shards
 * too: so ten million and more take minutes. Files that are no longer needed are removed at once.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { module, serve, serverCore } from './processes.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    only: { type: 'string' },
    written: { type: 'boolean', default: false },
  },
})
/** `run` is always wanted: the others need its file. */
const wanted = values.only?.split(',')
const sizes = values.sizes.split(',').map(Number)
if (sizes.length < 2) throw new Error('a slope needs two sizes or more')
const main = resolve(import.meta.dirname, '../src/cli/main.ts')
const writer = resolve(import.meta.dirname, 'grown-store.ts')
/** At its end the process writes its peak memory in KiB and its CPU time in microseconds. */
const told = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  process.stderr.write('\\n' + maxRSS + ' ' + (userCPUTime + systemCPUTime))
})`

interface Cost {
  readonly seconds: number
  readonly cpuS: number
  readonly peakMiB: number
}

const home = mkdtempSync(join(tmpdir(), 'assay-growth-'))
const env = { ...process.env, ASSAY_API_KEY: 'sk-bench-growth' }
const costs = new Map<string, Cost[]>()
const shown = (figure: number) => figure.toFixed(figure < 10 ? 2 : 0)
const cellOf = ({ seconds, cpuS, peakMiB }: Cost) =>
  `${shown(seconds)} s, ${shown(cpuS)} s CPU, ${peakMiB.toFixed(0)} MiB`

const isWanted = (name: string) => wanted?.includes(name) !== false

function assay(name: string, ...words: readonly string[]): void {
  if (name === 'run' || isWanted(name)) measure(name, main, words)
}

function measure(name: string, script: string, words: readonly string[]): void {
  const began = performance.now()
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(told)}`, script, ...words],
    {
      cwd: home,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const seconds = (performance.now() - began) / 1000
  const [, kib, cpuUs] = /(\d+) (\d+)$/.exec(stderr) ?? []
  // An audit may fail here, and a run on a full machine is invalid: its rows are there all the same.
  if (kib === undefined || ![0, 3, 4].includes(status ?? -1)) {
    throw new Error(`${name} ${words.join(' ')} ended with ${status}: ${stderr.slice(-500)}`)
  }
  const cost = { seconds, cpuS: Number(cpuUs) / 1e6, peakMiB: Number(kib) / 1024 }
  costs.set(name, [...(costs.get(name) ?? []), cost])
  process.stderr.write(`${name} ${words.at(-1)}: ${cellOf(cost)}\n`)
}

const remove = (...files: readonly string[]) => {
  for (const file of files) rmSync(join(home, file), { force: true })
}

const server = await serve(serverCore, module('./null-server.ts'))
const url = `http://127.0.0.1:${server.port}`
const scenario = (load: string) =>
  writeFileSync(
    join(home, 'load.yaml'),
    `name: growth
question: What do ten times the attempts cost?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, ${load} }]
`,
  )
/** Two shards as a run would have left them. */
function writeShards(size: number): readonly string[] {
  return [0, 1].map((index) => {
    const db = `shard-${size}-${index}.duckdb`
    const { status } = spawnSync(process.execPath, [writer, `${size}`, db, `${index}/2`], {
      cwd: home,
    })
    if (status !== 0) throw new Error(`shard ${index} could not be written`)
    return db
  })
}

/** Two shards of an open load, side by side. */
async function sendShards(size: number): Promise<readonly string[]> {
  // Shards that cannot keep up send late: their rows are there all the same.
  const perS = 20_000
  scenario(`load: constant, rate: ${perS}/s, duration: ${size / perS}s`)
  const startAt = new Date(Date.now() + 5000).toISOString()
  const shards = [0, 1].map((index) => {
    const db = `shard-${size}-${index}.duckdb`
    const words = ['run', 'load.yaml', '--base-url', url, '--db', db, '--shard', `${index}/2`]
    const run = spawn(
      process.execPath,
      [main, ...words, '--run-id', `growth-${size}`, '--start-at', startAt],
      { cwd: home, env, stdio: 'ignore' },
    )
    return once(run, 'close').then(() => db)
  })
  return Promise.all(shards)
}

try {
  for (const size of sizes) {
    const db = `${size}.duckdb`
    scenario(`load: concurrency, users: 64, max_requests: ${size}, duration: 1h`)
    if (values.written) measure('write', writer, [`${size}`, db])
    else assay('run', 'run', 'load.yaml', '--base-url', url, '--db', db)
    assay('audit', 'audit', '--db', db)
    assay('launch page', 'report', 'launch', '--db', db, '--out', 'launch.html')
    assay('usage page', 'report', 'usage', '--db', db, '--out', 'usage.html')
    if (isWanted('export') || isWanted('import')) {
      measure('export', main, ['export', 'usage', '--db', db, '--out', 'usage.csv'])
    }
    remove(db)
    assay('import', 'import', 'usage.csv', '--map', 'assay', '--db', `import-${db}`)
    remove('usage.csv', `import-${db}`)
    if (!isWanted('merge')) continue
    const shards = values.written ? writeShards(size) : await sendShards(size)
    assay('merge', 'merge', ...shards, '--db', `merged-${db}`)
    remove(...shards, `merged-${db}`)
  }
} finally {
  server.stop()
  rmSync(home, { recursive: true })
}

process.stdout.write(
  `| command | ${sizes.map((size) => size.toLocaleString('en-US')).join(' | ')} | slope |\n`,
)
process.stdout.write(`|---|${sizes.map(() => '---|').join('')}---|\n`)
for (const [name, of] of costs) {
  const cells = of.map(cellOf)
  const [before, last] = of.slice(-2)
  const grown = Math.log10(sizes.at(-1)! / sizes.at(-2)!)
  const slope = Math.log10(last!.cpuS / before!.cpuS) / grown
  process.stdout.write(`| ${name} | ${cells.join(' | ')} | ${slope.toFixed(2)} |\n`)
}
