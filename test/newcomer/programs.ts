import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { strictErrors, strictErrorsOf } from './installed.ts'

/**
 * `npm run programs`: each program of docs/programs.md, from the packed package in an empty project that has only the optional
 * packages that the program uses. It compiles strictly, with the declarations of every library checked, and runs on Node 22 and 24.
 * `npm run programs -- usage express` does so for these projects.
 */
const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'assay-programs-'))
const versions = ['22', '24'] as const

interface Project {
  readonly name: string
  /** Packages beside `assay`. */
  readonly packages: readonly string[]
  /** Libraries of types; hono's own declarations need those of a browser. */
  readonly lib?: readonly string[]
  readonly programs: readonly Program[]
}

interface Program {
  readonly file: string
  /** Exit codes that are right. */
  readonly codes: readonly number[]
  /** What it prints. */
  readonly prints?: string
  /** How it runs; without it, as a program of Node. */
  readonly words?: readonly string[]
  /** A program that asks it something and ends it. */
  readonly asks?: string
}

/** Asks the customers' usage of a server that a program exports, then closes it. */
const askServer = (program: string, path: string) => `
import { once } from 'node:events'
import { usageToken } from 'assay'
const { server } = await import('./${program}')
if (!server.listening) await once(server, 'listening')
const authorization = 'Bearer ' + (await usageToken('usage.yaml', { account: 'acct-1' }))
const url = 'http://127.0.0.1:' + server.address().port + '${path}/v1/account'
const answer = await fetch(url, { headers: { authorization } })
console.log(answer.status)
server.close()
process.exitCode = answer.status === 200 ? 0 : 1
`
const askFetch = `
import { usageToken } from 'assay'
const { default: server } = await import('./usage-fetch.ts')
const authorization = 'Bearer ' + (await usageToken('usage.yaml', { account: 'acct-1' }))
const answer = await server.fetch(new Request('http://localhost/v1/account', { headers: { authorization } }))
console.log(answer.status)
await server.close()
process.exitCode = answer.status === 200 ? 0 : 1
`
const askPage = `
import { once } from 'node:events'
const { server } = await import('./usage-server.ts')
if (!server.listening) await once(server, 'listening')
const answer = await fetch('http://127.0.0.1:' + server.address().port + '/?zone=UTC')
console.log(answer.status)
server.close()
process.exitCode = answer.status === 200 ? 0 : 1
`

const ofRepository = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>
}
const own = (...names: readonly string[]) =>
  names.map((name) => `${name}@${ofRepository.devDependencies[name]}`)

const projects: readonly Project[] = [
  {
    name: 'alone',
    packages: [],
    programs: [
      { file: 'gate-node.ts', codes: [0], words: ['--test'] },
      { file: 'nightly-audit.ts', codes: [0, 3] },
      { file: 'own-rule.ts', codes: [0] },
      { file: 'launch-page.ts', codes: [0] },
      { file: 'usage-server.ts', codes: [0], asks: askPage },
    ],
  },
  {
    name: 'gateway',
    packages: [],
    programs: [{ file: 'gateway-audit.ts', codes: [3], prints: 'PRICE-04' }],
  },
  {
    name: 'vitest',
    packages: own('vitest'),
    programs: [
      { file: 'gate.test.ts', codes: [0], words: ['node_modules/vitest/vitest.mjs', 'run'] },
    ],
  },
  {
    name: 'usage',
    lib: ['es2024', 'dom'],
    packages: own('hono', '@hono/node-server', 'jose'),
    programs: [
      { file: 'usage-hono.ts', codes: [0], asks: askServer('usage-hono.ts', '/usage') },
      { file: 'usage-http.ts', codes: [0], asks: askServer('usage-http.ts', '') },
      { file: 'usage-fetch.ts', codes: [0], asks: askFetch },
    ],
  },
  {
    name: 'express',
    packages: [...own('hono', '@hono/node-server', 'jose'), 'express@5'],
    programs: [
      { file: 'usage-express.js', codes: [0], asks: askServer('usage-express.js', '/usage') },
    ],
  },
]

const began = performance.now()
function must(holds: boolean, what: string, detail = ''): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`${seconds.padStart(6)} s  ${holds ? 'ok  ' : 'FAIL'}  ${what}\n`)
  if (!holds) throw new Error(`${what}\n${detail}`)
}

