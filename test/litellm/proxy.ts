import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const here = import.meta.dirname
/** Where the proxy is installed. */
const venv = process.env.ASSAY_LITELLM ?? join(homedir(), '.cache/assay-litellm')
const python = join(venv, 'bin/python')
/** Debian's PostgreSQL. */
const postgresBin = readdirOf('/usr/lib/postgresql')
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .at(-1)

function readdirOf(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(a) - Number(b)) : []
}

export const hasPostgres = postgresBin !== undefined

/** Installs the proxy from PyPI, once. Some 500 MB. @returns the Python that has it */
export function installLiteLlm(): string {
  if (existsSync(join(venv, 'bin/litellm'))) return python
  execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
  const args = ['-m', 'pip', 'install', '--quiet', '-r', join(here, 'requirements.txt')]
  execFileSync(python, args, { stdio: 'inherit' })
  return python
}

export interface LiteLlm {
  readonly baseUrl: string
  readonly key: string
  /** Rows of `LiteLLM_SpendLogs`, as JSON lines. */
  spendLog(): string
  /** Forgets the rows, and writes those that follow as a release with a public fault did (`with_fault` in spend_rows.py). */
  restart(fault: string | null): void
  /** What the upstream counted, as JSON lines. */
  ledger(): readonly { readonly usage: { readonly prompt_tokens: number } }[]
  close(): void
}

const [databasePort, proxyPort] = [8203, 8202]

/** Starts PostgreSQL, an upstream and the proxy, with virtual prices. It takes about a minute. */
export async function startLiteLlm(): Promise<LiteLlm> {
  installLiteLlm()
  const folder = mkdtempSync(join(tmpdir(), 'assay-litellm-'))
  chmodSync(folder, 0o755)
  cpSync(here, folder, { recursive: true })
  const children: ChildProcess[] = []
  const close = () => {
    for (const child of children.toReversed()) child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 })
  }
  try {
    const database = startPostgres(folder, children)
    migrate(database)
    const ledger = join(folder, 'ledger.jsonl')
    children.push(
      spawn(process.execPath, [join(folder, 'upstream.js'), '8201', ledger], { stdio: 'ignore' }),
    )
    const env = {
      ...process.env,
      SPEND_DATABASE: `host=127.0.0.1 port=${databasePort} user=lite dbname=postgres`,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      NO_PROXY: '127.0.0.1',
    }
    const args = ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(proxyPort)]
    const proxy = spawn(join(venv, 'bin/litellm'), args, {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(proxy)
    let said = ''
    for (const output of [proxy.stdout, proxy.stderr]) output.on('data', (text) => (said += text))
    const baseUrl = `http://127.0.0.1:${proxyPort}`
    await untilReady(`${baseUrl}/health/liveliness`, () => said)
    return {
      baseUrl,
      key: 'sk-audited',
      spendLog: () =>
        database(
          `SELECT row_to_json(log) FROM (SELECT request_id, spend, model, model_group, "startTime", "endTime",
             prompt_tokens, completion_tokens, api_key, call_type, status, cache_hit, metadata FROM "LiteLLM_SpendLogs" ORDER BY "startTime") AS log`,
        ),
      restart(fault) {
        database('DELETE FROM "LiteLLM_SpendLogs"')
        rmSync(join(folder, 'fault'), { force: true })
        if (fault !== null) writeFileSync(join(folder, 'fault'), fault)
      },
      ledger: () =>
        readFileSync(ledger, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** PostgreSQL refuses to run as root, and so do we for it. @returns a function that runs SQL */
function startPostgres(folder: string, children: ChildProcess[]): (sql: string) => string {
  // initdb makes its own folder, as the user that it runs as.
  const room = join(folder, 'pg')
  mkdirSync(room)
  chmodSync(room, 0o777)
  const data = join(room, 'data')
  const isRoot = process.getuid?.() === 0
  const as = (command: string, args: readonly string[]): [string, string[]] =>
    isRoot
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]]
      : [command, [...args]]
  const init = as(join(postgresBin!, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'lite'])
  execFileSync(...init, { stdio: 'ignore', cwd: '/' })
  const server = as(join(postgresBin!, 'postgres'), [
    '-D',
    data,
    '-p',
    String(databasePort),
    '-k',
    data,
  ])
  children.push(spawn(...server, { stdio: 'ignore', cwd: '/' }))
  const psql = (sql: string) =>
    execFileSync(
      join(postgresBin!, 'psql'),
      [
        '-h',
        '127.0.0.1',
        '-p',
        String(databasePort),
        '-U',
        'lite',
        '-d',
        'postgres',
        '-q',
        '-A',
        '-t',
      ],
      { input: sql, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
    )
  for (let tries = 0; ; tries++) {
    try {
      psql('SELECT 1')
      return psql
    } catch (error) {
      if (tries > 100) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    }
  }
}

/** The tables of the proxy, from its own migrations. */
function migrate(database: (sql: string) => string): void {
  const code = 'import litellm_proxy_extras as e; print(e.__path__[0])'
  const extras = execFileSync(python, ['-c', code], { encoding: 'utf8' }).trim()
  const folder = join(extras, 'migrations')
  const files = readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, 'migration.sql'))
  database(
    files
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n'),
  )
}

async function untilReady(url: string, said: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await wait(1000)
  }
  throw new Error(`LiteLLM did not start:\n${said().slice(-3000)}`)
}
