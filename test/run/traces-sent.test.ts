import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

const samples = join(import.meta.dirname, '../schedule/traces/samples')

interface Sample {
  readonly format: string
  readonly requests?: readonly {
    readonly due_ms: number
    readonly prompt_tokens: number
    readonly output_tokens: number
    readonly shared_prefix_tokens: number | null
  }[]
  readonly conversations?: readonly {
    readonly system: boolean
    readonly turns: readonly string[]
  }[]
}

const expected = Object.entries(
  JSON.parse(readFileSync(join(samples, 'expected.json'), 'utf8')) as Record<string, Sample>,
)

/** A service that writes down what comes. */
async function notebook(act: (baseUrl: string) => Promise<void>) {
  const received: {
    readonly messages: { role: string; content: string }[]
    readonly max_tokens: number
    readonly trace: unknown
  }[] = []
  const target = await startTarget((request, response, body) => {
    const asked = JSON.parse(body)
    received.push({ ...asked, trace: request.headers['x-trace'] })
    if (asked.stream !== true) return answerChat(response, `answer ${asked.messages.length}`)
    const choice = { index: 0, delta: { content: 'a' }, finish_reason: 'stop' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\ndata: [DONE]\n\n`)
  })
  try {
    await act(target.baseUrl)
  } finally {
    target.close()
  }
  return received
}

test('a service gets each sample of a trace as it is written: times, lengths, equal beginnings', {
  tags: 'whole',
}, async () => {
  const traces = expected.flatMap(([name, { requests }]) =>
    requests === undefined ? [] : [{ name, requests }],
  )
  expect(traces).toHaveLength(10)
  const stepOf = (name: string) => name.split('.')[0]!
  /** Each takes 200 ms. */
  const speedOf = (requests: (typeof traces)[0]['requests']) => requests.at(-1)!.due_ms / 200
  const scenario = parseScenario(`
name: traces
question: Does a service get what a trace says?
model: svc-k2
threads: 1
steps:
${traces.map(({ name }) => `  ${stepOf(name)}: { endpoint: chat, headers: { x-trace: ${name} } }`).join('\n')}
phases:
${traces.map(({ name, requests }) => `  - { name: ${stepOf(name)}, steps: [${stepOf(name)}], load: replay, file: ${join(samples, name)}, speed: ${speedOf(requests)} }`).join('\n')}
`)
  await withStorePath(async (dbPath) => {
    const received = await notebook(async (baseUrl) => {
      const { counts } = await run(scenario, { dbPath, baseUrl, keys: { default: key } })
      expect(counts.ok).toBe(counts.planned)
    })
    const rows = await query<{ phase: string; due: number }>(
      dbPath,
      `SELECT phase, (intended_us - min(intended_us) OVER (PARTITION BY phase))::DOUBLE AS due
       FROM attempts ORDER BY slot`,
    )
    // Requests that are due at the same time arrive in any order.
    const sorted = (pairs: readonly (readonly number[])[]) =>
      pairs.toSorted((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
    for (const { name, requests } of traces) {
      const own = rows.filter(({ phase }) => phase === stepOf(name))
      expect(own.map(({ due }) => due)).toEqual(
        requests.map(({ due_ms: ms }) => Math.floor((ms * 1000) / speedOf(requests))),
      )
      const sent = received
        .filter(({ trace }) => trace === name)
        .map(({ messages, ...rest }) => ({ ...rest, words: messages[0]!.content.split(' ') }))
      expect(sorted(sent.map(({ words, max_tokens: most }) => [words.length, most]))).toEqual(
        sorted(requests.map((each) => [each.prompt_tokens, Math.max(1, each.output_tokens)])),
      )
      for (const { prompt_tokens: tokens, shared_prefix_tokens: shared } of requests) {
        if (shared === null || shared === 0) continue
        const own = sent.find(({ words }) => words.length === tokens)!.words
        // The last block of the other prompt may be partial.
        const isShared = ({ words: other }: (typeof sent)[0]) =>
          other !== own && other.slice(0, shared).every((word, at) => word === own[at])
        expect(sent.some(isShared)).toBe(true)
      }
    }
  })
})

test.each(['sharegpt-a.json', 'sharegpt-b.json'])(
  'a service gets whole conversations of %s, with its own answers',
  async (name) => {
    const conversations = expected.find(([file]) => file === name)![1].conversations!
    const scenario = parseScenario(`
name: talks
question: Are conversations said whole?
model: svc-k2
threads: 1
steps:
  chat:
    endpoint: chat
    prompt: { file: ${join(samples, name)} }
    session: { turns: 20 }
phases: [{ name: steady, load: constant, rate: 100/s, max_requests: 24 }]
`)
    await withStorePath(async (dbPath) => {
      const received = await notebook(async (baseUrl) => {
        const { counts } = await run(scenario, { dbPath, baseUrl, keys: { default: key } })
        expect(counts.ok).toBe(counts.sent)
      })
      const questions = (messages: (typeof received)[0]['messages']) =>
        messages.filter(({ role }) => role === 'user').map(({ content }) => content)
      let said = 0
      for (const { turns, system } of conversations) {
        const own = received.filter(({ messages }) => questions(messages)[0] === turns[0])
        const whole = own.filter(({ messages }) => questions(messages).length === turns.length)
        expect(whole.length).toBeGreaterThan(0)
        expect(own.length).toBe(whole.length * turns.length)
        for (const { messages } of whole) {
          expect(questions(messages)).toEqual(turns)
          expect(messages[0]!.role).toBe(system ? 'system' : 'user')
          expect(messages.at(-2)?.content).toBe(
            turns.length === 1 ? messages.at(-2)?.content : `answer ${messages.length - 2}`,
          )
        }
        said += own.length
      }
      expect(said).toBe(received.length)
    })
  },
)
