import { expect, test } from 'vitest'
import { flagSql } from '../../src/attempt/flags.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { key, query, startTarget, withStorePath } from './target.ts'

const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
const response = (status: string, output: readonly object[]) => ({
  ...{ id: 'resp_1', object: 'response', status, error: null, model: 'svc-k2', output },
  usage: status === 'completed' ? usage : null,
})
const message = { type: 'message', content: [{ type: 'output_text', text: 'one two' }] }

/** The events of a response with reasoning and two pieces of text, in its format. */
const events = [
  { type: 'response.created', response: response('in_progress', []) },
  { type: 'response.output_item.added', item: { type: 'message', content: [] }, output_index: 0 },
  { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
  { type: 'response.output_text.delta', output_index: 0, delta: 'one ' },
  { type: 'response.output_text.delta', output_index: 0, delta: 'two' },
  { type: 'response.output_text.done', output_index: 0, text: 'one two' },
  { type: 'response.completed', response: response('completed', [message]) },
]

const scenario = parseScenario(
  `name: formats
question: What do other formats say?
model: svc-k2
steps:
  plain: { endpoint: responses, prompt: Hi, system: Be brief, max_tokens: 9 }
  streamed: { endpoint: responses, stream: true }
  vectors: { endpoint: embeddings, prompt: Hi }
  cut: { endpoint: responses, stream: true, path: /v1/cut }
  left: { endpoint: responses, stream: true, abort: before-done }
phases:
  - { name: steady, load: constant, rate: 40/s, duration: 400ms }
`,
  'formats.yaml',
  defaultContract,
)

test('responses and embeddings are requested, read and measured in their own formats', async () => {
  const asked = new Map<string, unknown>()
  const target = await startTarget(({ url }, answer, body) => {
    const fields = JSON.parse(body)
    asked.set(`${url}${fields.stream ? ' stream' : ''}`, fields)
    if (url === '/v1/embeddings') {
      const data = [{ object: 'embedding', index: 0, embedding: [0.5, -1e-3] }]
      answer.end(
        JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 7, total_tokens: 7 } }),
      )
    } else if (!fields.stream) answer.end(JSON.stringify(response('completed', [message])))
    else {
      answer.setHeader('content-type', 'text/event-stream')
      const sent = url === '/v1/cut' ? events.slice(0, -1) : events
      answer.end(
        sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      )
    }
  })
  await withStorePath(async (dbPath) => {
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys: { default: key } })
    const rows = await query(
      dbPath,
      `SELECT DISTINCT step, outcome, reason, choices, finish_reason AS finish, prompt_tokens AS p,
         completion_tokens AS c, content_events AS content, ${flagSql('reasoning')} AS thought, done_marks AS done
       FROM attempts ORDER BY step`,
    )
    const read = { outcome: 'ok', reason: null, choices: null, finish: 'completed', p: 7, c: 3 }
    expect(rows).toEqual([
      {
        ...{
          step: 'cut',
          outcome: 'broken',
          reason: 'no-done',
          choices: null,
          finish: null,
        },
        ...{ p: null, c: null, content: 3, thought: true, done: 0 },
      },
      {
        ...{ step: 'left', ...read, outcome: 'aborted', reason: 'before-done' },
        ...{ content: 3, thought: true, done: 1 },
      },
      { step: 'plain', ...read, content: 0, thought: false, done: 0 },
      { step: 'streamed', ...read, content: 3, thought: true, done: 1 },
      {
        ...{ step: 'vectors', ...read, choices: 1, finish: null, c: null },
        ...{ content: 0, thought: false, done: 0 },
      },
    ])
  })
  expect(Object.fromEntries(asked)).toMatchObject({
    '/v1/responses': {
      ...{ model: 'svc-k2', instructions: 'Be brief', max_output_tokens: 9 },
      input: [{ role: 'user', content: 'Hi' }],
    },
    '/v1/responses stream': { model: 'svc-k2', stream: true },
    '/v1/embeddings': { model: 'svc-k2', input: 'Hi' },
  })
})
