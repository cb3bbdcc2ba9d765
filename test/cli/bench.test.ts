import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mustMaySpend } from '../../src/cli/runs/spending.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { resolveKeys } from '../../src/run/send/keys.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { type QuickLoad, quickScenario } from '../../src/scenario/quick.ts'
import { assay } from '../e2e/command.ts'
import { emptyFolder, foreignServer } from './bench-server.ts'

test('bench needs only an address: no file, no key, no model', { tags: 'whole' }, async () => {
  const { asked, origin } = await foreignServer()
  const folder = emptyFolder()
  const { stdout: out, stderr: error } = await assay(
    ['bench', `${origin}/llm/v1`, '--rate', '20/s', '--duration', '3s', '--save', 'made.yaml'],
    { cwd: folder },
  ).ended
  expect(out, error).toContain('page  assay-launch.html\n')
  expect(out).toMatch(/ttft\.p95 < 1s +/)
  // The sentence is wrapped at the width of the terminal.
  expect(out.replaceAll(/\n {2,}/g, ' ')).toMatch(
    /^first request: chat answered 200 in \d+ ms, a stream of 8 events with text, token counts, no credits header, no limit headers$/m,
  )
  expect(out).toMatch(/output tokens [\d.]+\/s/)
  expect(existsSync(join(folder, 'assay-launch.html'))).toBe(true)
  expect(asked[0]!.url).toBe('/llm/v1/models')
  expect(asked[1]).toMatchObject({
    url: '/llm/v1/chat/completions',
    body: { model: 'qwen/qwen3-8b', stream: true, stream_options: { include_usage: true } },
  })
  const saved = readFileSync(join(folder, 'made.yaml'), 'utf8')
  expect(saved).toMatch(`# assay run made.yaml --base-url ${origin}/llm\n`)
  expect(parseScenario(saved, 'made.yaml').phases.map(({ name }) => name)).toEqual([
    'warm-up',
    'steady',
  ])
})

test.each([
  [['--rate', 'fast'], '--rate: expected a rate such as 20/s; got fast.'],
  [['--for', '10'], '--for: expected a time such as 10m; got 10.'],
  [['--duration', '5s'], '--duration: a search has no length of its own'],
  [['--rate', '20/s', '--users', '5'], '--rate and --users: expected one of them; got both.'],
  [['--rate', '5/s', '--duration', '3'], '--duration: expected a time such as 30s; got 3.'],
  [['--slo', 'ttft < 3'], '--slo: expected'],
  [['--slo', 'task.p95 < 60s'], '--slo: task is of tasks, and bench sends single requests'],
  [
    ['--slo', 'errors < 1%'],
    '--slo: a search expects a percentile of ttft, tpot, service, response',
  ],
  [
    ['--header', 'Authorization: Bearer x'],
    '--header Authorization: a key comes from ASSAY_API_KEY',
  ],
  [['--header', 'x team: a'], "--header: expected a name and a value, such as 'x-team: a'; header"],
])(
  '%j is refused with one sentence before anything is sent',
  { tags: 'whole' },
  async (words, sentence) => {
    const { code, stderr: error } = await assay(
      ['bench', 'http://127.0.0.1:1', '--model', 'm', ...words],
      { cwd: emptyFolder() },
    ).ended
    expect(error).toMatch(/^[^\n]+\n$/)
    expect(error).toContain(sentence)
    expect(code).toBe(2)
  },
)

const quick: QuickLoad = {
  model: 'm',
  endpoint: 'chat',
  stream: true,
  promptTokens: 100,
  outputTokens: 16,
  output: 'at most',
  headers: [],
  load: { kind: 'search', maxRate: '500/s', budget: 'quick', mostTime: '4m' },
  prefixTokens: 0,
  duration: '5s',
  objectives: ['ttft.p95 < 800ms', 'tpot.p90 <= 50ms'],
  maxCredits: 300,
  caFile: null,
  metrics: null,
}

