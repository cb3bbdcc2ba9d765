import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** A promise that begins with "if" passes only where its condition was met; what no request came near is named. */

const verdictOf = async (rule: string, rows: readonly AttemptRow[], body?: object) => {
  const path = rows[0]?.endpoint === 'messages' ? '/v1/messages' : '/v1/chat/completions'
  const templates =
    body === undefined
      ? []
      : [
          {
            ...{ runId: 'a', template: 0, step: 's', method: 'POST', path, headers: '{}' },
            ...{ body: JSON.stringify(body), maxTokens: null, n: null, promptHash: null },
          },
        ]
  return await verdictOver(
    rule,
    rows.map((row) => ({ ...row, template: body === undefined ? null : 0 })),
    { templates },
  )
}
const said = async (...of: Parameters<typeof verdictOf>) => {
  const verdict = await verdictOf(...of)
  return verdict.verdict === 'pass' ? (verdict.note ?? 'pass') : verdict.verdict
}

const stream = { streamed: 1, flags: flags.sseType, firstContentUs: 50_000 } as const

describe('SSE-07', () => {
  test('is not observed over streams that all succeeded', async () => {
    expect(await said('SSE-07', [attempt(0, stream), attempt(1, stream)])).toBe('not-observed')
  })

  test('passes on a stream that was refused, and fails on an error event before the first token', {
    tags: 'whole',
  }, async () => {
    const refused = attempt(1, { streamed: 1, outcome: 'http_error', status: 400 })
    expect(await said('SSE-07', [attempt(0, stream), refused])).toBe('pass')
    const event = attempt(1, {
      ...{ streamed: 1, outcome: 'broken', reason: 'error-in-stream', firstContentUs: null },
      flags: flags.sseType | flags.errorInStream,
    })
    expect(await said('SSE-07', [attempt(0, stream), event])).toBe('fail')
  })
})

describe('CHAT-13', () => {
  const hello = { model: 'svc-k2', messages: [{ role: 'user', content: 'Count.' }] }

  test('says that no answer reached the default, where all are short', async () => {
    expect(await said('CHAT-13', [attempt(0, { choices: 1 })], hello)).toBe(
      'not tested: max_tokens left out, and an answer that reaches the default',
    )
  })

  test('passes whole on an answer that ends at the default', async () => {
    const long = attempt(0, { choices: 1, completionTokens: 1024, finishReason: 'length' })
    expect(await said('CHAT-13', [long], hello)).toBe('pass')
    expect(await said('CHAT-13', [{ ...long, completionTokens: 2048 }], hello)).toBe('fail')
  })
})

describe('CHAT-06', () => {
  const asked = { model: 'svc-k2', messages: [], max_tokens: 400 }

  test('is not observed where every answer is far below its limit', async () => {
    expect(await said('CHAT-06', [attempt(0, { finishReason: 'stop' })], asked)).toBe(
      'not-observed',
    )
  })

  test('passes on an answer that reached its limit, and fails on one beyond it', async () => {
    const full = attempt(0, { finishReason: 'length', completionTokens: 400, totalTokens: 410 })
    expect(await said('CHAT-06', [full], asked)).toBe('pass')
    expect(await said('CHAT-06', [{ ...full, completionTokens: 401 }], asked)).toBe('fail')
  })
})

describe('rules on invalid requests', () => {
  const valid = { model: 'svc-k2', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }

  test.each([
    ['MSG-03', 'messages', { messages: valid.messages, model: 'svc-k2' }],
    ['MSG-05', 'messages', { ...valid, temperature: 1.01 }],
    ['CHAT-10', 'chat', { model: 'svc-k2' }],
    ['CHAT-12', 'chat', { ...valid, temperature: 2.01 }],
  ] as const)('%s needs one that it forbids', async (rule, endpoint, wrong) => {
    const fine = { ...valid, temperature: 1 }
    expect(await said(rule, [attempt(0, { endpoint })], fine)).toBe('not-observed')
    const [ok, refused] = [
      attempt(0, { endpoint, template: 0 }),
      attempt(1, { endpoint, template: 1, outcome: 'http_error', status: 400 }),
    ]
    const templates = [fine, wrong].map((body, template) => ({
      ...{ runId: 'a', template, step: 's', method: 'POST', headers: '{}' },
      path: endpoint === 'chat' ? '/v1/chat/completions' : '/v1/messages',
      ...{ body: JSON.stringify(body), maxTokens: null, n: null, promptHash: null },
    }))
    expect((await verdictOver(rule, [ok, refused], { templates })).verdict).toBe('pass')
  })
})

describe('a pass names what no request came near', () => {
  test.each([
    ['LIM-02', {}, 'not tested: an answer near the limit'],
    ['LIM-03', {}, 'not tested: an answer near the limit'],
    ['LIM-04', { doneUs: 12e6, closedUs: 12e6 }, 'not tested: a response near its deadline'],
    ['TRN-02', { flags: flags.jsonType, bytesIn: 100 }, 'not tested: failures'],
  ] as const)('%s', async (rule, change, note) => {
    expect(await said(rule, [attempt(0, change)])).toBe(note)
  })

  test('LIM-02 with an answer as long as the limit', async () => {
    const long = attempt(0, { completionTokens: 8_192, finishReason: 'length' })
    expect(await said('LIM-02', [attempt(1), long])).toBe('pass')
  })

  test('TRN-05 names the paths that nothing asked', async () => {
    expect(await said('TRN-05', [attempt(0)], {})).toContain('messages')
  })
})
