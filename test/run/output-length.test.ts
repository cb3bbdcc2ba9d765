import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, key, startTarget, withStorePath } from './target.ts'

interface Body {
  readonly max_tokens?: number
  readonly min_tokens?: number
  readonly ignore_eos?: boolean
}

/** A model that ends its answers after 300 tokens, unless its server makes it go on. */
async function ran(scenario: string, obeys: boolean) {
  const bodies: Body[] = []
  const target = await startTarget((_, response, text) => {
    const body = JSON.parse(text) as Body
    bodies.push(body)
    const most = body.max_tokens ?? 4_096
    answerChat(response, 'Yes.', obeys && body.ignore_eos ? most : Math.min(300, most))
  })
  try {
    return await withStorePath(async (dbPath) => {
      const { baseUrl } = target
      const parsed = parseScenario(scenario, 'a.yaml', defaultContract)
      const result = await run(parsed, { baseUrl, dbPath, keys: { default: key } })
      const store = await openStore(dbPath)
      try {
        return { bodies, result, summary: await summarise(store, result.runId, defaultContract) }
      } finally {
        store.close()
      }
    })
  } finally {
    target.close()
  }
}

const scenarioOf = (step: string, phase = 'load: constant, rate: 100/s, max_requests: 40') =>
  `name: a
question: b
model: svc-k2
steps:
  chat: { endpoint: chat, ${step} }
phases:
  - { name: main, ${phase} }
thresholds:
  - output_length.mean >= 95%
  - chat.output_length.min >= 0.5
`

test('output_tokens asks for so many tokens, and makes a server that can give them', {
  tags: 'whole',
}, async () => {
  const { bodies, result, summary } = await ran(scenarioOf('output_tokens: 1024'), true)
  for (const { max_tokens, min_tokens, ignore_eos } of bodies)
    expect([max_tokens, min_tokens, ignore_eos]).toEqual([1024, 1024, true])
  expect(result.thresholds.map(({ result, value, unit }) => [result, value, unit])).toEqual([
    ['held', 1, 'share'],
    ['held', 1, 'share'],
  ])
  expect(summary.lengths).toEqual([
    { step: 'chat', isTrace: false, answers: 40, askedTokens: 40_960, tokens: 40_960, whole: 40 },
  ])
})

test('asked 1,024, got 300 is a figure, which misses its thresholds', {
  tags: 'whole',
}, async () => {
  const { bodies, result, summary } = await ran(
    scenarioOf('output_tokens: 1024, enforce_output: false'),
    true,
  )
  for (const body of bodies) {
    expect(body.max_tokens).toBe(1024)
    expect(body).not.toHaveProperty('min_tokens')
    expect(body).not.toHaveProperty('ignore_eos')
  }
  for (const { result: each, value } of result.thresholds) {
    expect(each).toBe('missed')
    expect(value).toBeCloseTo(300 / 1024, 9)
  }
  const told =
    'Answers of chat have 12,000 of the 40,960 output tokens that the scenario asks for (29.3 %); 0 of 40 are as long as asked.'
  expect(terminalSummary(summary).replaceAll(/\s+/g, ' ')).toContain(told)
  expect(markdownSummary(summary)).toContain(told)
})

test('a step without output_tokens tells nothing of lengths, but a threshold on them is judged', {
  tags: 'whole',
}, async () => {
  const { summary, result } = await ran(scenarioOf('max_tokens: 600'), false)
  expect(summary.lengths).toEqual([])
  expect(result.thresholds.map(({ value }) => value)).toEqual([0.5, 0.5])
  expect(result.thresholds.map(({ result: each }) => each)).toEqual(['missed', 'held'])
})

test('a replay says how far its answers are from its trace', { tags: 'whole' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-lengths-'))
  try {
    const trace = join(folder, 'trace.csv')
    const rows = Array.from({ length: 20 }, (_, at) => `${at / 100},10,${at < 5 ? 100 : 600}`)
    writeFileSync(trace, ['sent_s,tokens_in,tokens_out', ...rows].join('\n'))
    const phase = `load: replay, file: ${trace}, columns: { time: sent_s, input: tokens_in, output: tokens_out }`
    const free = await ran(scenarioOf('include_usage: false', phase), true)
    expect(free.summary.lengths).toEqual([
      {
        ...{ step: 'chat', isTrace: true, answers: 20 },
        ...{ askedTokens: 9_500, tokens: 5_000, whole: 5 },
      },
    ])
    expect(terminalSummary(free.summary).replaceAll(/\s+/g, ' ')).toContain(
      'Answers of chat have 5,000 of the 9,500 output tokens that the trace has (52.6 %); 5 of 20 are as long as asked.',
    )
    const made = await ran(scenarioOf('output_tokens: trace', phase), true)
    expect(made.summary.lengths).toMatchObject([{ askedTokens: 9_500, tokens: 9_500, whole: 20 }])
    expect(
      made.bodies.map(({ min_tokens }) => min_tokens).filter((each) => each === 600).length,
    ).toBe(15)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each([
  ['output_tokens: 10, max_tokens: 20', 'expected one of output_tokens and max_tokens; got both'],
  ['output_tokens: trace', 'output_tokens: trace needs phases with load: replay'],
  ['enforce_output: false', 'enforce_output is of output_tokens'],
  ['output_tokens: 0', 'expected a whole number from 1'],
])('%s is refused with what to do', (step, message) => {
  expect(() => parseScenario(scenarioOf(step), 'a.yaml', defaultContract)).toThrow(message)
})

test('a service that refuses the fields is asked before the load, and the refusal names the way out', {
  tags: 'whole',
}, async () => {
  let asked = 0
  const target = await startTarget((_, response, text) => {
    asked++
    if (text.includes('"min_tokens"')) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"Unrecognized request argument","type":"x","code":null}}')
    } else answerChat(response)
  })
  const refusalFor = (steps: string) =>
    withStorePath(async (dbPath) => {
      const scenario = parseScenario(
        scenarioOf('max_tokens: 8').replace('  chat: { endpoint: chat, max_tokens: 8 }', steps),
        'a.yaml',
        defaultContract,
      )
      const to = { baseUrl: target.baseUrl, dbPath, keys: { default: key } }
      return (await run(scenario, { ...to, firstRequests: true })).refusal
    })
  try {
    const plain = '  chat: { endpoint: chat, max_tokens: 8 }'
    const long = '  long: { endpoint: chat, output_tokens: 8 }'
    expect(await refusalFor(`${plain}\n${long}`)).toMatch(
      /answered 400: .*\n.*\nStep long asks for its length by min_tokens and ignore_eos\. If the service refuses them, enforce_output: false in the step leaves them out \(--no-enforce-output of bench\)\.$/,
    )
    expect(asked).toBe(2)
    expect(await refusalFor(`${plain}\n${long.replace(' }', ', enforce_output: false }')}`)).toBe(
      null,
    )
  } finally {
    target.close()
  }
})
