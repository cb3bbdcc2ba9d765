import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { capacityOf, simulatedServers } from '../simulated-servers.ts'

/**
 * Searches of `assay bench` with its default budget, one after the other, against real servers:
 *
 *     node bench/searches/main.ts [--searches 40] [--servers mm8,batch,prefix,llama] [--llama URL] [--rows FILE] [--page FILE]
 *
 * A search takes at most five minutes. With `--rows`, each is a line of JSON in that file, and those that it has already
 * are not made again. `--page docs/safe-rate.md` writes the table into that page. `llama` is a server of llama.cpp that you started, without a known capacity.
 */
interface Row {
  readonly server: string
  readonly seed: number
  /** Requests per second with 95 % of first tokens within a second; null if it is not known. */
  readonly capacityPerS: number | null
  readonly kind: string
  readonly safePerS: number | null
  readonly verdict: string
  readonly exitCode: number | null
  readonly seconds: number
  readonly requests: number
}

const { values } = parseArgs({
  options: {
    searches: { type: 'string', default: '40' },
    servers: { type: 'string', default: 'mm8,batch,prefix' },
    llama: { type: 'string' },
    rows: { type: 'string' },
    page: { type: 'string' },
  },
})
const assay = resolve(import.meta.dirname, '../../src/cli/assay.js')
const names = values.servers.split(',')
const made: Row[] =
  values.rows !== undefined && existsSync(values.rows)
    ? readFileSync(values.rows, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
    : []
const capacities = new Map(
  names.map((name) => {
    const simulated = simulatedServers[name]
    return [name, simulated === undefined ? null : capacityOf(simulated, name)]
  }),
)

while (made.length < Number(values.searches)) {
  const server = names[made.length % names.length]!
  const row = await searchOf(server, made.length)
  made.push(row)
  process.stdout.write(`${JSON.stringify(row)}\n`)
  if (values.rows !== undefined) appendFileSync(values.rows, `${JSON.stringify(row)}\n`)
}
process.stdout.write(`${tableOf(made)}\n`)
if (values.page !== undefined) writeTable(values.page, tableOf(made))

async function searchOf(server: string, seed: number): Promise<Row> {
  if (server === 'llama') {
    if (values.llama === undefined) throw new Error('llama needs --llama URL')
    return bench(server, values.llama, seed)
  }
  const path = fileURLToPath(new URL('queueing-server.ts', import.meta.url))
  const child = spawn(process.execPath, [path, server, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(child.stdout!, 'data')) as [Buffer]
    return bench(server, `http://127.0.0.1:${port.toString().trim()}`, seed)
  } finally {
    child.kill()
  }
}

function bench(server: string, url: string, seed: number): Row {
  const folder = mkdtempSync(join(tmpdir(), 'assay-searches-'))
  const beganMs = performance.now()
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [assay, 'bench', url, '--seed', String(seed), '--json'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 },
  )
  const seconds = Math.round((performance.now() - beganMs) / 1000)
  rmSync(folder, { recursive: true })
  const common = { server, seed, capacityPerS: capacities.get(server) ?? null, exitCode: status }
  if (!stdout.startsWith('{')) {
    process.stderr.write(stderr)
    return { ...common, kind: 'error', safePerS: null, verdict: '-', seconds, requests: 0 }
  }
  const { sweeps, verdict, counts } = JSON.parse(stdout) as {
    readonly sweeps: readonly { readonly safeRate: { kind: string; safePerS?: number } }[]
    readonly verdict: { readonly verdict: string }
    readonly counts: { readonly sent: number }
  }
  const found = sweeps[0]?.safeRate
  return {
    ...common,
    kind: found?.kind ?? 'error',
    safePerS: found?.safePerS ?? null,
    verdict: verdict.verdict,
    seconds,
    requests: counts.sent,
  }
}

function tableOf(rows: readonly Row[]): string {
  const lines = [...new Set(rows.map(({ server }) => server))].map((server) => {
    const of = rows.filter((row) => row.server === server)
    const found = of.flatMap(({ kind, safePerS }) =>
      kind === 'held' && safePerS !== null ? [safePerS] : [],
    )
    const capacity = of[0]!.capacityPerS
    const over = capacity === null ? '–' : found.filter((rate) => rate > capacity).length
    const between = (values: readonly number[], digits: number) =>
      values.length === 0
        ? '–'
        : `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`
    const seconds = of.map((row) => row.seconds)
    const title = simulatedServers[server]?.title ?? 'llama.cpp'
    const proofs = of.filter(({ verdict }) => verdict !== 'invalid').length
    return `| ${title} | ${of.length} | ${found.length} | ${capacity?.toFixed(1) ?? '–'} | ${between(found, 2)} | ${over} | ${between(seconds, 0)} | ${proofs} |`
  })
  return [
    '| server | searches | with a sustained rate | capacity | rates found | above capacity | seconds | not INVALID |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}

/** Replaces the table between the two marks of a page. */
function writeTable(page: string, table: string): void {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = ['<!-- made by bench/searches -->\n', '<!-- end -->']
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  if (from === -1 || to === -1) throw new Error(`${page} has no marks of this table`)
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n${table}\n\n${text.slice(to)}`)
}
