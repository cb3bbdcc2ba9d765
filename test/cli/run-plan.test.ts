import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Options } from '../../src/cli/commands/run.ts'
import { runAction } from '../../src/cli/runs/run.ts'
import { mustBound } from '../../src/cli/runs/run-overrides.ts'
import { planText, unpricedSteps } from '../../src/cli/runs/run-plan.ts'
import { billingOf } from '../../src/contract/billing.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { parseContract } from '../../src/contract/load.ts'
import { modelsOf } from '../../src/run/money/run-money.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { repeatedShare } from '../../src/run/plan/repeated-tokens.ts'
import { loadScenario, parseScenario } from '../../src/scenario/parse.ts'
import { undecidable } from '../../src/scenario/undecidable.ts'

function scenarioOf(rest: string, prompt = 'Hi') {
  return parseScenario(
    `{ name: a, question: b, model: svc-k2, steps: { chat: { endpoint: chat, prompt: ${prompt} } }, ${rest} }`,
    'a.yaml',
  )
}

function textOf(rest: string, prompt?: string, contract: Contract = defaultContract): string {
  const scenario = scenarioOf(rest, prompt)
  const shard = { index: 0, of: 1 }
  return planText(
    scenario,
    planOf(scenario, contract, 1),
    shard,
    1,
    billingOf(contract, modelsOf(scenario)),
  )
}

const rate = 'phases: [{ name: a, load: constant, rate: 5/s, duration: 2s }]'
const closed = 'phases: [{ name: a, load: concurrency, users: 2, duration: 2s }]'

test('a dry run says what the whole plan costs at most', () => {
  expect(textOf(rate)).toContain('At most 10 credits in all.')
  expect(textOf(`max_credits: 4, ${rate}`)).toContain('At most 4 credits in all, by max_credits.')
  expect(textOf(`max_credits: 900, ${closed}`)).toContain('At most 900 credits in all')
  expect(textOf(closed)).toMatch(/No bound on the credits: [^.]*a sends\. Set\s+max_credits\./)
})

test('a closed phase that ends by its number of requests has that number and its credits', () => {
  const text = textOf('phases: [{ name: a, load: concurrency, users: 2, max_requests: 30 }]')
  expect(text).toMatch(/a +steady +concurrency +until answered +30 +30/)
})

test('a dry run says how long it lasts, with the waits between requests', () => {
  expect(textOf(rate)).toContain('Lasts 2.0 s, and until the last answer.')
  const waiting =
    'phases: [{ name: a, load: concurrency, users: 2, think: 60s, max_requests: 10 }, { name: b, load: constant, rate: 5/s, duration: 5s }]'
  // Two users send five requests each, with four waits between them.
  expect(textOf(waiting)).toMatch(/a +steady +concurrency +at least 4 min +10 /)
  expect(textOf(waiting)).toContain('Lasts at least 4 min 05 s, and as long as the answers take.')
})

test('a closed phase of a shard without a request waits for nothing', () => {
  const scenario = scenarioOf(
    'phases: [{ name: a, load: concurrency, users: 2, think: 60s, max_requests: 1 }]',
  )
  const shard = { index: 1, of: 2 }
  const plan = planOf(scenario, defaultContract, 1, shard, true)
  const text = planText(
    scenario,
    plan.map((phase) => ({ ...phase, requests: 0 })),
    shard,
    1,
    billingOf(defaultContract, modelsOf(scenario)),
  )
  expect(text).toMatch(/a +steady +concurrency +until answered +0 /)
})

test('of a phase that is left open, a dry run says how much of the prompts is repeated at most', () => {
  const prefix = '{ synthetic: 100, prefix: { tokens: 300 } }'
  expect(textOf(closed, prefix)).toMatch(/chat: up to 75 % of its prompt tokens are repeated/)
})

test('a dry run says which share of the prompt tokens is repeated', () => {
  expect(textOf(rate)).toMatch(/chat: 90 % of its prompt tokens are repeated/)
  expect(textOf(rate, '{ synthetic: 100 }')).not.toContain('repeated')
  expect(textOf(rate, '{ synthetic: 100, prefix: { tokens: 300 } }')).toMatch(/chat: 68 % of its/)
})

