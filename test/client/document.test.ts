import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Span } from '../../src/client/bytes/span.ts'
import { DocumentReader } from '../../src/client/document/document.ts'
import { usagePaths } from '../../src/client/document/usage-counts.ts'

const reader = new DocumentReader()

/** Reads a document from the middle of a larger buffer, as in a read. */
function read(text: string | Buffer): boolean {
  const bytes = Buffer.from(text)
  const shared = Buffer.concat([Buffer.from('}"x'), bytes, Buffer.from('"}]9')])
  return reader.read(shared, 3, 3 + bytes.length)
}

/** A count of the last document, as it is stated. */
const countOf = (path: string, from = reader) => {
  const index = usagePaths.indexOf(path)
  return from.counted.subarray(0, from.countedEnd).includes(index)
    ? from.counts[index]!
    : Number.NaN
}

const textOf = (span: Span) =>
  span.start === -1 ? null : reader.source.toString('utf8', span.start, span.end)

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('the reader accepts what JSON.parse accepts', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      expect(read(JSON.stringify(JSON.parse(text), null, indent))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

const token = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"a"', '"choices"', '"\\u00e9"', '"\\x"', '"', '\\', ' ', '\n'],
  ...['0', '01', '-', '-1', '1.', '1.5', '1e5', '1e', '.5', 'true', 'tru', 'null', '"\u0001"', 'é'],
  ...['"index"', '"usage"', '"message"', '"delta"', '"content"', '"error"', '"tool_calls"'],
)

test('the reader refuses exactly what JSON.parse refuses', { tags: 'whole' }, () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
      const text = tokens.join('')
      expect([text, read(text)]).toEqual([text, parses(text)])
    }),
    { numRuns: 5000 },
  )
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '}', ',', '\\', '\n'),
      (json, at, put) => {
        const cut = at % (json.length + 1)
        const text = json.slice(0, cut) + put + json.slice(cut + 1)
        expect([text, read(text)]).toEqual([text, parses(text)])
      },
    ),
    { numRuns: 2000 },
  )
})

test('bytes that are not UTF-8 are refused and reported', () => {
  expect(read(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xe9]), Buffer.from('"}')]))).toBe(
    false,
  )
  expect(reader.badUtf8).toBe(true)
  expect(read('{"a":"é🙂"}')).toBe(true)
  expect(reader.badUtf8).toBe(false)
})

test('a unicode escape takes only hex digits', () => {
  for (let byte = 0; byte < 256; byte++) {
    const digits = Buffer.from([48, 48, 52, byte])
    const text = Buffer.concat([Buffer.from('["\\u'), digits, Buffer.from('"]')])
    expect([byte, read(text)]).toEqual([byte, parses(text.toString('latin1'))])
  }
})

test('a document nested too deeply is reported as too deep, not as malformed', () => {
  expect([read(`${'['.repeat(256)}${']'.repeat(256)}`), reader.tooDeep]).toEqual([true, false])
  expect([read(`${'['.repeat(257)}${']'.repeat(257)}`), reader.tooDeep]).toEqual([false, true])
  expect([read('['.repeat(100_000)), reader.tooDeep]).toEqual([false, true])
  expect([read('[1'), reader.tooDeep]).toEqual([false, false])
})

test('the reader finds id, model, finish reason and text of a chat chunk', () => {
  expect(
    read(
      JSON.stringify({
        id: 'c-1',
        object: 'chat.completion.chunk',
        model: 'svc-k2',
        choices: [{ index: 2, delta: { content: 'x' }, finish_reason: null }],
        usage: null,
      }),
    ),
  ).toBe(true)
  expect(textOf(reader.id)).toBe('c-1')
  expect(textOf(reader.model)).toBe('svc-k2')
  expect(textOf(reader.finish)).toBe(null)
  expect([reader.choices, reader.maxIndex, reader.hasText]).toEqual([1, 2, true])
  expect(reader.countedEnd).toBe(0)
})

test.each([
  ['content', { content: 'x' }, true, false],
  ['empty content', { role: 'assistant', content: '' }, false, false],
  ['null content', { content: null }, false, false],
  ['reasoning_content', { reasoning_content: 'x' }, true, true],
  ['reasoning', { reasoning: 'x' }, true, true],
  ['an empty reasoning', { reasoning: '' }, false, false],
  ['a tool call', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }, true, false],
  ['no tool calls', { tool_calls: [] }, false, false],
  ['content parts', { content: [{ type: 'text', text: 'x' }] }, true, false],
  ['a refusal', { refusal: 'x' }, true, false],
])('a delta with %s', (_name, fields, hasText, hasReasoning) => {
  read(JSON.stringify({ choices: [{ index: 0, delta: fields }] }))
  expect([reader.hasText, reader.hasReasoning]).toEqual([hasText, hasReasoning])
})

