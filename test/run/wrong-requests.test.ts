import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { wrongRequests } from '../../src/contract/request.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { serving } from '../service/serving.ts'
import { query, withStorePath } from './target.ts'

/** A step for each wrong request in each format. */
const scenario = parseScenario(
  `
name: every error
question: Does every wrong request get its own error?
model: svc-k2
keys: { full: { env: FULL }, empty: { env: EMPTY } }
steps:
${['chat', 'messages']
  .flatMap((endpoint) =>
    wrongRequests.map(
      (name) =>
        `  ${name}-${endpoint}: { endpoint: ${endpoint}, max_tokens: 8, wrong: ${name}, keys: [${name === 'no-credits' ? 'empty' : 'full'}] }`,
    ),
  )
  .join('\n')}
phases: [{ name: steady, load: constant, rate: 100/s, max_requests: 110 }]
thresholds: [errors == 0%]
stop: { consecutive_failures: 1 }
`,
  'every-error.yaml',
)

test('every wrong request gets its own error in both formats, and none is a failure', {
  tags: 'whole',
}, async () => {
  const { service } = await serving({
    accounts: [
      { name: 'full', balance: 50_000 },
      { name: 'empty', balance: 0 },
    ],
  })
  const [full, empty] = service.keys
  await withStorePath(async (dbPath) => {
    const { counts, stopped } = await run(scenario, {
      baseUrl: service.baseUrl,
      dbPath,
      keys: { full: full!.apiKey, empty: empty!.apiKey },
    })
    expect([stopped, counts]).toMatchObject([null, { planned: 110, httpError: 110 }])
    const rows = await query<{ expects: string; endpoint: string; received: string }>(
      dbPath,
      `SELECT DISTINCT expects, endpoint, status || ' ' || coalesce(error_code, error_type) AS received
       FROM attempts ORDER BY 1, 2`,
    )
    expect(rows.map((row) => [row.expects, row.endpoint, row.received].join(' '))).toEqual([
      'altered-key chat 401 invalid_api_key',
      'altered-key messages 401 authentication_error',
      'context-length chat 400 context_length_exceeded',
      'context-length messages 400 invalid_request_error',
      'invalid-key chat 401 invalid_api_key',
      'invalid-key messages 401 authentication_error',
      'invalid-parameter chat 400 invalid_request',
      'invalid-parameter messages 400 invalid_request_error',
      'malformed-json chat 400 invalid_request',
      'malformed-json messages 400 invalid_request_error',
      'missing-key chat 401 invalid_api_key',
      'missing-key messages 401 authentication_error',
      'missing-messages chat 400 invalid_request',
      'missing-messages messages 400 invalid_request_error',
      'no-credits chat 403 insufficient_credits',
      'no-credits messages 403 invalid_request_error',
      'recased-key chat 401 invalid_api_key',
      'recased-key messages 401 authentication_error',
      'unknown-model chat 400 model_not_found',
      'unknown-model messages 400 invalid_request_error',
      'unknown-path chat 404 invalid_request',
      'unknown-path messages 404 invalid_request',
    ])
  })
})

test('the budget includes only wrong requests that could be charged to an account with credits', () => {
  const [plan] = planOf(scenario, defaultContract, 1)
  const { bySteps, mostCredits } = plan!
  expect(mostCredits).toBe(bySteps['no-credits-chat']! + bySteps['no-credits-messages']!)
})

test('a dry run prices every choice of a request', () => {
  const many = parseScenario(
    `
name: choices
question: What do three choices cost?
model: svc-k2.5
steps: { chat: { endpoint: chat, body: { n: 3 } } }
phases: [{ name: steady, load: constant, rate: 10/s, max_requests: 4 }]`,
    'choices.yaml',
  )
  expect(planOf(many, defaultContract, 1)[0]!.mostCredits).toBe(24)
})

test('a dry run reports a missing prompt file', () => {
  const text = `
name: files
question: Is the file there?
model: svc-k2
steps: { chat: { endpoint: chat, prompt: { file: no-such.txt } } }
phases: [{ name: steady, load: constant, rate: 10/s, max_requests: 4 }]`
  expect(() => planOf(parseScenario(text, 'files.yaml'), defaultContract, 1)).toThrow(
    /^Step chat takes its prompts from .*no-such\.txt, which cannot be read\./,
  )
})

test('a request is priced by the model that is sent, wherever the scenario names it', () => {
  const dear = parseScenario(
    `
name: dear
question: What does another model in the body cost?
model: svc-k2
steps: { chat: { endpoint: chat, body: { model: svc-k2.5 } } }
phases: [{ name: steady, load: constant, rate: 10/s, max_requests: 4 }]`,
    'dear.yaml',
  )
  expect(planOf(dear, defaultContract, 1)[0]!.mostCredits).toBe(8)
})
