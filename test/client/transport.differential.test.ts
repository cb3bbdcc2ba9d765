import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { scriptedServer } from './scripted-server.ts'
import { type Exchanged, exchange } from './transports.ts'

/** The bytes of a response, and where it is cut in transit. */
interface Case {
  readonly bytes: Buffer
  readonly cuts: readonly number[]
}

/** For a limited time, if the fuzzer sets one. */
const runs = process.env.FUZZ_MS
  ? { numRuns: 1e9, interruptAfterTimeLimit: Number(process.env.FUZZ_MS) }
  : { numRuns: 300 }

const text = fc.string({ unit: fc.constantFrom(...'abc {}":,\r\n0é'), maxLength: 40 })
const fieldName = fc.constantFrom('X-A', 'x-b', 'Date', 'Vary', 'X-Credits-Remaining')
const fieldValue = fc.constantFrom('', '1', 'a b', '  padded  ', 'tab\there', 'é', '"q"', 'a, b')
const fields = fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 4 })
const status = fc.constantFrom(200, 201, 204, 301, 304, 400, 401, 403, 404, 429, 500, 503, 599)
const interim = fc.constantFrom('', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
const connection = fc.constantFrom('', '', 'Connection: close\r\n', 'Connection: keep-alive\r\n')

function chunked(pieces: readonly string[], extension: string, trailer: string): string {
  const chunks = pieces
    .filter((piece) => piece.length > 0)
    .map(
      (piece) => `${Buffer.byteLength(piece, 'latin1').toString(16)}${extension}\r\n${piece}\r\n`,
    )
  return `${chunks.join('')}0\r\n${trailer}\r\n`
}

const extension = fc.constantFrom('', ';a', ';a=b', ';a;b=c', ';a="q \\" \\\\ ;"', ';a="";b=')

/** Framing headers, and the body as sent. */
const framed = fc.oneof(
  text.map((body) => `Content-Length: ${body.length}\r\n\r\n${body}`),
  fc
    .tuple(fc.array(text, { maxLength: 5 }), extension, fc.constantFrom('', 'X-T: 1\r\n'))
    .map((parts) => `Transfer-Encoding: chunked\r\n\r\n${chunked(...parts)}`),
  text.map((body) => `\r\n${body}`),
)

const whole = fc
  .tuple(interim, status, fc.constantFrom('OK', '', 'Not So'), fields, connection, framed)
  .map(([before, code, reason, lines, close, rest]) => {
    const headers = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return Buffer.from(`${before}HTTP/1.1 ${code} ${reason}\r\n${headers}${close}${rest}`, 'latin1')
  })

/** One byte removed, inserted or changed; or the end cut off. */
const breakage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({
    kind: fc.constantFrom('put' as const, 'change' as const),
    at: fc.nat(),
    byte: fc.constantFrom(0, 10, 13, 32, 48, 58, 65, 103, 127, 233),
  }),
  fc.record({ kind: fc.constant('take' as const), at: fc.nat() }),
)
type Breakage = typeof breakage extends fc.Arbitrary<infer T> ? T : never

function broken(bytes: Buffer, how: Breakage): Buffer {
  const at = how.at % (bytes.length + 1)
  const rest = bytes.subarray(how.kind === 'put' ? at : at + 1)
  const middle = 'byte' in how ? Buffer.from([how.byte]) : Buffer.alloc(0)
  return how.kind === 'cut'
    ? bytes.subarray(0, at)
    : Buffer.concat([bytes.subarray(0, at), middle, rest])
}

const cuts = fc.array(fc.nat(400), { maxLength: 6 })

/** Header lines as a set: undici has its own order of equal names and no padding. */
function headersOf(head: string): readonly string[] {
  return head
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(':')
      return `${line.slice(0, colon).toLowerCase()}: ${line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')}`
    })
}

const seen = ({ status, head, body, failure }: Exchanged) => ({
  status,
  headers: headersOf(head),
  body,
  failure: failure?.code ?? null,
})

/** Sends the case through both transports, each on its own connections. */
async function both({ bytes, cuts: places }: Case) {
  const ends = [...places.map((place) => Math.min(place, bytes.length)), bytes.length].sort(
    (a, b) => a - b,
  )
  const { origin, server } = await scriptedServer(async (socket) => {
    let from = 0
    for (const end of ends) {
      if (end > from) socket.write(bytes.subarray(from, end))
      from = Math.max(from, end)
      await new Promise(setImmediate)
    }
    socket.end()
  })
  const options = { origin, maxConnections: 1, connectTimeoutMs: 5000 }
  const [ours, theirs] = [new Http1Transport(options), new UndiciTransport(options)]
  const results = await Promise.all([exchange(ours).done, exchange(theirs).done])
  await Promise.all([ours.close(), theirs.close()])
  server.close()
  return results.map(seen) as [ReturnType<typeof seen>, ReturnType<typeof seen>]
}

test('both transports read complete responses the same, cut anywhere', {
  tags: 'whole',
}, async () => {
  await fc.assert(
    fc.asyncProperty(whole, cuts, async (bytes, places) => {
      const [ours, theirs] = await both({ bytes, cuts: places })
      expect(ours).toEqual(theirs)
    }),
    runs,
  )
})

/**
 * Intended differences, by the bytes that cause them. Our transport is stricter about the start of
 * a response.
 */
const differences: Readonly<Record<string, RegExp>> = {
  'control characters in a reason phrase: protocol to us, taken by llhttp':
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the subject
    /HTTP\/1\.1 [^\r\n]*[\x00-\x08\x0b-\x1f\x7f]/,
  'line ends before the status line: protocol to us, passed over by llhttp':
    /(^|\r\n\r\n)[\r\n]+HTTP/,
  'a blank behind the length (RFC 9110, 5.5): nothing to us, taken for another length by undici':
    /content-length: \d+[ \t]+\r\n/i,
}

test('both transports accept and refuse the same chunk extensions', { tags: 'whole' }, async () => {
  const broken = fc
    .array(fc.constantFrom(';', '=', '"', '\\', 'a', ' ', '\t', 'é', '\u007f'), { maxLength: 6 })
    .map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(fc.oneof(extension, broken), cuts, async (text, places) => {
      const bytes = Buffer.from(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(['abc'], text, '')}`,
        'latin1',
      )
      const [ours, theirs] = await both({ bytes, cuts: places })
      expect([text, ours]).toEqual([text, theirs])
    }),
    runs,
  )
})

test('both transports read broken responses the same, or both fail, except for known differences', async () => {
  await fc.assert(
    fc.asyncProperty(whole, breakage, cuts, async (bytes, how, places) => {
      const damaged = broken(bytes, how)
      const [ours, theirs] = await both({ bytes: damaged, cuts: places })
      if (ours.failure !== null && theirs.failure !== null) return
      const sent = damaged.toString('latin1')
      if (Object.values(differences).some((difference) => difference.test(sent))) return
      expect(ours).toEqual(theirs)
    }),
    runs,
  )
})
