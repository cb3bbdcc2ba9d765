import { ok } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lacks } from '../../../src/attempt/outcome.ts'
import { judgeAnswer, type ReadyExpectation } from '../../../src/run/expect/judge.ts'
import { readyExpectations } from '../../../src/run/expect/ready.ts'
import type { AnswerToCheck } from '../../../src/scenario/define.ts'
import { parseScenario } from '../../../src/scenario/parse.ts'

const answer = (change: Partial<AnswerToCheck>): AnswerToCheck => ({
  ...{ text: '', tools: [], completionTokens: null },
  ...change,
})

async function expected(yaml: string): Promise<readonly ReadyExpectation[]> {
  const scenario = parseScenario(`
name: a
question: Is it right?
model: m
steps: { ask: { endpoint: chat, expect: ${yaml} } }
phases: [{ name: a, load: constant, rate: 1/s, duration: 1s }]
`)
  return (await readyExpectations(scenario))[0]!
}

const oslo = [{ name: 'weather', arguments: '{"city":"Oslo"}' }]
const schema = '{ type: object, required: [city], properties: { city: { type: string } } }'

test.each([
  ["{ contains: '42' }", { text: 'It is 42.' }, 'correct'],
  ["{ contains: ['4', '2', x] }", { text: '42' }, 'contains'],
  ["{ matches: '^\\d+$' }", { text: '42' }, 'correct'],
  ["{ matches: '^\\d+$' }", { text: '42.' }, 'matches'],
  ['{ exact: Paris }', { text: 'Paris' }, 'correct'],
  ['{ exact: Paris }', { text: 'Paris.' }, 'exact'],
  ['{ least_tokens: 20 }', { completionTokens: 20 }, 'correct'],
  ['{ least_tokens: 20 }', { completionTokens: 19 }, 'tokens'],
  ['{ least_tokens: 20 }', { completionTokens: null }, 'unchecked'],
  ['{ json: true }', { text: ' [1]' }, 'correct'],
  ['{ json: true }', { text: '```json\n[1]\n```' }, 'json'],
  [`{ json: ${schema} }`, { text: '{"city":"Oslo"}' }, 'correct'],
  [`{ json: ${schema} }`, { text: '{"city":1}' }, 'json'],
  ['{ tool: weather }', { tools: oslo }, 'correct'],
  ['{ tool: time }', { tools: oslo }, 'tool'],
  [`{ tool: { name: weather, arguments: ${schema} } }`, { tools: oslo }, 'correct'],
  [
    `{ tool: { name: weather, arguments: ${schema} } }`,
    { tools: [{ name: 'weather', arguments: '{"city":' }] },
    'tool',
  ],
  ["{ contains: b, exact: 'a' }", { text: 'a' }, 'contains'],
  ['{ least_tokens: 20, contains: b }', { text: 'a', completionTokens: null }, 'contains'],
  ['{ least_tokens: 20, json: true }', { text: 'a', completionTokens: null }, 'json'],
  ['{ least_tokens: 20, tool: time }', { text: 'a', completionTokens: null }, 'tool'],
] as const)('%s of %j is %s', async (yaml, change, verdict) => {
  expect(judgeAnswer(answer(change), await expected(yaml)).answer).toBe(verdict)
})

test('an answer with too few tokens says how many it needs', async () => {
  const few = await expected('{ least_tokens: 10 }')
  expect(judgeAnswer(answer({ completionTokens: 3 }), few)).toEqual({
    answer: 'tokens',
    why: 'has 3 tokens, not 10 or more',
  })
})

test.each([
  [() => true, { answer: 'correct' }],
  [() => false, { answer: 'check', why: 'the function of check says no' }],
  [() => 'too short', { answer: 'check', why: 'too short' }],
  [() => ok(false, 'not polite'), { answer: 'check', why: 'not polite' }],
  [
    () => JSON.parse('{'),
    { answer: 'unchecked', why: expect.stringContaining('the function of check threw') },
  ],
  [
    () => {
      throw null
    },
    { answer: 'unchecked', why: 'the function of check threw: null' },
  ],
  [
    () => {
      throw Object.create(null)
    },
    { answer: 'unchecked', why: 'the function of check threw: object' },
  ],
  [() => '', { answer: 'unchecked', why: expect.stringContaining('returned an empty text, not') }],
  [() => null, { answer: 'unchecked', why: expect.stringContaining('returned null') }],
  [async () => true, { answer: 'unchecked', why: expect.stringContaining('returned a promise') }],
])('a function of check decides, and its own failure decides nothing: %s', (judge, verdict) => {
  const expectations = [{ kind: 'check', judge: judge as () => boolean }] as const
  expect(judgeAnswer(answer({}), expectations)).toEqual(verdict)
})

test.each([
  [async () => Promise.reject(new Error('boom'))],
  // biome-ignore lint/suspicious/noThenProperty: a promise of another library
  [() => ({ then: (_: unknown, no: (why: Error) => void) => no(new Error('boom')) })],
])('a promise of a check that is rejected later ends nothing: %s', async (judge) => {
  const rejected = vi.fn()
  process.on('unhandledRejection', rejected)
  onTestFinished(() => void process.off('unhandledRejection', rejected))
  const expectations = [{ kind: 'check', judge: judge as unknown as () => boolean }] as const
  expect(judgeAnswer(answer({}), expectations)).toEqual({
    answer: 'unchecked',
    why: 'the function of check returned a promise, not true, false or why it is wrong',
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(rejected).not.toHaveBeenCalled()
})

test('a check that is async is refused before anything is sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-async-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'async.mjs')
  writeFileSync(path, 'export default async () => true')
  await expect(expected(`{ check: ${path} }`)).rejects.toThrow(
    'What step ask expects cannot be checked: its function is async. Return true, false or why it is wrong, no promise.',
  )
})

test('a schema of an old draft is read as that draft', async () => {
  const items = '{ type: array, items: [{ type: number }], additionalItems: false'
  const old = await expected(
    `{ json: ${items}, $schema: 'http://json-schema.org/draft-07/schema#' } }`,
  )
  expect(judgeAnswer(answer({ text: '[1]' }), old).answer).toBe('correct')
  expect(judgeAnswer(answer({ text: '[1, 2]' }), old).answer).toBe('json')
})

test('a schema that is none, and a file that is missing, are errors that name the step', async () => {
  await expect(expected('{ json: { type: nothing } }')).rejects.toThrow(
    'What step ask expects cannot be checked: no JSON Schema',
  )
  await expect(expected('{ json: missing.json }')).rejects.toThrow('missing.json cannot be read')
  await expect(expected('{ check: ./missing.ts }')).rejects.toThrow('missing.ts cannot be loaded')
})

test('every expectation has a name that a wrong answer carries', () => {
  expect([...lacks].sort()).toEqual(
    ['check', 'contains', 'exact', 'json', 'matches', 'tokens', 'tool'].sort(),
  )
})
