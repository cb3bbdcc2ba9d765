import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startService } from '../../src/service/start.ts'
import { manualClock } from '../../test/service/manual-clock.ts'
import { randomOf } from '../simulated-servers.ts'
import { type SoakMemory, soakPicture } from '../soak-picture.ts'
import { writeMadeUpUsage } from './made-up.ts'

/** What the browser opens for a picture. */
export interface Scene {
  /** A page, or the bytes of a picture that is no page. */
  readonly shows:
    | { readonly url: string; readonly cookie?: string; readonly againAfterMs?: number }
    | { readonly png: Uint8Array }
  close(): Promise<void>
}

export type SceneName = keyof typeof scenes

const root = resolve(import.meta.dirname, '../..')
const assay = join(root, 'src/cli/assay.js')
const env = {
  ...process.env,
  ASSAY_API_KEY: 'key-of-a-picture',
  USAGE_SECRET: 'a secret of a picture, of more than 32 bytes',
}

/** Each makes its page in an empty folder. All loads are real, and so are all runs; only usage is made up. */
export const scenes = {
  search,
  audit,
  compare,
  usage,
  live,
  customers,
  dashboard: () => customerOf('/dashboard'),
  'my-credits': () => customerOf('/my-credits'),
  soak,
} satisfies Record<string, (folder: string) => Promise<Scene>>

/** Of a run that is no proof of latency. */
const busyCode = 4

/** @throws Error if it fails, or if this machine is too busy for a valid run, three times */
function run(
  folder: string,
  words: readonly string[],
  codes: readonly number[] = [0],
  key = env.ASSAY_API_KEY,
): string {
  for (let tries = 3; ; tries--) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [assay, ...words], {
      ...{ cwd: folder, encoding: 'utf8', maxBuffer: 1e8 },
      env: { ...env, ASSAY_API_KEY: key },
    })
    if (codes.includes(status ?? -1)) return stdout
    if (status === busyCode && tries > 1) continue
    const busy = status === busyCode ? 'This machine is too busy for a picture.\n' : ''
    throw new Error(`${busy}assay ${words.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  }
}

const pageIn = (folder: string, file: string): Scene => ({
  shows: { url: pathToFileURL(join(folder, file)).href },
  close: async () => undefined,
})

/** A process, once its output matches. */
async function started(
  words: readonly string[],
  folder: string,
  ready: RegExp,
  key = env.ASSAY_API_KEY,
): Promise<{ readonly child: ChildProcess; readonly found: string }> {
  const child = spawn(process.execPath, words, {
    ...{ cwd: folder, env: { ...env, ASSAY_API_KEY: key } },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  }
  for (;;) {
    const found = ready.exec(text)?.[1]
    if (found !== undefined) return { child, found }
    if (child.exitCode !== null) throw new Error(`${words.join(' ')} ended:\n${text}`)
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child.stderr!, 'data'),
      once(child, 'exit'),
    ])
  }
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGINT')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** A server of known capacity, while `use` runs. */
async function withQueue(name: string, folder: string, use: (url: string) => void): Promise<void> {
  const server = fileURLToPath(new URL('../searches/queueing-server.ts', import.meta.url))
  const { child, found } = await started([server, name, '1'], folder, /^(\d+)\n/)
  try {
    use(`http://127.0.0.1:${found}/v1`)
  } finally {
    await ended(child)
  }
}

interface Service {
  readonly url: string
  readonly child: ChildProcess
  /** Of its largest account, as the key of the commands. */
  readonly key: string
}

/** The reference service. */
async function serve(folder: string, words: readonly string[]): Promise<Service> {
  const command = [assay, 'serve', '--port', '0', '--json', ...words]
  const { child, found } = await started(command, folder, /^(\{.*\})\n/m)
  const { baseUrl, keys } = JSON.parse(found) as {
    readonly baseUrl: string
    readonly keys: readonly { readonly apiKey: string }[]
  }
  return { url: baseUrl, child, key: keys.at(-1)!.apiKey }
}

async function search(folder: string): Promise<Scene> {
  await withQueue('mm8', folder, (url) => run(folder, ['bench', url, '--out', 'launch.html']))
  return pageIn(folder, 'launch.html')
}

async function audit(folder: string): Promise<Scene> {
  const scenario = join(root, 'scenarios/quick.yaml')
  const { url, child, key } = await serve(folder, ['--seed', '1', '--fault', 'double-charge=#50'])
  try {
    // Exit code 3: the faults that the service has.
    run(folder, ['run', scenario, '--base-url', url], [0, 3], key)
    run(folder, ['audit', 'latest', '--contract', 'svc'], [0, 3], key)
    run(folder, ['report', 'audit', '--contract', 'svc', '--out', 'audit.html'], [0], key)
  } finally {
    await ended(child)
  }
  return pageIn(folder, 'audit.html')
}

async function compare(folder: string): Promise<Scene> {
  const words = ['--model', 'svc-k2', '--rate', '8/s', '--duration', '60s', '--contract', 'svc']
  for (const [name, ttft] of [
    ['before', 'lognormal(300ms,0.3)'],
    ['after', 'lognormal(380ms,0.3)'],
  ] as const) {
    const { url, child, key } = await serve(folder, ['--seed', '1', '--ttft', ttft])
    try {
      run(folder, ['bench', url, ...words, '--db', `${name}.duckdb`], [0, 3], key)
    } finally {
      await ended(child)
    }
  }
  const stores = ['--db', 'before.duckdb', '--db-b', 'after.duckdb']
  const page = ['--format', 'html', '--out', 'compare.html']
  run(folder, ['compare', 'latest', 'latest', ...stores, ...page])
  return pageIn(folder, 'compare.html')
}

