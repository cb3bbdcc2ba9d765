import { expect, test } from 'vitest'
import { parseTrace } from '../../src/schedule/trace.ts'

const silent = { hashIds: [], endpoint: null, stream: null, model: null }

test('a Mooncake trace is read in milliseconds, in order of time', () => {
  const text = [
    '{"timestamp": 3000, "input_length": 20, "output_length": 2, "hash_ids": [1]}',
    '{"timestamp": 1000, "input_length": 10, "output_length": 1, "hash_ids": [1]}',
  ].join('\n')
  expect(parseTrace(text, 'mooncake', 't')).toEqual([
    { atUs: 0, inputTokens: 10, outputTokens: 1, ...silent, hashIds: [1] },
    { atUs: 2_000_000, inputTokens: 20, outputTokens: 2, ...silent, hashIds: [1] },
  ])
})

test('an Azure trace is read as CSV and as JSON Lines, to the microsecond', () => {
  const csv =
    'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109\r\n'
  const lines =
    '{"TIMESTAMP":"2023-11-16 18:15:46.6805900","ContextTokens":374,"GeneratedTokens":44}\n{"TIMESTAMP":"2023-11-16 18:15:50.9951690","ContextTokens":396,"GeneratedTokens":109}'
  const expected = [
    { atUs: 0, inputTokens: 374, outputTokens: 44, ...silent },
    { atUs: 4_314_579, inputTokens: 396, outputTokens: 109, ...silent },
  ]
  expect(parseTrace(csv, 'azure', 't')).toEqual(expected)
  expect(parseTrace(lines, 'azure', 't')).toEqual(expected)
  // Some tools write UTF-8 with a byte order mark.
  expect(parseTrace(`\uFEFF${csv}`, 'azure', 't')).toEqual(expected)
  expect(parseTrace(`\uFEFF${lines}`, 'azure', 't')).toEqual(expected)
})

test('our own export gives first attempts of generations, with their request fields', () => {
  const row = { retry: 0, endpoint: 'chat', streamed: 1, model: 'm', outcome: 'ok' }
  const text = [
    { ...row, intended_us: 500, prompt_tokens: 5, completion_tokens: 6 },
    { ...row, intended_us: 600, retry: 1, prompt_tokens: 5, completion_tokens: 6 },
    { ...row, intended_us: 700, endpoint: 'models' },
    { ...row, intended_us: 900, endpoint: 'messages', prompt_tokens: null, content_events: 9 },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
  expect(parseTrace(text, 'assay', 't')).toEqual([
    {
      atUs: 0,
      inputTokens: 5,
      outputTokens: 6,
      hashIds: [],
      endpoint: 'chat',
      stream: true,
      model: 'm',
    },
    {
      atUs: 400,
      inputTokens: 1,
      outputTokens: 9,
      hashIds: [],
      endpoint: 'messages',
      stream: true,
      model: 'm',
    },
  ])
})

test('a line that is not a request is refused with its number and the expected form', () => {
  expect(() => parseTrace('{"timestamp": 1}\n', 'mooncake', 'a.jsonl')).toThrow(
    'a.jsonl, line 1: expected timestamp (milliseconds), input_length, output_length',
  )
  expect(() => parseTrace('\n{oops', 'assay', 'a.jsonl')).toThrow(
    'a.jsonl, line 2: expected a JSON',
  )
  expect(() => parseTrace('', 'assay', 'a.jsonl')).toThrow('has no requests')
})

test('blocks of a Mooncake trace must be whole numbers', () => {
  const line = (ids: string) => `{"timestamp":0,"input_length":1,"output_length":1${ids}}`
  expect(parseTrace(line(''), 'mooncake', 't')[0]!.hashIds).toEqual([])
  expect(parseTrace(line(',"hash_ids":[]'), 'mooncake', 't')[0]!.hashIds).toEqual([])
  for (const ids of ['"a"', '["a"]', '[1.5]', '7', '[-1]']) {
    expect(() => parseTrace(line(`,"hash_ids":${ids}`), 'mooncake', 't')).toThrow(
      't, line 1: expected timestamp (milliseconds), input_length, output_length and, optionally, whole-number hash_ids; got',
    )
  }
})
