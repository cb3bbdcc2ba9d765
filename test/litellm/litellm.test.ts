import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasPostgres, startLiteLlm } from './proxy.ts'

/**
 * LiteLLM's own proxy, with PostgreSQL, virtual prices, cached tokens, streams and /v1/messages, audited by the cost that it
 * states, its log and its spend. `ASSAY_LITELLM_OUT=FILE` keeps what the audit printed.
 */

/** The proxy's own endpoint of spend needs a database client that downloads its engine, so its header is read. */
const balance = 'balance: { header: x-litellm-key-spend, moves: up, within: 10s }'

function assay(folder: string, key: string, ...args: readonly string[]): string {
  try {
    return execFileSync(process.execPath, [join(process.cwd(), 'src/cli/main.ts'), ...args], {
      ...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
      env: { ...process.env, ASSAY_API_KEY: key, NO_COLOR: '1' },
    })
  } catch (error) {
    // An audit that fails exits with 1, and prints its findings.
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return `${stdout}${stderr}`
  }
}

test.runIf(process.env.NIGHTLY !== undefined && hasPostgres)(
  'LiteLLM states, logs and adds up the costs of its virtual prices',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-audited-'))
    const proxy = await startLiteLlm()
    const said: string[] = []
    try {
      const run = (...args: readonly string[]) => {
        const output = assay(folder, proxy.key, ...args)
        said.push(`$ assay ${args.join(' ')}\n${output}`)
        return output
      }
      run('contract', 'init', 'litellm', '--from', proxy.baseUrl, '--out', 'gateway.yaml')
      const written = readFileSync(join(folder, 'gateway.yaml'), 'utf8')
      writeFileSync(
        join(folder, 'gateway.yaml'),
        written.replace(/^ {2}balance: .*$/m, `  ${balance}`),
      )
      run('contract', 'traffic', 'gateway.yaml', '--out', 'traffic.yaml')
      const scenario = readFileSync(join(folder, 'traffic.yaml'), 'utf8')
      // The same by its messages format.
      const more = `  messages: { endpoint: messages, model: big, prompt: Say what a carat is., max_tokens: 32 }
  messages-stream: { endpoint: messages, model: big, stream: true, prompt: Say what a carat is., max_tokens: 32 }
`
      writeFileSync(
        join(folder, 'traffic.yaml'),
        `${scenario.replace('phases:', `${more}phases:`)}  - { name: messages, load: concurrency, users: 1, max_requests: 4, steps: [messages, messages-stream] }\n`,
      )
      run(
        ...['run', 'traffic.yaml', '--base-url', proxy.baseUrl, '--contract', 'gateway.yaml'],
        ...['--no-first-requests'],
      )
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      writeFileSync(join(folder, 'spend.jsonl'), proxy.spendLog())
      const output = run(
        ...['audit', '--contract', 'gateway.yaml', '--log', 'spend.jsonl', '--rule', 'PRICE'],
      )
      // The log and the answers count the same tokens as the upstream.
      expect(output).toMatch(/PRICE-05/)
      expect(output).toContain('by the contract')
      expect(output).not.toMatch(/^FAILED/m)
      expect(proxy.ledger().length).toBeGreaterThan(10)
    } finally {
      const kept = process.env.ASSAY_LITELLM_OUT
      if (kept !== undefined) appendFileSync(kept, [...said, proxy.spendLog()].join('\n---\n'))
      proxy.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
  900_000,
)
