import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { promptPools } from '../../src/run/plan/prompts.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

/** The pool of a step whose prompt file has this text. */
function poolOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-prompts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'prompts'), text)
  const yaml = `{ name: a, question: b, model: svc-k2, steps: { chat: { endpoint: chat, prompt: { file: prompts } } },
    phases: [{ name: steady, load: constant, rate: 1/s, duration: 1s }] }`
  return promptPools(parseScenario(yaml, join(folder, 'a.yaml'), defaultContract), 1)[0]
}

test('a ShareGPT file gives the first question of each conversation that has one', () => {
  const turns = (...list: string[][]) => ({
    id: 'x',
    conversations: list.map(([from, value]) => ({ from, value })),
  })
  const file = [
    turns(['human', 'first?'], ['gpt', 'yes'], ['human', 'more?']),
    turns(['gpt', 'unasked']),
    turns(['system', 'be brief'], ['user', 'second?']),
  ]
  expect(poolOf(JSON.stringify(file))).toEqual(['first?', 'second?'])
})

test('lines give a text, a prompt, or messages with images and tools, without the last answer', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const messages = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: [{ type: 'text', text: 'c' }, image] },
  ]
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const answer = { role: 'assistant', content: 'd' }
  const whole = { id: 7, messages: [...messages, answer], tools, tool_choice: 'auto' }
  const lines = ['a', JSON.stringify({ prompt: 'b' }), JSON.stringify(whole)]
  expect(poolOf(lines.join('\n'))).toEqual([
    ...['a', 'b'],
    { messages, fields: { tools, tool_choice: 'auto' } },
  ])
})

test('a JSON line without a prompt is refused with its line number', () => {
  expect(() => poolOf('a\n{"question":"b"}')).toThrow(/prompts, line 2: expected a prompt/)
})

test('empty questions of a conversation are left out, and a list that is cut off is no list of prompts', () => {
  const said = [
    { from: 'system', value: 'Be brief.' },
    { from: 'human', value: ' ' },
    { from: 'gpt', value: '' },
    { from: 'human', value: 'so?' },
  ]
  expect(poolOf(JSON.stringify([{ conversations: said }, { conversations: [] }]))).toEqual(['so?'])
  const whole = JSON.stringify([{ prompt: 'a' }], null, 1)
  expect(() => poolOf(whole.slice(0, -2))).toThrow(/begins as a JSON list, and is none/)
  expect(() => poolOf('[{"conversations": 3}]')).toThrow(/expected a list of objects/)
  expect(poolOf('[INST] a [/INST]\n[1] b')).toEqual(['[INST] a [/INST]', '[1] b'])
})
