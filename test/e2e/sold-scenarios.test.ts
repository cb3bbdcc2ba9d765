import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
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

interface Sent {
  readonly plan: string
  readonly code: number | null
  readonly requests: number
  /** By the prices of the contract. */
  readonly costUsd: number
  readonly verdicts: ReadonlyMap<string, { readonly verdict: string } & object>
}

/** Looks at the plan, runs a shipped scenario without its pauses, and audits it, each by the command. */
const sent = (name: string, faults: readonly string[] = [], options: readonly string[] = []) =>
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

const planned = (plan: string) => Number(/^At most (\d+\.\d+) USD in all/m.exec(plan)![1])
const failed = ({ verdicts }: Sent) =>
  [...verdicts].filter(([, { verdict }]) => verdict === 'fail').map(([rule]) => rule)

const whole = { tags: 'whole', timeout: 600_000 }

test.each([
  // One more than planned: the first requests, by which a run knows that the service answers.
  ['audit-integrity', 51, ['SOLD-01', 'SOLD-02', 'SOLD-09'], 'token-inflation', 'SOLD-01'],
  ['integrity-session', 100, ['SOLD-02'], 'hidden-prompt', 'SOLD-02'],
  ['audit-context', 2, ['SOLD-03'], 'cached-too-many', 'SOLD-04'],
  ['audit-cache', 80, ['SOLD-04'], 'cached-too-many', 'SOLD-04'],
  ['audit-tools', 100, ['SOLD-07'], 'tool-rewritten', 'SOLD-07'],
  ['audit-tier', 100, [], 'tier-ignored', 'SOLD-08'],
])(
  '%s says its price before, costs no more, accuses no honest service, and tells a fault',
  whole,
  async (name, requests, passed, fault, rule) => {
    const honest = await sent(name)
    // 4 says that the machine is too busy for times; counts stay.
    expect([0, 4]).toContain(honest.code)
    expect(honest.plan).toContain('Nothing was sent.')
    expect(honest.requests - requests).toBeLessThanOrEqual(1)
    expect(honest.requests).toBeGreaterThanOrEqual(requests)
    expect(honest.costUsd).toBeGreaterThan(0)
    expect(honest.costUsd).toBeLessThanOrEqual(planned(honest.plan))
    expect(failed(honest)).toEqual([])
    for (const each of passed)
      expect([each, honest.verdicts.get(each)!.verdict]).toEqual([each, 'pass'])

    expect(failed(await sent(name, [fault]))).toContain(rule)
  },
)

test.each([
  ['audit-integrity', 0.01],
  ['audit-cache', 0.05],
])('%s with --max-cost %d sends nothing beyond it', whole, async (name, most) => {
  const held = await sent(name, [], ['--max-cost', String(most)])
  expect(held.plan).toContain(`At most ${most} USD in all, by max_cost`)
  expect(held.costUsd).toBeGreaterThan(0)
  expect(held.costUsd).toBeLessThanOrEqual(most)
  expect(held.requests).toBeGreaterThan(1)
})
