import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ProfileAnswers } from '../../src/service/profile.ts'
import { serving } from '../service/serving.ts'
import { hasNodeClients, hasPythonClients, install, python } from './install.ts'

// The clients are heavy, so they are installed at night or by hand (see CONTRIBUTING.md).
beforeAll(() => {
  if (process.env.NIGHTLY) install()
}, 600_000)

interface Said {
  readonly name: string
  readonly value?: unknown
  readonly error?: string
}

/** Runs a script of calls against a service. Its values and errors by the names of the calls. */
async function callsOf(program: string, script: string, profile: ProfileAnswers) {
  const target = await serving({ profile })
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ASSAY_API_KEY: target.key(),
    BASE_URL: target.service.baseUrl,
  }
  const run = promisify(execFile)(program, [join(import.meta.dirname, script)], { env })
  const { stdout } = await run
  const said = [...stdout.matchAll(/^\{.*$/gm)].map(([line]) => JSON.parse(line) as Said)
  return Object.fromEntries(said.map(({ name, value, error }) => [name, error ?? value]))
}

/** What both formats answer in every client. */
const inBoth = (calls: Record<string, unknown>) =>
  Object.fromEntries(
    ['chat', 'messages'].flatMap((format) =>
      Object.entries(calls).map(([name, value]) => [`${format} ${name}`, value]),
    ),
  )

const openai = {
  models: ['svc-k2', 'svc-k2-0905', 'svc-k2-thinking'],
  chat: 'one two',
  stream: ['one two', 'stop', 2],
  'stream helper': 'one two',
  max_completion_tokens: 1,
  n: 2,
  stop: 'one ',
  parts: 'yes',
  tools: 'tool_calls',
  'tools streamed': ['city'],
  'tool result': ['stop', true],
  parse: ['age', 'name'],
  json_object: { text: 'one two' },
  logprobs: expect.stringMatching(/^BadRequestError: .*logprobs: not done/),
  responses: expect.stringMatching(/^NotFoundError: .*no such endpoint: POST \/v1\/responses/),
  'bad key': expect.stringMatching(/^AuthenticationError: Error code: 401/),
  'bad model': expect.stringMatching(/^BadRequestError: .*model: expected one of/),
}
const anthropic = {
  create: 'one two',
  stream: ['one two', 'end_turn', 2],
  'system blocks': 'end_turn',
  tools: ['tool_use', ['city']],
  'tools streamed': ['city'],
  'tool result': ['end_turn', ['text']],
  thinking: ['thinking', 'text'],
  models: openai.models,
  bearer: 'one two',
  count_tokens: expect.stringMatching(/^NotFoundError: .*no such endpoint/),
  'bad key': expect.stringMatching(/^AuthenticationError: Error code: 401/),
}
const noImages = expect.stringMatching(/^BadRequestError: .*this service reads no images/)

const pythonCalls: readonly [string, ProfileAnswers, Record<string, unknown>][] = [
  [
    'openai_client.py',
    {},
    {
      ...openai,
      image: noImages,
      developer: expect.stringMatching(/^BadRequestError: .*role: expected one of system/),
      model: expect.stringMatching(/^NotFoundError: .*no such endpoint/),
    },
  ],
  [
    'openai_client.py',
    { clients: 'wide' },
    {
      ...openai,
      image: 92,
      developer: 'one two',
      model: 'svc-k2',
    },
  ],
  ['anthropic_client.py', {}, { ...anthropic, image: noImages }],
  ['anthropic_client.py', { clients: 'wide' }, { ...anthropic, image: 'end_turn' }],
  [
    'langchain_client.py',
    {},
    inBoth({
      invoke: 'one two',
      stream: ['one two', 2],
      structured: ['age', 'name'],
      tools: ['add'],
      'tool result': ['add', 0, true],
    }),
  ],
  [
    'litellm_client.py',
    {},
    inBoth({
      completion: 'one two',
      stream: ['one two', 2],
      tools: 'tool_calls',
      'tool result': ['stop', true],
    }),
  ],
]

describe('clients for Python', () => {
  beforeEach((context) => {
    context.skip(!hasPythonClients(), 'they are not installed: npx node test/clients/install.ts')
  })

  test.each(pythonCalls)('%s works with the profile %j', async (script, profile, values) => {
    expect(await callsOf(python, script, profile)).toEqual(values)
  })
})

describe('clients for Node', () => {
  beforeEach((context) => {
    context.skip(!hasNodeClients(), 'they are not installed: npx node test/clients/install.ts')
  })

  test('the AI SDK gets text, streams, objects, and runs tools until there is an answer', async () => {
    const values = inBoth({
      text: { text: 'one two', finishReason: 'stop', input: true, output: 2 },
      stream: { text: 'one two', finishReason: 'stop' },
      object: { name: expect.any(String), age: 3 },
      agent: { steps: ['tool-calls', 'stop'], text: true },
      'tool stream': [['add', ['a', 'b']]],
    })
    expect(await callsOf(execPath, 'ai-sdk.js', {})).toEqual(values)
  })

  test('LangChain gets text, streams, objects, and calls of tools', async () => {
    const values = inBoth({
      invoke: { content: 'one two', total: true },
      stream: { text: 'one two', output: 2 },
      structured: ['name', 'age'],
      tools: [['add', ['a', 'b']]],
      'tool result': { called: 'add', calls: 0, text: true },
    })
    expect(await callsOf(execPath, 'langchain.js', {})).toEqual(values)
  })
})
