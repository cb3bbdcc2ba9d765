/**
 * The audit of a server of another make, which knows no credits: `node bench/foreign.ts`.
 *
 * Installs a small OpenAI-compatible server from npm into a temporary folder, sends it chat completions,
 * plain and streamed, by `assay run`, and audits what was recorded. Every billing rule must say that it
 * observed nothing. Needs the registry; the exit code is 1 when a rule of billing says anything else.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const server = { package: '@dwmkerr/mock-llm@0.1.29', command: 'mock-llm' }
const main = resolve(import.meta.dirname, '../src/cli/main.ts')

const scenario = `
name: foreign
question: What does an audit say of a server that knows no credits?
model: gpt-4o
steps:
  chat: { endpoint: chat, prompt: "Hello.", max_tokens: 16, weight: 2 }
  stream: { endpoint: chat, stream: true, prompt: "Hello.", max_tokens: 16 }
  models: { endpoint: models }
  balance: { endpoint: credits }
  no-key: { endpoint: chat, wrong: missing-key }
phases:
  - { name: alone, load: concurrency, users: 1, max_requests: 30 }
  - { name: together, load: concurrency, users: 16, max_requests: 300 }
capture: all
stop: { error_share: 100%, consecutive_failures: 100000 }
`

interface Reported {
  readonly findings: readonly {
    readonly rule: string
    readonly verdict: { readonly verdict: string }
  }[]
}

const folder = mkdtempSync(join(tmpdir(), 'assay-foreign-'))
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  writeFileSync(join(folder, 'scenario.yaml'), scenario)
  const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', server.package], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (installed.status !== 0) {
    process.stdout.write(`not shown: ${server.package} cannot be installed here\n`)
    process.exit(0)
  }
  const port = await freePort()
  const foreign = spawn(join(folder, 'node_modules/.bin', server.command), [], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
    stdio: 'ignore',
  })
  try {
    await answers(`http://127.0.0.1:${port}/v1/models`)
    const assay = (...args: readonly string[]) =>
      spawnSync(process.execPath, [main, ...args, '--db', join(folder, 'assay.duckdb')], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, ASSAY_API_KEY: 'sk-foreign' },
      })
    const ran = assay('run', 'scenario.yaml', '--base-url', `http://127.0.0.1:${port}`)
    process.stdout.write(`${ran.stdout.split('\n').slice(0, 8).join('\n')}\n${ran.stderr}\n`)
    const audited = assay('audit', '--format', 'json')
    process.exitCode = tell(JSON.parse(audited.stdout)) ? 0 : 1
  } finally {
    foreign.kill()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Prints verdicts by family. @returns whether every rule of billing observed nothing */
function tell({ findings }: Reported): boolean {
  const verdicts = ['pass', 'fail', 'inconclusive', 'not-observed']
  process.stdout.write(`${server.package}\nfamily    ${verdicts.join('   ')}\n`)
  for (const [family, rules] of Map.groupBy(findings, ({ rule }) => rule.replace(/-.*/, ''))) {
    const counts = verdicts.map((name) =>
      String(rules.filter(({ verdict }) => verdict.verdict === name).length).padStart(name.length),
    )
    process.stdout.write(`${family.padEnd(10)}${counts.join('   ')}\n`)
  }
  const said = findings.filter(
    ({ rule, verdict }) => rule.startsWith('BILL-') && verdict.verdict !== 'not-observed',
  )
  for (const { rule, verdict } of said) process.stdout.write(`${rule} says ${verdict.verdict}\n`)
  return said.length === 0
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => found(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** Waits until something answers there. @throws Error after 15 s */
async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 150; tries++) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`${server.command} does not answer at ${url}`)
}
