import { expect, test } from 'vitest'
import { blockOf } from '../../src/cli/runs/live-block.ts'
import { lineOf } from '../../src/cli/runs/live-view.ts'
import { figureText } from '../../src/cli/runs/run-judgement.ts'
import { planText } from '../../src/cli/runs/run-plan.ts'
import { billingOf } from '../../src/contract/billing.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { parseContract } from '../../src/contract/load.ts'
import { makeReport } from '../../src/report/page.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { csvSummary } from '../../src/report/summary/tables.ts'
import { terminalFigures } from '../../src/report/summary/terminal.ts'
import type { Progress } from '../../src/run/count/progress.ts'
import { modelsOf } from '../../src/run/money/run-money.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../store/opened.ts'
import { key, startTarget, withStorePath } from './target.ts'

/** Each answer has 1,000 prompt tokens, 900 of them cached, and 2 output tokens. */
const answer = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 2,
    total_tokens: 1002,
    prompt_tokens_details: { cached_tokens: 900 },
  },
})

const priced = parseContract(
  { name: 'g', models: [{ id: 'gpt-x', price: { input: 0.15, cache_read: 0.015, output: 0.6 } }] },
  'g.yaml',
)
// 100 x 0.15 + 900 x 0.015 + 2 x 0.6 millionths.
const each = 0.0000297

const allOf = { fromUs: null, toUs: null, by: 'model', sources: [], grants: null } as const

/** What a reader sees of a page. */
const textOf = (html: string) =>
  html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .slice(0, 3000)

const scenarioWith = (rest: string) =>
  parseScenario(
    `{ name: a, question: b, model: gpt-x, steps: { chat: { endpoint: chat, prompt: Hi, max_tokens: 2 } }, ${rest} }`,
    'a.yaml',
  )

