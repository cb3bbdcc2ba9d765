import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openStore } from '../../src/store/session/open.ts'
import { assay, withFolder, withService } from './command.ts'

const shipped = resolve(import.meta.dirname, '../../scenarios')

/** What the reference service sells: it counts cl100k, four tokens for each message and three before the answer. */
const contract = `extends: svc
name: shop
currency: USD
models:
  - id: svc-k2
    tokenizer: cl100k
    template_tokens: 7
    context_window_tokens: 16000
    fixed: true
    cache: { least_tokens: 1024, step_tokens: 128 }
    tools: { schema: 97%, intact: true }
    served_tiers: [{ tier: priority, ttft: 80% }]
    price: { input: 1, output: 4 }
`

export interface Sent {
  readonly plan: string
  readonly code: number | null
  readonly requests: number
  /** By the prices of the contract. */
  readonly costUsd: number
  readonly verdicts: ReadonlyMap<string, { readonly verdict: string } & object>
}

/** Looks at the plan, runs a shipped scenario without its pauses, and audits it, each by the command. */
export const sent = (
  name: string,
  faults: readonly string[] = [],
  options: readonly string[] = [],
) =>
  withFolder(async (cwd): Promise<Sent> => {
    const served = join(cwd, 'shop.yaml')
    writeFileSync(served, contract)
    cpSync(join(shipped, 'data'), join(cwd, 'data'), { recursive: true })
    const text = readFileSync(join(shipped, `${name}.yaml`), 'utf8')
    // The window is the user's to fill in.
    const paced = text.replaceAll(/think: \w+/g, 'think: 1ms').replace('121600', '15200')
    writeFileSync(join(cwd, 'scenario.yaml'), paced)
    const serve = [
      '--contract',
      served,
      '--seed',
      '5',
      ...faults.flatMap((each) => ['--fault', each]),
    ]
    return withService(serve, async ({ baseUrl, keys }) => {
      const env = { ASSAY_API_KEY: keys.at(-1)!.apiKey }
      const run = ['run', 'scenario.yaml', '--base-url', baseUrl, '--contract', served, ...options]
      const plan = await assay([...run, '--dry-run'], { cwd, env }).ended
      const ran = await assay(run, { cwd, env }).ended
      const audit = ['audit', '--contract', served, '--rule', 'SOLD', '--format', 'json']
      const audited = await assay(audit, { cwd, env }).ended
      const { findings } = JSON.parse(audited.stdout) as {
        readonly findings: readonly { rule: string; verdict: { verdict: string } }[]
      }
      const store = await openStore(join(cwd, 'assay.duckdb'))
      const [all] = await store.rows<{ n: number; usd: number }>(
        `SELECT count(*) FILTER (WHERE sent_us IS NOT NULL)::DOUBLE AS n,
           sum(coalesce(prompt_tokens, 0) + 4 * coalesce(completion_tokens, 0))::DOUBLE / 1e6 AS usd FROM attempts`,
      )
      store.close()
      return {
        ...{ plan: plan.stdout, code: ran.code, requests: all!.n, costUsd: all!.usd },
        verdicts: new Map(findings.map(({ rule, verdict }) => [rule, verdict])),
      }
    })
  })

export const planned = (plan: string) => Number(/^At most (\d+\.\d+) USD in all/m.exec(plan)![1])
export const failed = ({ verdicts }: Sent) =>
  [...verdicts].filter(([, { verdict }]) => verdict === 'fail').map(([rule]) => rule)