test.each([
  ['{ synthetic: 100, pool: 16 }', 512, 1 - 16 / 512],
  ['{ synthetic: 100, pool: 16 }', 10, 0],
  ['{ synthetic: 100, prefix: { tokens: 300, shared: group, groups: 4 } }', 8, 0.75 * 0.5],
  ['{ synthetic: 100, prefix: { tokens: 300, shared: none } }', 8, 0],
])('of %s and %d requests, %d of the tokens are repeated', (prompt, requests, share) => {
  expect(repeatedShare(scenarioOf(rate, prompt).steps[0]!, 1, requests)).toBeCloseTo(share, 10)
})

test('a threshold on tokens of a step that does not stream cannot be decided', () => {
  const of = (step: string, threshold: string) =>
    undecidable(
      parseScenario(
        `{ name: a, question: b, model: svc-k2, steps: { chat: { endpoint: chat${step} } }, ${rate},
           thresholds: ["${threshold}"] }`,
        'a.yaml',
      ),
    )
  expect(of('', 'chat.ttft.p95 < 1s')).toEqual([
    'chat.ttft.p95 < 1s cannot be decided: step chat does not stream; give it stream: true, or judge service or response.',
  ])
  expect(of('', 'itl.p95 < 1s')).toHaveLength(1)
  expect(of(', stream: true', 'ttft.p95 < 1s')).toEqual([])
  expect(of(', body: { stream: true }', 'ttft.p95 < 1s')).toEqual([])
  expect(of('', 'service.p95 < 1s')).toEqual([])
})

test('scenarios of the package are found from any folder', async () => {
  const here = process.cwd()
  process.chdir('/')
  try {
    expect((await loadScenario('scenarios/poisson.yaml')).name).toBe('poisson')
    await expect(loadScenario('scenarios/none.yaml')).rejects.toThrow('none.yaml')
  } finally {
    process.chdir(here)
  }
})

const shop = parseContract(
  { models: [{ id: 'm', price: { input: 2.5, output: 10 } }] },
  'contract.yaml',
)

function moneyOf(steps: string, phases: string, contract = shop, bound = ''): string {
  const scenario = parseScenario(
    `{ name: a, question: b, model: m, ${bound} steps: { ${steps} }, phases: [${phases}] }`,
    'a.yaml',
  )
  const billing = billingOf(contract, modelsOf(scenario))
  return planText(scenario, planOf(scenario, contract, 1), { index: 0, of: 1 }, 1, billing)
}

test('by a contract with prices, a dry run says what the plan costs at most in its currency', () => {
  const steps = 'chat: { endpoint: chat, max_tokens: 1000, prompt: { synthetic: 400 } }'
  const phases = '{ name: p, load: constant, rate: 5/s, duration: 20s }'
  // 100 requests of 400 tokens at 2.50 and 1,000 at 10.00 a million, and a few tokens around each prompt.
  expect(moneyOf(steps, phases)).toMatch(/At most 1\.1\d USD in all: without a cache, each answer/)
  // The second turn has the first one and its answer before it.
  const turns = steps.replace('chat,', 'chat, session: { turns: 2 },')
  expect(moneyOf(turns, phases)).toMatch(/At most 2\.[56]\d USD/)
})

test('what a plan in money cannot bound is open, with the way out', () => {
  const chat = 'chat: { endpoint: chat, max_tokens: 10, prompt: Hi }'
  const fixed = '{ name: p, load: constant, rate: 5/s, duration: 2s }'
  const closed = '{ name: q, load: concurrency, users: 2, duration: 2s }'
  const both = moneyOf(chat, `${fixed}, ${closed}`).replace(/\s+/g, ' ')
  expect(both).toContain('No bound on the cost of q')
  expect(both).toContain('Set max_cost.')
  const endless = moneyOf(chat.replace('max_tokens: 10, ', ''), fixed).replace(/\s+/g, ' ')
  expect(endless).toContain('or max_tokens in chat')
})