test('a search applies the largest share of requests among the objectives to every objective', () => {
  const { phases, objectives, policy } = parseScenario(quickScenario(quick), 'bench')
  expect(objectives).toMatchObject({ ttftUs: 800_000, tpotUs: 50_000 })
  expect(phases[0]!.load).toMatchObject({
    kind: 'sweep',
    search: { maxPerS: 500, goodput: 0.95, budget: 'quick', mostUs: 240e6, boundUs: 800_000 },
  })
  expect(policy.maxCredits).toBe(300)
})

test('an objective of a search may grow with the tokens of a request', () => {
  const objectivesOf = (objectives: readonly string[]) => {
    const scenario = parseScenario(quickScenario({ ...quick, objectives }), 'bench')
    const { load } = scenario.phases[0]!
    return { ...scenario.objectives, search: load.kind === 'sweep' ? load.search : null }
  }
  const { ttftUs, serviceUs, search } = objectivesOf([
    'ttft.p99.9 < 300ms + 0.2ms/input_token',
    'service.p90 < 1s + 30ms/output_token',
  ])
  expect(ttftUs).toEqual({ us: 3e5, usPerInputToken: 200, usPerOutputToken: 0 })
  expect(serviceUs).toEqual({ us: 1e6, usPerInputToken: 0, usPerOutputToken: 30_000 })
  // A backlog is judged by what a request of 1,000 tokens may take.
  expect(search).toMatchObject({ goodput: 0.999, boundUs: 31e6 })
  expect(() => objectivesOf(['ttft < 300ms + 0.2ms/input_token'])).toThrow(
    'a search expects a percentile of ttft, tpot, service, response',
  )
})

test.each([
  ['no-such-step.ttft.p95 < 800ms'],
  ['steady/chat.ttft.p95 < 800ms'],
  ['ttft{model=other}.p95 < 800ms'],
])('a search does not answer for all requests what is asked of some: %s', (text) => {
  expect(() => quickScenario({ ...quick, objectives: [text] })).toThrow(
    `--slo: a search judges all of its requests; got ${text}, which is of some.`,
  )
})

test('a search refuses two bounds of one metric, and a short load has a warm-up', () => {
  const objectives = ['ttft.p50 < 300ms', 'ttft.p95 < 800ms']
  expect(() => quickScenario({ ...quick, objectives })).toThrow(
    '--slo: a search has one bound of ttft; got ttft.p50 < 300ms and ttft.p95 < 800ms. Leave out all but one.',
  )
  const load = { kind: 'rate', rate: '20/s' } as const
  const short = parseScenario(quickScenario({ ...quick, load, duration: '0.2s' }), 'bench')
  expect(short.phases[0]).toMatchObject({ name: 'warm-up', durationUs: 100_000 })
})

test('a number of output tokens is enforced if it is given, and else bounds the answers', () => {
  const stepOf = (change: Partial<QuickLoad>) =>
    parseScenario(quickScenario({ ...quick, ...change }), 'bench').steps[0]!
  expect(stepOf({ output: 'at most' })).toMatchObject({ maxTokens: 16 })
  expect(stepOf({ output: 'at most' }).output).toBeUndefined()
  expect(stepOf({ output: 'enforced' })).toMatchObject({
    ...{ maxTokens: 16, output: { tokens: 16, isEnforced: true } },
  })
  // Other formats have no such fields.
  expect(stepOf({ output: 'enforced', endpoint: 'messages' }).output).toBeUndefined()
})

const heldRate = (model: string) =>
  parseScenario(
    quickScenario({
      ...quick,
      model,
      load: { kind: 'rate', rate: '100/s' },
      duration: '60s',
      maxCredits: null,
    }),
    'bench',
  )
const spending = {
  scenario: heldRate('svc-k2'),
  contracts: [defaultContract],
  seed: 1,
  isAgreed: false,
}

