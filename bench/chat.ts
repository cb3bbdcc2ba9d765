import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf, clientCore, finish, has, module, serve, serverCore } from './processes.ts'
import { type BenchOptions, type BenchResult, type Figure, figure } from './result.ts'

interface Measured {
  /** To the end of all work: what is put off until the load has stopped is in it. */
  readonly rps: number
  /** Of a whole run: until the load stops. */
  readonly sendingRps?: number
  /** Of a whole run: from then to its end, and the CPU of it. */
  readonly closingS?: number
  readonly closingCpuS?: number
  readonly cpuUs: number
}

type Client = (port: number, connections: number, seconds: number) => Promise<Measured>

const ours =
  (role: string): Client =>
  (port, connections, seconds) =>
    answerOf(clientCore, module('./chat-client.ts', role, port, connections, seconds))

const body = JSON.stringify({
  model: 'svc-k2',
  messages: [
    { role: 'user', content: 'Say something short, please, but not too short. '.repeat(4) },
  ],
  max_tokens: 64,
})

const wrk: Client = async (port, connections, seconds) => {
  const home = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const script = join(home, 'post.lua')
  writeFileSync(
    script,
    `wrk.method = "POST"
     wrk.headers["content-type"] = "application/json"
     wrk.headers["authorization"] = "Bearer sk-bench-pQ7wZx4mTd"
     wrk.body = [[${body}]]`,
  )
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const { stdout, cpuS } = await finish(clientCore, [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    url,
  ])
  rmSync(home, { recursive: true })
  const rps = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  return { rps, cpuUs: (cpuS * 1e6) / requests }
}

const hey: Client = async (port, connections, seconds) => {
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const { stdout, cpuS } = await finish(clientCore, [
    'hey',
    ...['-z', `${seconds}s`, '-c', `${connections}`, '-cpus', '1', '-m', 'POST'],
    ...['-T', 'application/json', '-d', body, url],
  ])
  const rps = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  const requests = Number(/\[200\]\s+(\d+)/.exec(stdout)?.[1])
  return { rps, cpuUs: (cpuS * 1e6) / requests }
}

/** Who is measured, in the order of each round; peers that are not installed are left out. */
const clients: Readonly<Record<string, Client>> = {
  wrk,
  assay: ours('assay'),
  client: ours('client'),
  autocannon: ours('autocannon'),
  undici: ours('undici'),
  hey,
}
const installed = ['wrk', 'hey']

/**
 * Plain chat, flat out: requests per second and CPU time per request, beside the peers. `assay` is
 * a whole run with every row in DuckDB; `client` is the wire alone.
 */
export async function chat({ quick, rounds = quick ? 1 : 5 }: BenchOptions): Promise<BenchResult> {
  // Long enough that what a run does once, at its end, weighs no more than in a load test.
  const seconds = quick ? 2 : 12
  const names = Object.keys(clients).filter((name) => !installed.includes(name) || has(name))
  const notes = installed
    .filter((name) => !has(name))
    .map((name) => `${name} is not installed; on Debian: apt-get install ${name}`)
  if (!has('nginx')) notes.push('nginx is not installed: the target is a bare Node server')
  const samples = new Map<string, Measured[]>()
  const keep = (name: string, measured: Measured) => {
    samples.set(name, [...(samples.get(name) ?? []), measured])
  }
  const server = await serve(serverCore, module('./null-server.ts'))
  try {
    for (let round = 0; round < rounds; round++) {
      for (const name of names) keep(name, await clients[name]!(server.port, 64, seconds))
      for (const name of names.filter((each) => each === 'wrk' || each === 'assay')) {
        keep(`${name}@2000`, await clients[name]!(server.port, 2000, seconds))
      }
    }
  } finally {
    server.stop()
  }
  return { part: 'chat', figures: figuresOf(samples), ratios: ratiosOf(samples), notes }
}

/** The ratio of each round, so that a slow minute of the machine cancels out. */
function ratios(
  samples: ReadonlyMap<string, readonly Measured[]>,
  peer: string,
  mine: string,
  of: 'rps' | 'cpuUs',
): readonly number[] {
  const peers = samples.get(peer) ?? []
  return (samples.get(mine) ?? []).flatMap((measured, round) => {
    const other = peers[round]
    return other === undefined ? [] : [measured[of] / other[of]]
  })
}

const goals: readonly (readonly [
  name: string,
  peer: string,
  mine: string,
  of: 'rps' | 'cpuUs',
  goal: string,
  meets: (ratio: number) => boolean,
])[] = [
  ['requests/s, times wrk', 'wrk', 'assay', 'rps', 'at least 0.85', (ratio) => ratio >= 0.85],
  ['CPU per request, times wrk', 'wrk', 'assay', 'cpuUs', 'at most 1.3', (ratio) => ratio <= 1.3],
  [
    'requests/s at 2,000, times wrk',
    'wrk@2000',
    'assay@2000',
    'rps',
    'at least 0.7',
    (ratio) => ratio >= 0.7,
  ],
]

function figuresOf(samples: ReadonlyMap<string, readonly Measured[]>): readonly Figure[] {
  const figures: Figure[] = []
  for (const [name, measured] of samples) {
    figures.push(
      figure(
        `${name}: rate`,
        'requests/s',
        measured.map(({ rps }) => rps),
      ),
    )
    // Beside the rate that is judged: peers that record nothing have nothing to close.
    const sending = measured.flatMap(({ sendingRps }) => sendingRps ?? [])
    if (sending.length > 0) {
      figures.push(figure(`${name}: rate before closing its file`, 'requests/s', sending))
      const closing = (of: 'closingS' | 'closingCpuS') => measured.flatMap((each) => each[of] ?? [])
      figures.push(figure(`${name}: closing its file`, 's', closing('closingS')))
      figures.push(figure(`${name}: closing its file, CPU`, 's', closing('closingCpuS')))
    }
    figures.push(
      figure(
        `${name}: CPU`,
        'us/request',
        measured.map(({ cpuUs }) => cpuUs),
      ),
    )
  }
  for (const [name, peer, mine, of, text, meets] of goals) {
    const found = ratios(samples, peer, mine, of)
    if (found.length > 0) figures.push(figure(name, 'ratio', found, { text, meets }))
  }
  const wire = ratios(samples, 'wrk', 'client', 'rps')
  if (wire.length > 0) figures.push(figure('client alone, times wrk', 'ratio', wire))
  return figures
}

function ratiosOf(samples: ReadonlyMap<string, readonly Measured[]>): Record<string, number> {
  const found: Record<string, number> = {}
  for (const peer of ['wrk', 'autocannon', 'undici', 'hey']) {
    const each = ratios(samples, peer, 'assay', 'rps')
    if (each.length > 0) found[peer] = figure(peer, 'ratio', each).median
  }
  return found
}