test.each([
  [
    'at the end of a chat stream',
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
    [3, 4, 7],
  ],
  [
    'inside a choice',
    { choices: [{ index: 0, usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }] },
    [3, 4, 7],
  ],
  [
    'in a message',
    { type: 'message', usage: { input_tokens: 5, output_tokens: 6 } },
    [5, 6, Number.NaN],
  ],
  [
    'in message_start',
    { type: 'message_start', message: { usage: { input_tokens: 5 } } },
    [5, Number.NaN, Number.NaN],
  ],
  [
    'in message_delta',
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    [Number.NaN, 9, Number.NaN],
  ],
  [
    'that is not a number',
    { usage: { prompt_tokens: '3', completion_tokens: null, total_tokens: {} } },
    [Number.NaN, Number.NaN, Number.NaN],
  ],
])('usage %s', (_name, document, usage) => {
  expect(read(JSON.stringify(document))).toBe(true)
  const counts = [
    countOf('prompt_tokens') || countOf('input_tokens'),
    countOf('completion_tokens') || countOf('output_tokens'),
    countOf('total_tokens'),
  ]
  expect(counts).toEqual(usage)
})

test('the reader finds type, text and reason in events of a messages stream', () => {
  read('{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}')
  expect([textOf(reader.type), reader.hasText, reader.maxIndex]).toEqual([
    'content_block_delta',
    true,
    1,
  ])
  read('{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}')
  expect([reader.hasText, reader.hasReasoning]).toEqual([true, true])
  read('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}')
  expect(reader.hasText).toBe(false)
  read('{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}')
  expect(textOf(reader.finish)).toBe('end_turn')
  read(
    '{"type":"message","id":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}',
  )
  expect([reader.blocks, reader.hasText]).toEqual([2, true])
})

test('both error shapes are read', () => {
  read('{"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}}')
  expect([reader.hasError, textOf(reader.errorType), textOf(reader.errorCode)]).toEqual([
    true,
    'rate_limit_error',
    'rate_limit_exceeded',
  ])
  read('{"type":"error","error":{"type":"api_error","message":"m"}}')
  expect([textOf(reader.type), textOf(reader.errorType), textOf(reader.errorCode)]).toEqual([
    'error',
    'api_error',
    null,
  ])
  read('{"error":null,"choices":[]}')
  expect([reader.hasError, reader.choices]).toEqual([false, 0])
})

test('only the finish reason of the first choice counts', () => {
  read('{"choices":[{"index":1,"finish_reason":"stop"},{"index":0,"finish_reason":"length"}]}')
  expect(textOf(reader.finish)).toBe('length')
})

test('a count that is repeated is one count, the last, and pushes out no other', () => {
  const many = Array.from({ length: 400 }, (_, nth) => `"prompt_tokens":${nth}`).join(',')
  read(`{"usage":{${many},"completion_tokens":7}}`)
  expect(reader.countedEnd).toBe(2)
  expect([countOf('prompt_tokens'), countOf('completion_tokens')]).toEqual([399, 7])
})

/** Everything that a reader found in its last document. */
const saysOf = (from: DocumentReader, wellFormed: boolean) => ({
  wellFormed,
  ...Object.fromEntries(
    (
      [
        'id',
        'model',
        'type',
        'finish',
        'errorCode',
        'errorType',
        'errorMessage',
        'otherFinish',
      ] as const
    ).map((name) => {
      const span = from[name]
      const text = span.start === -1 ? null : from.source.toString('latin1', span.start, span.end)
      return [name, [text, text !== null && span.escaped]]
    }),
  ),
  isObject: from.isObject,
  badUtf8: from.badUtf8,
  choices: from.choices,
  blocks: from.blocks,
  maxIndex: from.maxIndex,
  hasText: from.hasText,
  hasReasoning: from.hasReasoning,
  bytes: [from.textBytes, from.thoughtBytes],
  textBits: from.textBits,
  thoughts: [from.hasThought, from.hasSummary],
  counts: [...from.counted.subarray(0, from.countedEnd)].map((path) => [path, from.counts[path]]),
  semantic: from.semantic,
  passes: from.passes,
  ends: [from.choiceBits, from.endedBits, from.otherFailed],
  isError: [from.isError, from.isComplaint],
  unknown:
    from.unknown.start === -1
      ? null
      : from.source.toString('latin1', from.unknown.start, from.unknown.end),
  hasError: from.hasError,
  errorIsObject: from.errorIsObject,
})