const env = {
  ...process.env,
  PORT: '0',
  NO_COLOR: '1',
  USAGE_SECRET: 'a secret of the operator with more than 32 bytes',
}

/** Installs the package with other packages in an empty project. */
function install(project: string, packages: readonly string[], tarball: string): void {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball, ...packages], {
    ...{ cwd: project, stdio: 'ignore' },
  })
}

/** A store with runs, and the settings of a page for customers. */
function writeData(project: string): void {
  const assay = (...words: readonly string[]) =>
    execFileSync('npx', ['--no', 'assay', ...words], { cwd: project, env, stdio: 'ignore' })
  assay('demo', '--db', 'assay.duckdb', '--out', 'demo.html')
  const settings = { product: 'Example', tokens: { algorithm: 'HS256', secretEnv: 'USAGE_SECRET' } }
  writeFileSync(join(project, 'usage.yaml'), JSON.stringify(settings))
}

/** The files that all programs share. */
const dataFiles = ['assay.duckdb', 'usage.yaml']

const gatewayScenario = `
name: gateway
question: What does the gateway log?
model: gpt-5.6
capture: all
steps:
  chat: { endpoint: chat, prompt: Say hello., max_tokens: 8 }
  stream: { endpoint: chat, stream: true, include_usage: true, prompt: Say hello., max_tokens: 8 }
phases: [{ name: steady, load: constant, rate: 10/s, max_requests: 20 }]
`

/** Runs of a gateway that charges by a contract, and its own log, in which streams are free. */
function askGateway(project: string): void {
  writeFileSync(join(project, 'traffic.yaml'), gatewayScenario)
  const script = `
assay=node_modules/.bin/assay
rm -f assay.duckdb
$assay contract init litellm --out gateway.yaml
$assay serve --port 0 --seed 1 --contract gateway.yaml --spend-log spend.jsonl --fault stream-free@logged > serve.txt &
trap "kill $!" EXIT
until grep -q Ctrl-C serve.txt; do sleep 0.2; done
export ASSAY_API_KEY=$(grep -o 'sk-svc-[A-Za-z0-9]*' serve.txt | tail -1)
$assay run traffic.yaml --base-url $(grep -o 'http://127[^ ]*' serve.txt | head -1) --contract gateway.yaml || test $? = 4
`
  execFileSync('bash', ['-ec', script], { cwd: project, env, stdio: 'ignore', timeout: 120_000 })
}

try {
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    ...{ cwd: root, encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).replace(/^[^[{]*/, '')
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }]
  const tarball = join(folder, filename)
  let first: string | null = null
  const wanted = process.argv.slice(2)
  for (const { name, packages, programs, lib } of projects) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const project = join(folder, name)
    install(project, packages, tarball)
    if (first === null) {
      first = project
      writeData(project)
      const errors = strictErrors(project)
      must(errors === '', 'every entry compiles strictly without an optional package', errors)
    } else {
      for (const file of dataFiles) copyFileSync(join(first, file), join(project, file))
    }
    if (name === 'gateway') askGateway(project)
    for (const { file } of programs) {
      const from = file === 'usage-express.js' ? 'test/foreign' : 'test/docs/examples'
      copyFileSync(join(root, from, file), join(project, file))
    }
    const typed = programs.map(({ file }) => file).filter((file) => file.endsWith('.ts'))
    const errors = typed.length === 0 ? '' : strictErrorsOf(project, typed, lib)
    must(errors === '', `${name}: ${typed.length} programs compile strictly`, errors)
    for (const version of versions) {
      for (const { file, codes, prints = '', words = [], asks } of programs) {
        const started = asks === undefined ? file : 'ask.js'
        if (asks !== undefined) writeFileSync(join(project, started), asks)
        const node = ['-y', '-p', `node@${version}`, 'node']
        const { status, stdout, stderr } = spawnSync('npx', [...node, ...words, started], {
          ...{ cwd: project, env, encoding: 'utf8', timeout: 120_000 },
        })
        must(
          codes.includes(status ?? -1) && `${stdout}${stderr}`.includes(prints),
          `${name}: ${file} ends with ${status} on Node ${version}`,
          `${stdout}${stderr}`,
        )
      }
    }
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
