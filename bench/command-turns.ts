import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startNullServer } from '../src/run/self-test/null-server.ts'

/**
 * `node bench/command-turns.ts --before CHECKOUT [--rounds 7]`: the processor time of short commands, of the built package
 * (`npm run build`) in turns with the sources of another checkout. Each has a store of its own demo for its reports.
 * Prints the medians and their ratio.
 */
const { values } = parseArgs({
  options: { before: { type: 'string' }, rounds: { type: 'string', default: '7' } },
})
if (values.before === undefined) throw new Error('--before: expected the folder of a checkout')
const builds = {
  before: resolve(values.before, 'src/cli/main.ts'),
  now: resolve(import.meta.dirname, '../dist/cli/main.js'),
}
type Which = keyof typeof builds
const order: readonly Which[] = ['before', 'now']
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-commands-'))
const env = {
  ...process.env,
  ASSAY_API_KEY: 'bench',
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
}
const server = await startNullServer(16)

const scenarioOf = (phase: string) => `
name: short
question: What does a short run cost?
model: svc-k2
steps: { chat: { endpoint: chat, max_tokens: 16 } }
phases: [{ name: steady, ${phase} }]
`
const scenarios = {
  'one request': scenarioOf('load: concurrency, users: 1, max_requests: 1'),
  '100 at 20/s': scenarioOf('load: constant, rate: 20/s, duration: 5s'),
}
const storeOf = (which: Which) => join(folder, `${which}.duckdb`)

const commands: Record<string, (which: Which) => readonly string[]> = {
  ...Object.fromEntries(
    Object.keys(scenarios).map((name) => [
      name,
      (which: Which) => [
        ...['run', join(folder, `${name.slice(0, 3)}.yaml`), '--base-url', server.baseUrl],
        ...['--db', join(folder, `run-${which}.duckdb`)],
      ],
    ]),
  ),
  audit: (which) => ['audit', '--db', storeOf(which)],
  'report launch': (which) => ['report', 'launch', '--db', storeOf(which), '--out', pageOf(which)],
  'report usage': (which) => ['report', 'usage', '--db', storeOf(which), '--out', pageOf(which)],
}
const pageOf = (which: Which) => join(folder, `${which}.html`)

try {
  for (const [name, text] of Object.entries(scenarios)) {
    writeFileSync(join(folder, `${name.slice(0, 3)}.yaml`), text)
  }
  for (const which of order) {
    const words = ['demo', '--db', storeOf(which), '--out', pageOf(which)]
    execFileSync(process.execPath, [builds[which], ...words], { env, stdio: 'ignore' })
  }
  console.log('CPU seconds     before   now   ratio')
  for (const [name, wordsOf] of Object.entries(commands)) {
    const found: Record<Which, number[]> = { before: [], now: [] }
    // The first turn fills the cache of compiled code.
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const which of round % 2 === 0 ? order : order.toReversed()) {
        for (const end of ['', '.wal']) {
          rmSync(join(folder, `run-${which}.duckdb${end}`), { force: true })
        }
        const seconds = await processorSeconds([builds[which], ...wordsOf(which)])
        if (round > 0) found[which].push(seconds)
      }
    }
    const [before, now] = order.map((which) => median(found[which])) as [number, number]
    console.log(
      `${name.padEnd(16)}${before.toFixed(2).padStart(6)}${now.toFixed(2).padStart(6)}${(now / before).toFixed(2).padStart(8)}`,
    )
  }
} finally {
  server.close()
  rmSync(folder, { recursive: true })
}

/** User and system time of a command and its threads. An audit that finds a fault ends with 3. */
async function processorSeconds(words: readonly string[]): Promise<number> {
  const timed = `TIMEFORMAT='%U %S'; { time "$0" "$@" >/dev/null 2>&1; } 2>&1; [ $? -lt 5 ]`
  const { stdout } = await promisify(execFile)('bash', ['-c', timed, process.execPath, ...words], {
    env,
  })
  const [user, system] = stdout.trim().split(' ').map(Number)
  return user! + system!
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
}
