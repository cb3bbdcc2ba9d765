import { expect, test } from 'vitest'
import { summarise } from '../../../src/public/report.ts'
import { run } from '../../../src/run/run.ts'
import { callMessages, offeredTool, resultMessages } from '../../../src/run/tasks/tool-messages.ts'
import { parseScenario } from '../../../src/scenario/parse.ts'
import { openStore } from '../../../src/store/session/open.ts'
import { answerChat, key, query, startTarget, withStorePath } from '../target.ts'

interface Sent {
  readonly messages: readonly {
    readonly role: string
    readonly content: string | null
    readonly tool_call_id?: string
  }[]
  readonly tools?: readonly unknown[]
  readonly token?: string | undefined
}

test('tools are answered, a long conversation is compacted, prefixes are shared, and the last token is sent back', {
  tags: 'whole',
}, async () => {
  const sent: Sent[] = []
  const target = await startTarget((request, response, body) => {
    const asked = JSON.parse(body)
    const token = request.headers['x-session-token']
    sent.push({ ...asked, token })
    response.setHeader('x-session-token', `${token ?? 'first'}+`)
    const calls = asked.tools !== undefined && asked.messages.at(-1).role !== 'tool'
    if (!calls) return answerChat(response, 'Done.', 900)
    const call = { id: 'call_7', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [call, { ...call, id: 'call_8' }],
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        ...{ id: 'x', object: 'chat.completion', created: 1, model: 'svc-k2' },
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    )
  })
  const scenario = parseScenario(`
name: agents
question: Do agents talk as agents do?
model: svc-k2
threads: 1
steps: { say: { endpoint: chat, prompt: Go on. } }
tasks:
  tooled:
    affinity: { repeat: x-session-token }
    prefix: { tokens: 40, shared: all }
    turns:
      - { name: ask, step: say, tools: true }
      - { name: result, step: say, after: ask }
      - { name: aside, step: say, after: ask, context: new }
  long:
    context: { limit: 500, at_limit: { compact: 30 } }
    prefix: { tokens: 12, shared: none }
    turns: [{ name: a, step: say }, { name: b, step: say, after: a }]
phases: [{ name: steady, load: constant, rate: 20/s, max_requests: 8, tasks: [tooled, long] }]
`)
  await withStorePath(async (dbPath) => {
    const { counts } = await run(scenario, {
      dbPath,
      baseUrl: target.baseUrl,
      keys: { default: key },
    })
    expect(counts.ok).toBe(sent.length)
  })
  target.close()
  const words = (text: string | null) => (text ?? '').split(' ').length
  const asks = sent.filter(({ tools, messages }) => tools !== undefined && messages.length === 1)
  const results = sent.filter(({ messages }) => messages.some(({ role }) => role === 'tool'))
  const asides = sent.filter(({ token, tools }) => token !== undefined && tools === undefined)
  expect(asks.length).toBeGreaterThan(0)
  expect([results.length, asides.length]).toEqual([asks.length, asks.length])
  for (const { messages, tools } of results) {
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(messages.slice(2).map((each) => [each.tool_call_id, each.content])).toEqual([
      ['call_7', 'Go on.'],
      ['call_8', 'Go on.'],
    ])
    expect(tools).toHaveLength(1)
  }
  // The first request of a task has no token; those after it have the last that the service sent.
  expect(new Set(asks.map(({ token }) => token))).toEqual(new Set([undefined]))
  expect([...results, ...asides].every(({ token }) => token?.startsWith('first+'))).toBe(true)
  // All tasks, and both conversations of each, begin with the same forty words.
  const starts = [...asks, ...asides].map(({ messages }) => messages[0]!.content)
  expect(new Set(starts).size).toBe(1)
  expect(words(starts[0]!)).toBe(40 + 2)

  const long = sent.filter((each) => !asks.includes(each) && !results.includes(each))
  const firsts = long.filter(({ messages, token }) => token === undefined && messages.length === 1)
  const compacted = long.filter(({ messages }) => messages.length === 3)
  expect(firsts.length).toBeGreaterThan(0)
  expect(compacted).toHaveLength(firsts.length)
  // Each task has its own prefix of twelve words, which a compacted conversation keeps before its thirty.
  const prefixes = firsts.map(({ messages }) => messages[0]!.content!.slice(0, -' Go on.'.length))
  expect(new Set(prefixes).size).toBe(firsts.length)
  for (const { messages } of compacted) {
    const [before, yes, next] = messages.map(({ content }) => content)
    expect([words(before!), yes, next]).toEqual([12 + 30, 'Yes.', 'Go on.'])
    expect(prefixes.some((prefix) => before!.startsWith(`${prefix} `))).toBe(true)
  }
})