test('a bound on money that no price can keep is told in a dry run, and refused as an option', () => {
  const bare = parseContract({ name: 'g', extends: 'none', models: [] }, 'g.yaml')
  const said = (contract: Contract) =>
    textOf(`max_cost: 0.5, ${rate}`, 'Hi', contract).replace(/\s+/g, ' ')
  for (const contract of [bare, defaultContract])
    expect(said(contract)).toContain(
      'max_cost bounds nothing: the contract has no price of a model',
    )
  const scenario = scenarioOf(`max_cost: 0.5, ${rate}`)
  expect(() => mustBound('0.5', [bare], scenario)).toThrow(
    '--max-cost: the contract has no price of a model of this scenario, so nothing bounds what it costs. Give --contract FILE with prices.',
  )
  expect(() => mustBound(undefined, [bare], scenario)).not.toThrow()
  const priced = parseContract({ name: 'g', models: [{ id: 'svc-k2', price: { input: 1 } }] }, 'g')
  expect(() => mustBound('0.5', [priced], scenario)).not.toThrow()
  expect(() => mustBound('0.5', [priced, bare], scenario)).toThrow('--max-cost: ')
})

test('a bound on money says which answers end the run, because their model has no price', () => {
  const scenario = scenarioOf(`max_cost: 0.5, ${rate}`)
  const steps = [
    scenario.steps[0]!,
    { ...scenario.steps[0]!, name: 'other', model: 'x' },
    { ...scenario.steps[0]!, name: 'refused', model: 'x', wrong: 'model' as never },
  ]
  const contract = parseContract(
    { name: 'g', models: [{ id: 'k', aliases: ['svc-k2'], price: { input: 1 } }] },
    'g',
  )
  const mixed = { ...scenario, steps }
  expect(unpricedSteps(contract, mixed)).toEqual(['other'])
  const text = planText(
    mixed,
    planOf(scenario, contract, 1),
    { index: 0, of: 1 },
    1,
    billingOf(contract, modelsOf(mixed)),
    unpricedSteps(contract, mixed),
  )
  expect(text.replace(/\s+/g, ' ')).toContain(
    'max_cost ends the run at the first answer of other: the contract has no price of its model.',
  )
})

test('a bound on the money of two targets needs prices in the contract of each, dry or not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-targets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const written = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const priced = (name: string, input: number) =>
    `{ name: ${name}, extends: none, models: [{ id: svc-k2, price: { input: ${input}, output: 1 } }] }`
  written('a.yaml', priced('a', 1))
  written('b.yaml', priced('b', 2))
  const pairOf = (a: string, b: string) =>
    written(
      'pair.yaml',
      `{ name: a, question: b, model: svc-k2, targets: {
        a: { base_url: "http://127.0.0.1:9"${a} }, b: { base_url: "http://127.0.0.1:9"${b} } },
        steps: { chat: { endpoint: chat, max_tokens: 10 } },
        phases: [{ name: steady, load: poisson, rate: 50/s, max_requests: 400 }] }`,
    )
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => out.mockRestore())
  const options = { db: join(folder, 'a.duckdb'), maxCost: '1', timeScale: '1' } as never as Options
  const bare = pairOf(', contract: a.yaml', '')
  for (const dryRun of [{}, { dryRun: true as const }])
    await expect(runAction(bare, { ...options, ...dryRun })).rejects.toThrow(
      '--max-cost: the contract has no price of a model',
    )
  await runAction(pairOf(', contract: a.yaml', ', contract: b.yaml'), { ...options, dryRun: true })
  const said = out.mock.calls
    .map(([text]) => String(text))
    .join('')
    .replace(/\s+/g, ' ')
  expect(said).toContain('counts are those of each, and costs those of a by its contract.')
  expect(said).not.toContain('bounds nothing')
})

test('a bound on money says which calls it does not count', () => {
  const contract = (search: object) =>
    parseContract({ models: [{ id: 'm', price: { input: 1, ...search } }] }, 'contract.yaml')
  const tools = 'body: { tools: [{ type: web_search }] }'
  const said = (search: object, more: string) =>
    moneyOf(
      `chat: { endpoint: chat, max_tokens: 10, prompt: Hi${more} }`,
      '{ name: p, load: constant, rate: 5/s, duration: 2s }',
      contract(search),
      'max_cost: 0.5,',
    ).replace(/\s+/g, ' ')
  const note = 'max_cost counts tokens alone: the calls of chat have a price of their own'
  expect(said({ search: 0.01 }, `, ${tools}`)).toContain(note)
  expect(said({}, `, ${tools}`)).not.toContain(note)
  expect(said({ search: 0.01 }, '')).not.toContain(note)
})