const word = fc.constantFrom('', 'a', 'stop', 'é🙂', 'a "quoted" \n line', 'message_stop', '[DONE]')
const count = fc.constantFrom(0, 1, 17, -3, 1.5, 1e21)
const document = fc.oneof(
  fc
    .record({ id: word, model: word, index: count, text: word, finish: fc.option(word) })
    .map((of) => ({
      id: of.id,
      created: 1,
      model: of.model,
      choices: [{ index: of.index, delta: { content: of.text }, finish_reason: of.finish }],
    })),
  fc.record({ cached: count, read: count }).map((of) => ({
    usage: {
      prompt_tokens_details: { cached_tokens: of.cached },
      cache_read_input_tokens: of.read,
    },
  })),
  fc.record({ type: word, counts: fc.array(count, { maxLength: 3 }) }).map((of) => ({
    usage: {
      input_tokens: 1,
      iterations: of.counts.map((input_tokens) => ({ type: of.type, input_tokens })),
    },
  })),
  fc.record({ id: word, text: word, prompt: count, completion: count }).map((of) => ({
    id: of.id,
    choices: [{ index: 0, message: { content: of.text, reasoning: of.text } }],
    usage: { prompt_tokens: of.prompt, completion_tokens: of.completion, total_tokens: 1 },
  })),
  fc.record({ type: word, text: word, index: count }).map((of) => ({
    type: of.type,
    index: of.index,
    delta: { type: 'text_delta', text: of.text },
  })),
  fc.record({ id: word, piece: word }).map((of) => ({
    id: of.id,
    choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: of.piece } }] } }],
  })),
  fc.record({ id: word, a: word }).map(({ id, a }) => ({
    id,
    choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: { a } } }] } }],
  })),
  fc.record({ type: word, code: word }).map((of) => ({ error: { ...of, message: 'm' } })),
  fc.record({ code: fc.oneof(word, count), text: word }).map((of) => ({
    object: 'error',
    error: { code: of.code, message: of.text },
  })),
  fc.record({ text: word, other: word }).map((of) => ({
    choices: [
      { index: 0, delta: { musing: of.text, content: [{ type: 'thinking', text: of.other }] } },
    ],
  })),
  fc.record({ one: word, two: word }).map((of) => ({
    choices: [
      { finish_reason: of.one, index: 1 },
      { finish_reason: of.two, index: 0 },
    ],
  })),
  fc.record({ status: word, detail: word }).map((of) => ({ status: of.status, detail: of.detail })),
  fc.record({ read: count, written: count }).map((of) => ({
    usage: {
      usage_semantic: 'anthropic',
      cache_creation: { ephemeral_1h_input_tokens: of.written },
      prompt_tokens_details: { cached_tokens: of.read },
    },
  })),
)

test('a reader with known shapes finds the same as a fresh reader', { tags: 'whole' }, () => {
  const damage = fc.option(
    fc.record({ at: fc.nat(), byte: fc.constantFrom(34, 44, 48, 92, 123, 233) }),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(document, damage), { maxLength: 12 }), (documents) => {
      const learned = new DocumentReader()
      for (const [of, harm] of documents) {
        const bytes = Buffer.from(JSON.stringify(of))
        if (harm !== null) bytes[harm.at % bytes.length] = harm.byte
        const fresh = new DocumentReader()
        const expected = saysOf(fresh, fresh.read(bytes, 0, bytes.length))
        // At another place in a larger buffer, as in reads.
        const shared = Buffer.concat([Buffer.from('x"'), bytes, Buffer.from('1"}')])
        const found = saysOf(learned, learned.read(shared, 2, 2 + bytes.length))
        if (expected.wellFormed) expect(found).toEqual(expected)
        else expect(found.wellFormed).toBe(false)
      }
    }),
    { numRuns: 1000 },
  )
})

test('most documents of a stream are read by a known shape', () => {
  const learned = new DocumentReader()
  const times = 2000
  const documents = Array.from({ length: times }, (_, at) =>
    Buffer.from(
      JSON.stringify({ id: `c-${at}`, choices: [{ index: 0, delta: { content: `${at}` } }] }),
    ),
  )
  let walked = 0
  const walk = Object.getPrototypeOf(DocumentReader.prototype).document
  Object.defineProperty(learned, 'document', {
    value: function (this: DocumentReader, ...args: readonly unknown[]) {
      walked++
      return walk.apply(this, args)
    },
  })
  for (const bytes of documents) expect(learned.read(bytes, 0, bytes.length)).toBe(true)
  expect(walked).toBe(1)
})