async function usage(folder: string): Promise<Scene> {
  imported(folder)
  const options = ['--account', 'acct-204', '--grants', 'grants.yaml', '--credit-price', '0.006']
  run(folder, ['report', 'usage', '--db', 'usage.duckdb', ...options, '--out', 'usage.html'])
  return pageIn(folder, 'usage.html')
}

function imported(folder: string): void {
  writeMadeUpUsage(folder, Date.now())
  run(folder, ['import', 'gateway.csv', '--map', 'map.yaml', '--db', 'usage.duckdb'])
}

async function live(folder: string): Promise<Scene> {
  writeFileSync(join(folder, 'live.yaml'), liveScenario)
  const service = await serve(folder, ['--ttft', 'lognormal(300ms,0.4)', '--itl', '10ms'])
  const words = [assay, 'run', 'live.yaml', '--base-url', service.url, '--live']
  const { child, found } = await started(words, folder, /Live: (\S+)/, service.key)
  await new Promise((done) => setTimeout(done, 45_000))
  return {
    shows: { url: found },
    async close() {
      await ended(child)
      await ended(service.child)
    },
  }
}

const liveScenario = `name: evening
question: Does the service answer the evening's load, with 19 of 20 first tokens within a second?
model: svc-k2
steps: { chat: { endpoint: chat, stream: true, max_tokens: 32 } }
phases: [{ name: steady, load: poisson, rate: 8/s, duration: 300s }]
thresholds: [chat.ttft.p95 < 1s, 'errors < 1%']
`

async function customers(folder: string): Promise<Scene> {
  imported(folder)
  const { child, found } = await started(
    [
      assay,
      'usage',
      'serve',
      '--db',
      'usage.duckdb',
      '--settings',
      'page.yaml',
      '--listen',
      '127.0.0.1:0',
    ],
    folder,
    /(http:\/\/127\.0\.0\.1:\d+)/,
  )
  const token = run(folder, ['usage', 'token', '--account', 'acct-204', '--settings', 'page.yaml'])
  return {
    // The first page begins the forecast; a later one shows it.
    shows: { url: `${found}/page#t=${token.split('\n')[0]}`, againAfterMs: 15_000 },
    close: () => ended(child),
  }
}

/** Twelve days of a customer of the reference service, whose clock is set forward. */
async function customerOf(path: string): Promise<Scene> {
  const clock = manualClock(Date.UTC(2026, 10, 17, 12) * 1000)
  const service = await startService({ seed: 1, clock, accounts: [], shape: atOnce })
  let cookie = ''
  const read = async (response: Response): Promise<string> => {
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    const to = response.headers.get('location')
    if (to === null) return response.text()
    return read(await fetch(service.baseUrl + to, { redirect: 'manual', headers: { cookie } }))
  }
  const post = async (to: string, fields: Record<string, string>) =>
    read(
      await fetch(service.baseUrl + to, {
        ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) },
        headers: { cookie, origin: service.baseUrl },
      }),
    )
  const home = await post('/register', { email: 'ada@example.com', password: 'long enough' })
  const token = /name="token" value="([^"]+)"/.exec(home)![1]!
  for (const name of ['Starter', 'Standard']) {
    await post('/dashboard/buy', { token, package: name, order: crypto.randomUUID() })
  }
  const made = await post('/dashboard/keys', { token, name: 'laptop' })
  const key = /sk-svc-\w{40}/.exec(made)![0]
  const random = randomOf('a customer of the reference service')
  for (let quarter = 0; quarter < 4 * 12; quarter++) {
    clock.advance(86_400e6 / 4)
    for (let left = Math.floor(random() * 5 * (quarter % 4)); left >= 0; left--) {
      const model = ['svc-k2', 'svc-k2', 'svc-k2-thinking', 'svc-k2.5'][Math.floor(random() * 4)]
      const body = { model, messages: [{ role: 'user', content: 'What does an assayer do?' }] }
      await fetch(`${service.baseUrl}/v1/chat/completions`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
    }
  }
  return { shows: { url: service.baseUrl + path, cookie }, close: () => service.close() }
}

/** Time of the service stands still while a request is answered. */
const atOnce = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'uniform', min: 10, max: 40 },
} as const

/** The picture of an hour's soak, by the table of docs/reliability.md: `npm run soak -- --hours 1` takes an hour. */
async function soak(): Promise<Scene> {
  const text = readFileSync(join(root, 'docs/reliability.md'), 'utf8')
  const table = text.slice(text.indexOf('| minute | run, MiB |')).split('\n\n')[0]!
  const course = [...table.matchAll(/^\| (\d+) \| (\d+) \| (\d+) \|/gm)].map(
    ([, minute, runMiB, serviceMiB]): SoakMemory => ({
      ...{ minute: Number(minute), runMiB: Number(runMiB), serviceMiB: Number(serviceMiB) },
    }),
  )
  return { shows: { png: await soakPicture(course, '1,000') }, close: async () => undefined }
}