test('the first tasks start in their middle, with an invented history, and are no samples', {
  tags: 'whole',
}, async () => {
  const lengths: number[] = []
  const target = await startTarget((_, response, body) => {
    lengths.push(JSON.parse(body).messages.length)
    answerChat(response)
  })
  const scenario = parseScenario(`
name: agents
question: Is the load steady at once?
model: svc-k2
threads: 1
steps: { say: { endpoint: chat, prompt: Go on., max_tokens: 9 } }
tasks: { ten: { turns: [{ name: say, step: say, repeat: 10, delay: 1ms }] } }
phases:
  - { name: users, load: concurrency, users: 5, max_requests: 7, tasks: [ten], start: middle }
  - { name: rate, load: constant, rate: 100/s, max_requests: 6, tasks: [ten], start: { middle: 4 } }
  - { name: little, load: constant, rate: 500/s, max_requests: 30, tasks: [ten], start: middle }
thresholds: [tasks == 29, 'users/tasks == 2']
`)
  await withStorePath(async (dbPath) => {
    const options = { dbPath, baseUrl: target.baseUrl, keys: { default: key }, seed: 3 }
    const { runId, thresholds } = await run(scenario, options)
    const begun = await query<{
      phase: string
      n: number
      begun: number
      requests: number
      ends: boolean
    }>(
      dbPath,
      `SELECT phase, count(*)::INTEGER AS n, count(*) FILTER (skipped > 0)::INTEGER AS begun,
         sum(requests)::INTEGER AS requests, bool_and(skipped + requests = 10) AS ends
       FROM tasks GROUP BY ALL ORDER BY phase DESC`,
    )
    expect(begun.map(({ phase, n, ends }) => [phase, n, ends])).toEqual([
      ['users', 7, true],
      ['rate', 6, true],
      ['little', 30, true],
    ])
    const whole = begun.map(({ n, begun: not }) => n - not)
    // 500 tasks a second, of ten delays of 1 ms: five are in progress.
    expect(begun.map(({ begun: some }) => some <= 5 && some >= 3)).toEqual([true, true, true])
    const store = await openStore(dbPath)
    const { tasks } = await summarise(store, { runId })
    store.close()
    const all = whole.reduce((sum, n) => sum + n, 0)
    expect(tasks.map(({ counts, requestsEach }) => [counts.tasks, requestsEach])).toEqual([
      [all, 10],
    ])
    expect(thresholds.map(({ value }) => value)).toEqual([all, whole[0]])
    // A task that starts at its k-th request sends the k - 1 before it and their answers.
    const firsts = await query<{ turn: number }>(
      dbPath,
      'SELECT min(turn)::INTEGER AS turn FROM attempts WHERE turn > 0 AND session IN (SELECT session FROM tasks WHERE skipped > 0) GROUP BY session ORDER BY turn',
    )
    for (const { turn } of firsts) expect(lengths).toContain(2 * turn + 1)
  })
  target.close()
})

test('calls of tools and their results are written as each format wants them', () => {
  const calls = [{ id: 'a', name: 'look_up', arguments: '{"query":1}' }]
  expect(callMessages('messages', 'Hm.', calls)).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Hm.' },
        { type: 'tool_use', id: 'a', name: 'look_up', input: { query: 1 } },
      ],
    },
  ])
  expect(resultMessages('messages', calls, 'It is.')).toEqual([
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'It is.' }] },
  ])
  expect(callMessages('responses', null, calls)).toEqual([
    { type: 'function_call', call_id: 'a', name: 'look_up', arguments: '{"query":1}' },
  ])
  expect(resultMessages('responses', calls, 'It is.')).toEqual([
    { type: 'function_call_output', call_id: 'a', output: 'It is.' },
  ])
  const schema = (offered: object) => JSON.stringify(offered)
  expect(schema(offeredTool('messages'))).toContain('"input_schema":{"type":"object"')
  expect(schema(offeredTool('responses'))).toContain('"type":"function","name":"look_up"')
  // What a model wrote in place of JSON is not an object of arguments.
  expect(callMessages('messages', null, [{ id: null, name: 'x', arguments: '[1]' }])).toEqual([
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'x', input: {} }] },
  ])
})
