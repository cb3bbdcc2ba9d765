import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ResponseMemory } from '../../src/client/bytes/memory.ts'
import { SseDecoder } from '../../src/client/stream/sse.ts'

/** Decodes a stream that arrives in these pieces. */
function decode(pieces: readonly Buffer[]): string[] {
  const events: string[] = []
  const decoder = new SseDecoder(
    { onEvent: (bytes, start, end) => events.push(bytes.toString('utf8', start, end)) },
    new ResponseMemory(),
  )
  // One buffer for all reads, as in a transport: anything needed longer must be copied.
  const shared = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)) + 2)
  for (const piece of pieces) {
    shared.fill(0x2a)
    piece.copy(shared, 1)
    expect(decoder.feed(shared, 1, 1 + piece.length)).toBe(null)
  }
  return events
}

const whole = (text: string) => decode([Buffer.from(text)])

function splitAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at]!, end))
}

test.each([
  ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['mixed endings', 'data: a\r\n\ndata: b\n\r\ndata: c\r\n\r', ['a', 'b', 'c']],
  ['no space after the colon', 'data:a\n\n', ['a']],
  ['only one space is taken off', 'data:  a\n\n', [' a']],
  ['comments', ': ping\n\n:\ndata: a\n: in the event\n\n', ['a']],
  ['several data lines', 'data: a\ndata: b\ndata\ndata: c\n\n', ['a\nb\n\nc']],
  ['other fields', 'event: delta\nid: 7\nretry: 10\ndata: a\n\n', ['a']],
  ['field names that only begin like data', 'dat: x\ndatab: x\ndata2: x\ndata: a\n\n', ['a']],
  ['an event without data', 'event: ping\n\ndata: a\n\n', ['a']],
  ['empty data', 'data\n\ndata:\n\ndata: \n\n', ['', '', '']],
  ['two empty data lines', 'data\ndata\n\n', ['\n']],
  ['a byte order mark at the start only', '\ufeffdata: a\n\n\ufeffdata: b\n\n', ['a']],
  [
    'a tab inside a long line',
    'data: longer than eight\tbytes a turn\n\n',
    ['longer than eight\tbytes a turn'],
  ],
  ['U+2028 inside JSON is not a line end', 'data: {"a":"x\u2028y"}\n\n', ['{"a":"x\u2028y"}']],
  ['an unfinished event', 'data: a\n\ndata: b\n', ['a']],
  ['blank lines between', '\n\n\ndata: a\n\n\n\n', ['a']],
])('the decoder reads %s', (_name, text, events) => {
  expect(whole(text)).toEqual(events)
  const bytes = Buffer.from(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(decode(splitAt(bytes, [cut]))).toEqual(events)
  }
  expect(decode(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(events)
})

/** The standard's algorithm, by the letter: the whole text at once, split into lines. */
function reference(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  lines.pop() // text after the last line end is not a line
  const events: string[] = []
  let data: string[] = []
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'))
      data = []
    } else if (line === 'data') data.push('')
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return events
}

const fragment = fc.constantFrom(
  'data: ',
  'data:',
  'data',
  'event: x',
  ':',
  'id',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  ' ',
  '{"a":1}',
  '[DONE]',
  'data: longer than the eight bytes of a turn\n\n',
  '\t',
  'é',
  '🙂',
  '\u2028',
)

test('any stream, cut anywhere, gives the events of the standard', () => {
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 40 }),
      fc.array(fc.nat(300), { maxLength: 12 }),
      (fragments, cuts) => {
        // A CR at the very end may be half of a CRLF; it ends the line either way.
        const bytes = Buffer.from(fragments.join(''))
        const pieces = splitAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        expect(decode(pieces)).toEqual(reference(bytes.toString()))
      },
    ),
    { numRuns: 2000 },
  )
})

test('an event over its size limit ends the decoding', () => {
  const decoder = new SseDecoder({ onEvent: () => {} }, new ResponseMemory(), 1000)
  const piece = Buffer.alloc(300, 0x61)
  expect(decoder.feed(Buffer.from('data: '), 0, 6)).toBe(null)
  const results = [1, 2, 3, 4].map(() => decoder.feed(piece, 0, piece.length))
  expect(results).toEqual([null, null, null, 'too-large'])
})

test('a reset decoder forgets an incomplete event', () => {
  const events: string[] = []
  const decoder = new SseDecoder(
    { onEvent: (bytes, start, end) => events.push(bytes.toString('utf8', start, end)) },
    new ResponseMemory(),
  )
  const feed = (text: string) => decoder.feed(Buffer.from(text), 0, Buffer.byteLength(text))
  feed('data: old\ndata: ol')
  decoder.reset()
  feed('data: new\n\n')
  expect(events).toEqual(['new'])
})

