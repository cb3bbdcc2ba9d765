import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hasPostgres, type LiteLlm, startLiteLlm } from './proxy.ts'

/**
 * The log of LiteLLM's own proxy with PostgreSQL, audited without a run and without a store: as LiteLLM writes it, and with
 * public faults of its releases put in. `ASSAY_LITELLM=FOLDER NIGHTLY=1 npx vitest run test/litellm/log-alone.test.ts`.
 */

const contract = `name: proxy
extends: none
currency: USD
charged: { success: full, refused: none }
models:
  - { id: big, price: { input: 4, cache_read: 0.4, output: 20 } }
  - { id: small, price: { input: 0.15, output: 0.6 } }
`

interface Asked {
  readonly model: string
  readonly stream: boolean
  readonly text: string
}

/**
 * A long prompt is read from a cache from its second request on. Streams have longer prompts than plain requests: a row that costs
 * nothing and has the counts of an earlier one may be an answer of the gateway's own cache.
 */
const long = 'Tell me about carats. '.repeat(400)
const asked: readonly Asked[] = ['Hello', long, long].flatMap((text) =>
  ['big', 'small'].flatMap((model) => [
    { model, stream: false, text },
    { model, stream: true, text: `${text} Answer at length, please.` },
  ]),
)

async function send({ baseUrl, key }: LiteLlm, { model, stream, text }: Asked): Promise<void> {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({
      ...{ model, stream, max_tokens: 16, messages: [{ role: 'user', content: text }] },
      ...(stream ? { stream_options: { include_usage: true } } : {}),
    }),
  })
  await response.text()
  expect(response.status).toBe(200)
}

interface Witness {
  readonly service: { readonly ids: readonly string[]; readonly expected: string }
}
interface Finding {
  readonly rule: string
  readonly verdict: { verdict: string; observed?: string; witnesses?: readonly Witness[] }
}

test.runIf(process.env.NIGHTLY !== undefined && hasPostgres)(
  "LiteLLM's own log passes without a run, and three public faults in it are told by the ids of its rows",
  { timeout: 900_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-litellm-log-'))
    const proxy = await startLiteLlm()
    try {
      writeFileSync(join(folder, 'gateway.yaml'), contract)
      const audited = async (fault: string | null) => {
        proxy.restart(fault)
        for (const each of asked) await send(proxy, each)
        // The proxy writes its rows after its answers.
        const rowsOf = () => proxy.spendLog().trim().split('\n')
        for (let tries = 0; rowsOf().length < asked.length && tries < 40; tries++) await wait(500)
        const rows = rowsOf().map((line) => JSON.parse(line) as Record<string, string | number>)
        expect(rows).toHaveLength(asked.length)
        writeFileSync(join(folder, 'spend.jsonl'), proxy.spendLog())
        const args = ['audit', '--log', 'spend.jsonl', '--contract', 'gateway.yaml']
        const { findings } = JSON.parse(said(folder, ...args, '--format', 'json')) as {
          findings: readonly Finding[]
        }
        const failed = findings.filter(({ verdict }) => verdict.verdict === 'fail')
        const told = failed.map(({ rule, verdict }) => [rule, verdict.observed])

        process.stderr.write(`${fault ?? 'as LiteLLM writes it'}: ${JSON.stringify(told)}\n`)
        return { rows, findings, failed }
      }
      const honest = await audited(null)
      expect(honest.failed).toEqual([])
      expect(honest.findings.find(({ rule }) => rule === 'PRICE-04')?.verdict).toMatchObject({
        ...{ verdict: 'pass', observations: asked.length },
      })
      for (const [fault, words] of [
        ['stream-free', /free/],
        ['cached-double', /cache_read|cached/],
        ['log-total-zero', /free|rounded/],
      ] as const) {
        const { rows, failed } = await audited(fault)
        expect([fault, failed.map(({ rule }) => rule)]).toEqual([fault, ['PRICE-04']])
        const [{ verdict }] = failed as [Finding]
        expect(verdict.observed).toMatch(words)
        for (const { service } of verdict.witnesses!) {
          expect(rows.map(({ request_id: id }) => id)).toContain(service.ids[0])
        }
      }
      // Neither a store nor a run was needed.
      expect(readdirSync(folder).toSorted()).toEqual(['gateway.yaml', 'spend.jsonl'])
    } finally {
      proxy.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

function said(cwd: string, ...args: readonly string[]): string {
  try {
    return execFileSync(process.execPath, [resolve('src/cli/assay.js'), ...args], {
      ...{ cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    })
  } catch (error) {
    // An audit that fails exits with 3, and prints its findings.
    return (error as { stdout: string }).stdout
  }
}
