import type { Socket } from 'node:net'
import type { FailureCode } from '../../src/client/wire/transport.ts'
import { chunk, lastChunk, response, streamHead } from './scripted-server.ts'

/** What a server may send, and what the client must report, for every transport. */
export interface Hostile {
  readonly name: string
  /** The server's reaction to each request. */
  readonly does: string | ((socket: Socket) => void)
  /** `ok` for a whole answer; `waits` for one that only a deadline ends. */
  readonly is: Verdict
  /** If undici reports something else. */
  readonly toUndici?: Verdict
}

type Verdict = FailureCode | 'ok' | 'waits'

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const close = (bytes: string) => (socket: Socket) => void socket.end(bytes, 'latin1')
const reset = (bytes: string) => (socket: Socket) => {
  socket.write(bytes)
  setTimeout(() => socket.resetAndDestroy(), 20)
}

export const hostile: readonly Hostile[] = [
  // Not HTTP, or no known first line
  { name: 'garbage', does: '\x00\x01\x02\x03\r\n\r\n', is: 'protocol' },
  { name: 'another protocol', does: 'SSH-2.0-OpenSSH_9.2\r\n', is: 'protocol' },
  { name: 'the preface of HTTP/2', does: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', is: 'protocol' },
  {
    name: 'HTTP/2.0 in a status line',
    does: 'HTTP/2.0 200 OK\r\n\r\n',
    is: 'protocol',
    toUndici: 'waits',
  },
  { name: 'HTTP/0.9', does: close('<html>hello</html>'), is: 'protocol' },
  { name: 'a request', does: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', is: 'protocol' },
  // Statuses
  { name: 'no status', does: 'HTTP/1.1 \r\n\r\n', is: 'protocol' },
  { name: 'status 99', does: 'HTTP/1.1 99 X\r\nContent-Length: 0\r\n\r\n', is: 'protocol' },
  { name: 'status 999', does: 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n', is: 'ok' },
  {
    name: 'a status of four digits',
    does: 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n',
    is: 'protocol',
  },
  {
    name: 'another protocol instead of an answer',
    does: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    is: 'protocol',
  },
  {
    name: '101 without an upgrade',
    does: 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    is: 'protocol',
  },
  {
    name: '100 before the answer',
    does: `HTTP/1.1 100 Continue\r\n\r\n${response(200, {}, 'ok')}`,
    is: 'ok',
    toUndici: 'unparsable',
  },
  { name: '103 and nothing else', does: 'HTTP/1.1 103 Early Hints\r\n\r\n', is: 'waits' },
  {
    name: 'a 204 with a body',
    does: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
    is: 'ok',
  },
  // Heads
  { name: 'a name with a blank', does: `${ok}X A: b\r\n\r\n`, is: 'protocol' },
  {
    name: 'a space before the colon',
    does: `${ok}X-A : b\r\nContent-Length: 0\r\n\r\n`,
    is: 'protocol',
  },
  { name: 'a line without a colon', does: `${ok}nonsense\r\n\r\n`, is: 'protocol' },
  { name: 'a folded line', does: `${ok}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`, is: 'protocol' },
  { name: 'line ends without CR', does: 'HTTP/1.1 200 OK\nContent-Length: 0\n\n', is: 'protocol' },
  {
    name: 'a zero byte in a value',
    does: `${ok}X-A: a\0b\r\nContent-Length: 0\r\n\r\n`,
    is: 'protocol',
  },
  { name: 'an endless head', does: `${ok}${'X-Long: y\r\n'.repeat(20_000)}`, is: 'too-large' },
  { name: 'an endless value', does: `${ok}X-Long: ${'y'.repeat(200_000)}`, is: 'too-large' },
  { name: 'half a head', does: `${ok}Content-`, is: 'waits' },
  { name: 'nothing', does: '', is: 'waits' },
  // Lengths
  { name: 'a non-numeric length', does: `${ok}Content-Length: ten\r\n\r\n`, is: 'protocol' },
  { name: 'a negative length', does: `${ok}Content-Length: -1\r\n\r\n`, is: 'protocol' },
  { name: 'a length with a fraction', does: `${ok}Content-Length: 1.5\r\n\r\n`, is: 'protocol' },
  { name: 'a length with a sign', does: `${ok}Content-Length: +1\r\n\r\na`, is: 'protocol' },
  { name: 'an empty length', does: `${ok}Content-Length: \r\n\r\n`, is: 'protocol' },
  {
    name: 'two lengths',
    does: `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    is: 'protocol',
  },
  {
    name: 'the same length twice',
    does: `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nab`,
    is: 'protocol',
  },
  { name: 'a list of lengths', does: `${ok}Content-Length: 2, 2\r\n\r\nab`, is: 'protocol' },
  {
    name: 'an overflowing length',
    does: `${ok}Content-Length: 99999999999999999999\r\n\r\nab`,
    is: 'protocol',
  },
  {
    name: 'a length and chunked coding',
    does: `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('ab')}${lastChunk}`,
    is: 'protocol',
  },
  {
    name: 'more than the length',
    does: response(200, {}, 'ab').replace('Content-Length: 2', 'Content-Length: 1'),
    is: 'ok',
  },
  { name: 'less than the length', does: `${ok}Content-Length: 9\r\n\r\nab`, is: 'waits' },
  {
    name: 'less than the length, and an end',
    does: close(`${ok}Content-Length: 9\r\n\r\nab`),
    is: 'closed-early',
  },
  // Chunks
  { name: 'a non-numeric chunk size', does: `${chunked}zz\r\n`, is: 'protocol' },
  { name: 'a chunk size with a sign', does: `${chunked}-1\r\n`, is: 'protocol' },
  { name: 'a chunk size with 0x', does: `${chunked}0x2\r\nab\r\n`, is: 'protocol' },
  { name: 'no chunk size', does: `${chunked}\r\nab\r\n`, is: 'protocol' },
  {
    name: 'an overflowing chunk size',
    does: `${chunked}fffffffffffffffff\r\n`,
    is: 'protocol',
  },
  { name: 'a chunk longer than it says', does: `${chunked}2\r\nabc\r\n`, is: 'protocol' },
  { name: 'chunks with bare LF', does: `${chunked}2\nab\n0\n\n`, is: 'protocol' },
  {
    name: 'an endless chunk extension',
    does: `${chunked}2;${'a'.repeat(200_000)}`,
    is: 'too-large',
    toUndici: 'waits',
  },
  {
    name: 'endless trailers',
    does: `${chunked}0\r\n${'X-T: y\r\n'.repeat(20_000)}`,
    is: 'too-large',
  },
  { name: 'half a chunk, and an end', does: close(`${chunked}a\r\nhalf`), is: 'closed-early' },
  {
    name: 'chunks without the last one, and an end',
    does: close(`${chunked}${chunk('half')}`),
    is: 'closed-early',
  },
  { name: 'chunks without the last one', does: `${chunked}${chunk('half')}`, is: 'waits' },
  {
    name: 'a coding other than chunked, to the end',
    does: close(`${ok}Transfer-Encoding: gzip\r\n\r\nab`),
    is: 'ok',
  },
  // Ends
  { name: 'an immediate end', does: close(''), is: 'closed-early' },
  { name: 'an end in the head', does: close(`${ok}Content-`), is: 'closed-early' },
  { name: 'an end of a body without a length', does: close(`${ok}\r\nall`), is: 'ok' },
  {
    name: 'an end after an interim response',
    does: close('HTTP/1.1 103 Early Hints\r\n\r\n'),
    is: 'closed-early',
  },
  { name: 'an immediate reset', does: reset(''), is: 'reset' },
  { name: 'a reset in the head', does: reset(`${ok}Content-`), is: 'reset' },
  { name: 'a reset in the body', does: reset(`${ok}Content-Length: 9\r\n\r\nab`), is: 'reset' },
  { name: 'a reset in a chunk', does: reset(`${chunked}a\r\nhalf`), is: 'reset' },
  { name: 'a reset in a body without a length', does: reset(`${ok}\r\nab`), is: 'reset' },
  { name: 'a stream that stalls', does: `${streamHead}${chunk('data: a\n\n')}`, is: 'waits' },
]