async function ran(contract: Contract, rest: string) {
  const target = await startTarget((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
  const seen: Progress[] = []
  try {
    return await withStorePath(async (dbPath) => {
      const result = await run(scenarioWith(rest), {
        ...{ baseUrl: target.baseUrl, dbPath, contract, keys: { default: key } },
        onProgress: (progress) => seen.push(progress),
      })
      const store = await openStore(dbPath)
      try {
        const summary = await summarise(store, result.runId, contract)
        const options = {
          contract,
          runIds: [],
          timeZone: 'UTC',
          nowUs: Date.now() * 1000,
          usage: { contract, ...allOf },
        }
        const page = async (name: 'launch' | 'usage') =>
          (await makeReport({ store, page: name, ...options })).html
        const launch = await page('launch')
        return {
          result,
          last: seen.at(-1)!,
          summary,
          texts: [terminalFigures(summary), markdownSummary(summary), csvSummary(summary)],
          launch: textOf(launch),
          tasks: textOf(launch.slice(launch.indexOf('<h3>Tasks'))),
          usage: textOf(await page('usage')),
        }
      } finally {
        store.close()
      }
    })
  } finally {
    target.close()
  }
}

test('a task costs what its requests cost together', { tags: 'whole' }, async () => {
  const { summary, texts, tasks } = await ran(
    priced,
    `tasks: { fix: { turns: [{ name: a, step: chat }, { name: b, step: chat, after: a, repeat: 2 }] } },
     phases: [{ name: steady, load: concurrency, users: 2, max_requests: 4, tasks: [fix] }],
     thresholds: [task_credits < 5]`,
  )
  // Four tasks of three requests.
  expect(summary.tasks).toMatchObject([
    {
      ...{ task: 'fix', requestsEach: 3, creditsEach: null },
      counts: { tasks: 4, ok: 4 },
      money: { unit: 'USD', spent: '0.0003564', unknown: 0 },
    },
  ])
  expect(texts[0]).toContain('4 tasks succeeded; 3 requests, 0.000089 USD each')
  expect(tasks).toMatch(/cost each .*0\.000089 USD/)
})

const ten = 'phases: [{ name: a, load: concurrency, users: 1, max_requests: 10 }]'
const room = { columns: 200, rows: 40 }

test('with a contract, a run shows money while it runs, in its summary and on its pages', {
  tags: 'whole',
}, async () => {
  const { last, summary, texts, launch, usage, result } = await ran(priced, ten)
  expect(summary.money).toMatchObject({ unit: 'USD', spent: '0.000297', priced: 10, unknown: 0 })
  expect(result.creditsByContract).toBeNull()
  expect(
    lineOf({ ...last, money: { spent: '0.000297', unit: 'USD', unknown: 0, most: null } }),
  ).toContain('| 0.0003 USD')
  expect(last.money?.unit).toBe('USD')
  expect(blockOf(last, room).join('\n')).toMatch(/cost 0(\.0\d+|\.00)? USD/)
  expect(texts[0]).toContain('cost 0.0003 USD by the contract')
  expect(texts[1]).toContain('Cost: 0.0003 USD by the contract.')
  for (const text of [...texts, launch]) expect(text).not.toMatch(/credits/i)
  expect(launch).toContain('0.0003 USD')
  expect(usage).toMatch(/0\.0003(0|\b)?/)
  expect(usage).toContain('USD')
})

test('without any contract, an OpenAI-like server shows tokens by part, and no cost or credits', {
  tags: 'whole',
}, async () => {
  const { last, summary, texts, launch, result } = await ran(defaultContract, ten)
  expect(summary.money).toBeNull()
  expect(result.creditsByContract).toBeNull()
  expect(texts[0]).toContain('tokens in   uncached 1,000   cache read 9,000')
  for (const text of [lineOf(last), blockOf(last, room).join('\n'), ...texts.slice(0, 2)])
    expect(text).not.toMatch(/credits|cost|USD/i)
  expect(launch).not.toMatch(/Cost by the contract/)
  const scenario = scenarioWith(ten)
  const plan = planOf(scenario, defaultContract, 1)
  const text = planText(
    scenario,
    plan,
    { index: 0, of: 1 },
    1,
    billingOf(defaultContract, modelsOf(scenario)),
  )
  expect(text).toContain('No contract states what these requests cost.')
})

test('a run stops at max_cost, and a dry run tells it in money', { tags: 'whole' }, async () => {
  const rest = `max_cost: 0.001, phases: [{ name: a, load: concurrency, users: 4, duration: 20s }]`
  const { result, summary } = await ran(priced, rest)
  expect(result.stopped).toBe('budget')
  expect(Number(summary.money!.spent)).toBeLessThanOrEqual(0.001)
  expect(Number(summary.money!.spent)).toBeGreaterThan(0.001 - 8 * each)
  const scenario = scenarioWith(ten)
  const planned = (text: string) => {
    const of = scenarioWith(text)
    const billing = billingOf(priced, modelsOf(of))
    return planText(of, planOf(of, priced, 1), { index: 0, of: 1 }, 1, billing)
  }
  // 10 requests of at most 66 prompt tokens and 2 of output.
  expect(planned(ten)).toMatch(/At most 0\.000\d+ USD in all: without a cache/)
  expect(planned(`max_cost: 0.00001, ${ten}`)).toContain('At most 0.00001 USD in all, by max_cost')
  expect(planned(rest)).toContain('At most 0.001 USD in all, by max_cost.')
  expect(scenario.policy.maxCost).toBeNull()
})

test('the cost of a task has thresholds in the currency of the prices, and what is not known is named', {
  tags: 'whole',
}, async () => {
  const answered = { n: 0 }
  const target = await startTarget((_, response) => {
    response.setHeader('content-type', 'application/json')
    // Each third answer has no usage while `hidden` is set.
    const { usage, ...bare } = JSON.parse(answer)
    answered.n++
    response.end(JSON.stringify(hidden && answered.n % 3 === 0 ? bare : { ...bare, usage }))
  })
  let hidden = false
  const scenario = parseScenario(
    `
name: a
question: What does a task cost?
model: gpt-x
steps: { chat: { endpoint: chat, prompt: Hi, max_tokens: 2 } }
tasks: { fix: { turns: [{ name: a, step: chat }, { name: b, step: chat, after: a, repeat: 2 }] } }
phases: [{ name: steady, load: constant, rate: 50/s, max_requests: 4, tasks: [fix] }]
thresholds: ['fix.task_cost <= 0.0001', 'task_cost.max < 0.00001', 'task_cost.min >= 0.0000891']
`,
    'a.yaml',
  )
  const judged = (contract: Contract) =>
    withStorePath(async (dbPath) => {
      const { thresholds } = await run(scenario, {
        ...{ baseUrl: target.baseUrl, dbPath, contract, keys: { default: key } },
      })
      return thresholds
    })
  const known = await judged(priced)
  expect(known.map(({ result }) => result)).toEqual(['held', 'missed', 'held'])
  for (const threshold of known) {
    expect(threshold).toMatchObject({ unit: 'amount', currency: 'USD', samples: 4, unknown: null })
    expect(threshold.value).toBeCloseTo(3 * each, 12)
    expect(figureText(threshold)).toBe('0.0000891 USD')
  }
  hidden = true
  const [open] = await judged(priced)
  expect(open).toMatchObject({
    ...{ result: 'inconclusive', value: null, samples: 4 },
    unknown:
      'the cost of 4 of 12 requests is not known: their usage does not say what a price needs',
  })
  const other = parseContract(
    { name: 'g', models: [{ id: 'gpt-y', price: { input: 1, output: 1 } }] },
    'g.yaml',
  )
  expect((await judged(other))[0]!.unknown).toMatch(/no price/)
  target.close()
})

test('a threshold on money compares exactly, and a summary has every digit', {
  tags: 'whole',
}, async () => {
  // Each answer costs 1000000000000.000000000000000001 of the 100 whole tokens, 900 cached and 2 of output: 31 digits.
  const dear = parseContract(
    {
      name: 'g',
      digits: 18,
      models: [
        {
          id: 'gpt-x',
          price: {
            input: { price: 10_000_000_000, per: 1 },
            cache_read: 0,
            output: { price: '0.0000000000000000005', per: 1 },
          },
        },
      ],
    },
    'g.yaml',
  )
  const one = 'tasks: { fix: { turns: [{ name: a, step: chat }] } }'
  const { summary, result } = await ran(
    dear,
    `${one},
     phases: [{ name: steady, load: concurrency, users: 1, max_requests: 3, tasks: [fix] }],
     thresholds: [task_cost <= 1000000000000.000000000000000001, task_cost.max <= 1000000000000, task_cost.min > 1000000000000]`,
  )
  expect(summary.money).toMatchObject({ spent: '3000000000000.000000000000000003' })
  expect(JSON.stringify(summary)).toContain('"3000000000000.000000000000000003"')
  // As doubles, all of these are 1000000000000.
  expect(result.thresholds.map(({ result }) => result)).toEqual(['held', 'missed', 'held'])
  expect(result.thresholds[0]!.amount).toBe('1000000000000.000000000000000001')
})