test('a run that may cost more than 1,000 credits on another machine needs consent', async () => {
  const there = 'https://api.example.com'
  await expect(mustMaySpend({ ...spending, baseUrl: there })).rejects.toThrow(
    /^This run may cost \d,\d{3} credits of https:\/\/api\.example\.com\. Confirm with --yes, or limit it with --max-credits\.$/,
  )
  // A host name that only begins like a local address.
  await expect(mustMaySpend({ ...spending, baseUrl: 'http://127.example.com' })).rejects.toThrow(
    /credits of http:\/\/127\.example\.com\./,
  )
  await mustMaySpend({ ...spending, baseUrl: there, isAgreed: true })
  await mustMaySpend({ ...spending, baseUrl: 'http://127.0.0.1:1' })
  const { scenario } = spending
  const bounded = { ...scenario, policy: { ...scenario.policy, maxCredits: 1000 } }
  await mustMaySpend({ ...spending, scenario: bounded, baseUrl: there })
})

test('runs at one service are asked about by the sum of what the contract of each says', async () => {
  const costing = (credits: number) => ({
    ...defaultContract,
    models: defaultContract.models.map((model) => ({ ...model, costCredits: credits })),
  })
  const [free, dear] = [costing(0), costing(50)]
  const said = async (...contracts: (typeof defaultContract)[]) => {
    const error = mustMaySpend({ ...spending, contracts, baseUrl: 'https://api.example.com' })
    return error.then(
      () => 'not asked',
      ({ message }: Error) => message.split(' of https')[0],
    )
  }
  expect(await said(dear)).toBe('This run may cost 326,100 credits')
  expect(await said(free, dear)).toBe('These 2 runs may cost 326,100 credits')
  expect(await said(dear, free)).toBe('These 2 runs may cost 326,100 credits')
  expect(await said(dear, dear)).toBe('These 2 runs may cost 652,200 credits')
  expect(await said(free, free)).toBe('not asked')
  const unpriced = { ...defaultContract, models: [] }
  const both = mustMaySpend({
    ...{ ...spending, contracts: [dear, unpriced], baseUrl: 'https://api.example.com' },
  })
  await expect(both).rejects.toThrow(
    'One of these 2 runs may cost 326,100 credits of https://api.example.com. One of these 2 runs may send 6,522 requests to https://api.example.com, and no contract states what they cost. Confirm with --yes, or limit it with --max-credits.',
  )
})

test('a run of a model without a price asks for consent by its requests, not by an invented cost', async () => {
  const unpriced = { ...spending, scenario: heldRate('m'), baseUrl: 'https://api.example.com' }
  await expect(mustMaySpend(unpriced)).rejects.toThrow(
    /^This run may send \d,\d{3} requests to https:\/\/api\.example\.com, and no contract states what they cost\. /,
  )
})

test('--continue without a search in the store is refused with one sentence', async () => {
  const { code, stderr } = await assay(['bench', '--continue'], { cwd: emptyFolder() }).ended
  expect(code).toBe(2)
  expect(stderr).toMatch(/^[^\n]+\n$/)
})

test('bench without a URL and without --continue is refused', async () => {
  const { code, stderr } = await assay(['bench'], { cwd: emptyFolder() }).ended
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('expected the address of the service'),
  ])
})

test('a saved bench runs without a key, and a prefix is written into it', () => {
  const saved = parseScenario(quickScenario({ ...quick, prefixTokens: 800 }), 'bench')
  expect(resolveKeys(saved, {}, {})).toMatchObject([{ name: 'default', key: 'none' }])
  expect(resolveKeys(saved, {}, { ASSAY_API_KEY: 'sk-1' })).toMatchObject([{ key: 'sk-1' }])
  expect(saved.steps[0]!.prompt).toEqual({
    kind: 'synthetic',
    tokens: { kind: 'fixed', tokens: 100 },
    pool: null,
    prefix: { tokens: 800, texts: 1 },
    script: 'words',
  })
})
