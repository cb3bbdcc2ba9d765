/**
 * `npm run nightly [-- PART…]`: the proofs that take too long for each commit, one after the other.
 * `out/nightly/PART.log` keeps what a part printed. A table says how each ended and how long it took.
 * It exits 1 if a part failed. A part that cannot run here exits 77, and is not counted as passed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'

/** Where `test/clickhouse` looks for ClickHouse as a library. */
const clickhouse = process.env.ASSAY_CHDB ?? join(homedir(), '.cache/assay-chdb')

/** Each part: its name, its command for a shell, and what it proves. Later parts need what the first installs. */
const parts: readonly (readonly [name: string, command: string, proves: string])[] = [
  [
    'engine',
    `npm install --silent --prefix '${clickhouse}' chdb@3.4.0`,
    'ClickHouse (548 MB) installs',
  ],
  [
    'suite',
    'npm test && npm run test:whole',
    'every test, with the cases that only a night has time for',
  ],
  ['newcomer', 'npm run newcomer', 'the packed package works in an empty folder'],
  ['programs', 'npm run programs', 'the programs of the documents compile strictly and run'],
  ['site', 'npm run site', 'the documents build as a site, and their links lead somewhere'],
  ['matrix', 'npm run matrix', 'every fault is detected, every legal variant is quiet'],
  ['money', 'npm run matrix -- money', 'no honest price is accused, and faults are named by cause'],
  ['engines', 'node bench/usage-engines.ts --events 0.1', 'both engines give one usage page'],
  ['fuzz', 'npm run fuzz -- --minutes 10', 'readers survive inputs that nobody thought of'],
  ['slurm', 'test/slurm/proof.sh', 'an array of deploy/slurm merges into one page'],
]

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !parts.some(([part]) => part === name))
if (unknown.length > 0) {
  const names = parts.map(([name]) => name).join(', ')
  process.stderr.write(`no part ${unknown.join(', ')}; the parts are ${names}\n`)
  process.exit(2)
}

const folder = resolve(import.meta.dirname, '../../out/nightly')
mkdirSync(folder, { recursive: true })

/** What a part exits with if what it needs is not installed, as in Automake. */
const skipped = 77
/** A part that hangs must not take the night. */
const mostMs = 3 * 3600_000

/** @returns the exit code, and null if a signal ended the part */
async function exitOf(name: string, command: string): Promise<number | null> {
  const log = createWriteStream(join(folder, `${name}.log`))
  const child = spawn('bash', ['-c', command], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...process.env, NIGHTLY: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const end = () => process.kill(-child.pid!, 'SIGKILL')
  const timer = setTimeout(end, mostMs)
  process.once('exit', end)
  for (const output of [child.stdout, child.stderr]) {
    output.pipe(log, { end: false })
    output.pipe(process.stdout, { end: false })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  process.off('exit', end)
  log.end()
  return code
}

function endOf(code: number | null): string {
  if (code === null) return 'killed'
  return code === 0 ? 'passed' : code === skipped ? 'skipped' : `exit ${code}`
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

const rows: string[] = []
let failed = 0
for (const [name, command, proves] of parts) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stdout.write(`\n=== ${name}: ${command}\n`)
  const begun = performance.now()
  const code = await exitOf(name, command)
  const minutes = (performance.now() - begun) / 60_000
  if (code !== 0 && code !== skipped) failed++
  rows.push(
    `${name.padEnd(10)}${endOf(code).padEnd(9)}${minutes.toFixed(1).padStart(6)} min  ${proves}`,
  )
}
process.stdout.write(`\n${rows.join('\n')}\n`)
process.exitCode = failed === 0 ? 0 : 1