/** Feeds a piece repeatedly. @returns the result of the last feed */
function flood(decoder: SseDecoder, begin: string, piece: Buffer, times: number) {
  let said = decoder.feed(Buffer.from(begin), 0, Buffer.byteLength(begin))
  for (let time = 0; time < times && said === null; time++) {
    said = decoder.feed(piece, 0, piece.length)
  }
  return said
}

const piece = Buffer.alloc(64 * 1024, 0x61)

test.each([
  ['a comment', ': '],
  ['an id', 'id: '],
  ['an unknown field name', ''],
  ['a byte order mark and a comment', '\ufeff: '],
])('an endless line that is %s takes no memory, and later lines are read', (_what, begin) => {
  const memory = new ResponseMemory()
  const events: string[] = []
  const decoder = new SseDecoder(
    { onEvent: (bytes, start, end) => events.push(bytes.toString('utf8', start, end)) },
    memory,
  )
  expect(flood(decoder, begin, piece, 1000)).toBe(null)
  expect(memory.peakBytes).toBeLessThanOrEqual(piece.length)
  expect([decoder.feed(Buffer.from('\ndata: a\n\n'), 0, 10), events]).toEqual([null, ['a']])
})

test('streams that together hold too much are given up one by one and release their memory', () => {
  const memory = new ResponseMemory(2 ** 20)
  const decoders = [1, 2, 3].map(() => new SseDecoder({ onEvent: () => {} }, memory))
  expect(flood(decoders[0]!, 'data: ', piece, 8)).toBe(null)
  expect(flood(decoders[1]!, 'data: ', piece, 20)).toBe('no-memory')
  expect(memory.peakBytes).toBeLessThanOrEqual(2 ** 20)
  decoders[1]!.reset()
  expect(flood(decoders[2]!, 'data: ', piece, 4)).toBe(null)
  for (const decoder of decoders) decoder.reset()
  expect(memory.usedBytes).toBe(0)
})

test('an event that spans many memory pages is read unchanged', () => {
  const memory = new ResponseMemory()
  const events: string[] = []
  const decoder = new SseDecoder(
    { onEvent: (bytes, start, end) => events.push(bytes.toString('latin1', start, end)) },
    memory,
  )
  const text = Array.from({ length: 40_000 }, (_, at) => `${at}`).join(' ')
  const bytes = Buffer.from(`data: ${text}\ndata: ${text}\n\n`)
  for (let at = 0; at < bytes.length; at += 10_007) {
    expect(decoder.feed(bytes, at, Math.min(at + 10_007, bytes.length))).toBe(null)
  }
  expect(events).toEqual([`${text}\n${text}`])
  decoder.reset()
  expect(memory.usedBytes).toBe(0)
})

/** What a decoder tells of a text that is fed in these reads. */
function told(...reads: readonly string[]): readonly string[] {
  const events: string[] = []
  const note = (what: string) => (bytes: Buffer, start: number, end: number) =>
    events.push(what + bytes.toString('utf8', start, end))
  const decoder = new SseDecoder(
    { onEvent: note(''), onErrorEvent: note('error ') },
    new ResponseMemory(),
  )
  for (const read of reads) decoder.feed(Buffer.from(read), 0, Buffer.byteLength(read))
  decoder.end()
  return events
}

test('an event named as an error is one, also when its data comes in a later read', () => {
  const expected = ['a', 'error {"m":"x"}', 'b']
  const lines = ['data: a\n\n', 'event: error\n', 'data: {"m":"x"}\n\n', 'data: b\n\n']
  expect(told(lines.join(''))).toEqual(expected)
  expect(told(...lines)).toEqual(expected)
})

test.each([': keep-alive', ': ka', 'id: 12345678', 'id: 1', 'retry: 1000', '\ufeff'])(
  'a stream that ends within "%s" has its last whole event',
  (rest) => {
    expect(told(`data: a\n\ndata: b\n${rest}`)).toEqual(['a', 'b'])
    expect(told('data: a\n\ndata: b\n', rest)).toEqual(['a', 'b'])
  },
)

test('events are the same wherever the lines of a stream are cut into reads', () => {
  const line = fc.constantFrom('data: x', 'event: error', 'event: a', ': 123456789', '', '')
  const end = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r')
  fc.assert(
    fc.property(fc.array(fc.tuple(line, end, fc.boolean()), { maxLength: 12 }), (lines) => {
      const reads = ['']
      for (const [text, ending, cut] of lines) {
        reads.push(`${reads.pop()!}${text}${ending}`)
        if (cut) reads.push('')
      }
      expect(told(...reads)).toEqual(told(reads.join('')))
    }),
    { numRuns: 1000 },
  )
})
