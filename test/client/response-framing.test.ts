import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeaderReader, valueEnd, valueStart } from '../../src/client/head/headers.ts'
import { type HeadFields, ResponseHead } from '../../src/client/head/response-head.ts'
import { ResponseFraming } from '../../src/client/wire/http1/response-framing.ts'
import { defaultContract } from '../../src/contract/default.ts'

const free = ['', '1', '12', 'a b\t', 'Thu']
/** Names with values that fit, and occasionally with one that does not. */
const lines: Readonly<Record<string, readonly string[]>> = {
  Server: free,
  Date: free,
  'X-A': free,
  'x-a': free,
  'Content-Length': ['1', '12', '007', '12', '3', ''],
  Connection: ['close', 'keep-alive', 'keep-alive', 'Keep-Alive', 'x'],
  'Transfer-Encoding': ['chunked', 'chunked', 'gzip'],
  'keep-alive': ['timeout=5', 'timeout=6', 'timeout=5'],
  'X-Credits-Remaining': ['9', '8', '7.0', 'none', ''],
  'x-ratelimit-remaining': ['1', ' 2 ', '0.5'],
}

const rarely = <T>(what: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what })

/** A few heads that differ in values, occasionally in a byte, and in position. */
const heads = fc
  .record({
    statuses: fc.array(fc.constantFrom('200 OK', '429 No', '304'), { minLength: 1, maxLength: 2 }),
    shown: fc.subarray(Object.keys(lines)),
    again: rarely(fc.constantFrom(...Object.keys(lines))),
  })
  .chain(({ statuses, shown, again }) => {
    const names = again === null ? shown : [...shown, again]
    const head = fc.record({
      status: fc.constantFrom(...statuses),
      values: fc.tuple(...names.map((name) => fc.constantFrom(...lines[name]!))),
      damage: rarely(fc.tuple(fc.nat(), fc.constantFrom('', '\r', '\n', ':', ' ', '\u0001', 'x'))),
      offset: fc.nat(20),
    })
    return fc
      .array(head, { minLength: 2, maxLength: 12 })
      .map((each) => each.map((one) => ({ text: textOf(names, one), offset: one.offset })))
  })

function textOf(
  names: readonly string[],
  head: {
    readonly status: string
    readonly values: readonly string[]
    readonly damage: readonly [place: number, put: string] | null
  },
): string {
  const shown = names.map((name, at) => `${name}: ${head.values[at]}\r\n`)
  const text = `HTTP/1.1 ${head.status}\r\n${shown.join('')}\r\n`
  if (head.damage === null) return text
  const at = head.damage[0] % text.length
  return text.slice(0, at) + head.damage[1] + text.slice(at + 1)
}

const names = ['x-a', 'date', 'content-length', 'connection']

function saidBy(head: ResponseHead, buffer: Buffer, framing: ResponseFraming): HeadFields {
  const said: HeadFields = {
    creditsRemaining: Number.NaN,
    rateLimit: Number.NaN,
    rateRemaining: Number.NaN,
    rateReset: Number.NaN,
    tokenLimit: Number.NaN,
    tokenRemaining: Number.NaN,
    tokenReset: Number.NaN,
    retryAfter: Number.NaN,
    dateS: Number.NaN,
    contentLength: Number.NaN,
    encoding: null,
    flags: 0,
  }
  head.read(buffer, framing, said)
  return said
}

/** The result for one head, as framing and as header values, with offsets from its start. */
function read(
  framing: ResponseFraming,
  headers: HeaderReader,
  head: ResponseHead,
  buffer: Buffer,
  text: string,
  offset: number,
) {
  buffer.fill('G')
  const end = offset + buffer.write(text, offset, 'latin1')
  const valueAt = (line: number) =>
    buffer.toString('latin1', valueStart(buffer, framing, line), valueEnd(buffer, framing, line))
  const result = framing.read(buffer, offset, end)
  if (result !== 'read') return { result }
  const said = saidBy(head, buffer, framing)
  // For a known head, the result without reading its other lines.
  const varying = framing.shape === 0 ? [] : framing.varying.map((line) => valueAt(line))
  headers.read(buffer, framing)
  expect(varying).toEqual(framing.shape === 0 ? [] : framing.varying.map((line) => valueAt(line)))
  const { status, count, keepAlive, keepAliveTimeoutS, body } = framing
  return {
    result,
    said,
    status,
    keepAlive,
    keepAliveTimeoutS,
    body,
    contentLength: body === 'length' ? framing.contentLength : 0,
    linesStart: framing.linesStart - offset,
    end: framing.end - offset,
    offsets: [...framing.offsets.subarray(0, count * 3)].map((place) => place - offset),
    values: [...headers.lines].map((line) => (line === -1 ? null : valueAt(line))),
    counts: [...headers.counts],
  }
}

test('a head that is read by a known shape gives the same result as in a fresh reader', {
  tags: 'whole',
}, () => {
  let met = 0
  fc.assert(
    fc.property(heads, (sequence) => {
      const buffer = Buffer.alloc(2048)
      const knowing = new ResponseFraming(buffer)
      const [headers, head] = [
        new HeaderReader(names.map((name) => [name])),
        new ResponseHead(defaultContract),
      ]
      for (const { text, offset } of sequence) {
        const seen = read(knowing, headers, head, buffer, text, offset)
        if (knowing.shape !== 0) met++
        const fresh = Buffer.alloc(2048)
        expect(seen).toEqual(
          read(
            new ResponseFraming(fresh),
            new HeaderReader(names.map((name) => [name])),
            new ResponseHead(defaultContract),
            fresh,
            text,
            offset,
          ),
        )
      }
    }),
    { numRuns: 2000 },
  )
  // The test is about known heads.
  expect(met).toBeGreaterThan(1000)
})

test('constant rate limits of a known head are read though the lines before them change in length', () => {
  const buffer = Buffer.alloc(2048)
  const framing = new ResponseFraming(buffer)
  const head = new ResponseHead({
    ...defaultContract,
    headers: { ...defaultContract.headers, rateReset: ['x-reset'] },
  })
  const found = [1, 22, 333, 4444, 55555].map((credits) => {
    const text = [
      'HTTP/1.1 200 OK',
      `X-Credits-Remaining: ${credits}`,
      'Date: Fri, 20 Nov 2026 11:00:00 GMT',
      'Content-Length: 2',
      'X-Reset: 2026-11-20T11:01:00Z',
      'RateLimit: "tokens";r=50;t=30',
      'RateLimit-Policy: "tokens";q=100;w=60;qu="content-bytes"',
      '',
      '',
    ].join('\r\n')
    const offset = buffer.length - text.length - 7 * String(credits).length
    buffer.fill('G')
    framing.read(buffer, offset, offset + buffer.write(text, offset, 'latin1'))
    const { creditsRemaining, rateReset, rateLimit, rateRemaining } = saidBy(head, buffer, framing)
    return { known: framing.shape !== 0, creditsRemaining, rateReset, rateLimit, rateRemaining }
  })
  expect(found.map(({ known }) => known).slice(-3)).toEqual([true, true, true])
  expect(found.map(({ creditsRemaining, rateReset }) => [creditsRemaining, rateReset])).toEqual([
    [1, 60],
    [22, 60],
    [333, 60],
    [4444, 60],
    [55555, 60],
  ])
  expect(new Set(found.map(({ rateLimit }) => rateLimit))).toEqual(new Set([found[0]!.rateLimit]))
})
