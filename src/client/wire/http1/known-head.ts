import { isName } from '../../bytes/byte-names.ts'
import type { ResponseFraming } from './response-framing.ts'

/** Lines that decide where a body ends or whether the connection is reused. */
const framingNames = ['connection', 'keep-alive', 'transfer-encoding'].map((name) =>
  Buffer.from(name),
)
const lengthName = Buffer.from('content-length')

/** Source of shape numbers, unique in a process; 0 means no shape. */
let shapes = 0

/**
 * A head that was read before. Heads of one service have the same lines in the same order, so the next
 * head is compared with it, and only values that have differed are read:
 *
 *     HTTP/1.1 200 OK | Server: x | Date: … | Content-Length: 431 | Connection: keep-alive
 *     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~  ~~~~~~~~~~~~~~~~      ~~~~~~~~~~~~~~~~~~~~~~  compared
 *
 * Each line is three numbers of `lines`. A line is named by its place there, a multiple of 3:
 *
 *     lines      begin, colon, end │ begin, colon, end │ begin, colon, end │ …
 *     place      0                 │ 3                 │ 6                 │
 *     line       Server            │ Date: varying     │ Content-Length: lengthLine, varying
 */
export class KnownHead {
  /** Changes when more lines have differed. */
  shape = ++shapes
  readonly bytes: Uint8Array
  readonly view: DataView
  /** Like `HeaderLines.offsets`: where each line begins, has its colon, and ends, from the start of the head. */
  readonly lines: Int32Array
  readonly linesStart: number
  readonly status: number
  readonly keepAlive: boolean
  readonly keepAliveTimeoutS: number
  readonly body: ResponseFraming['body']
  readonly contentLength: number
  /** Place in `lines` of the Content-Length line; -3, which is no place, without one. */
  readonly lengthLine: number
  /** Places in `lines` of the lines whose values differ between heads, ascending. */
  varying: readonly number[] = []

  /** @param framing has just read the head at `bytes[start..]` */
  constructor(framing: ResponseFraming, bytes: Uint8Array, start: number) {
    this.bytes = Uint8Array.prototype.slice.call(bytes, start, framing.end)
    this.view = new DataView(this.bytes.buffer)
    const offsets = framing.offsets.subarray(0, framing.count * 3)
    this.lines = offsets.map((offset) => offset - start)
    this.linesStart = framing.linesStart - start
    this.status = framing.status
    this.keepAlive = framing.keepAlive
    this.keepAliveTimeoutS = framing.keepAliveTimeoutS
    this.body = framing.body
    this.contentLength = framing.contentLength
    this.lengthLine = 3 * this.lineNames().findIndex((name) => isWhole(name, lengthName))
  }

  /**
   * Adds the differing lines of another head to `varying`; false if it has other names, order or framing. A head is read as this
   * one (`ResponseFraming.readAs`) with its status and its framing, so lines that decide them do not vary. Only Content-Length
   * may: its value is read each time.
   */
  adapt(framing: ResponseFraming, bytes: Uint8Array, start: number): boolean {
    const other = new KnownHead(framing, bytes, start)
    const names = other.lineNames()
    const statusLine = this.bytes.subarray(0, this.linesStart)
    if (!equal(statusLine, other.bytes.subarray(0, other.linesStart))) return false
    if (3 * names.length !== this.lines.length) return false
    const own = this.lineNames()
    if (!names.every((name, nth) => equal(name, own[nth]!))) return false
    // Counted in lines, and three numbers each in `lines`.
    const differing = names.flatMap((_, nth) =>
      equal(this.valueOf(nth), other.valueOf(nth)) ? [] : [nth],
    )
    if (differing.some((nth) => framingNames.some((name) => isWhole(own[nth]!, name)))) return false
    const varying = new Set([...this.varying, ...differing.map((nth) => 3 * nth)])
    this.varying = [...varying].sort((a, b) => a - b)
    this.shape = ++shapes
    return true
  }

  private lineNames(): readonly Uint8Array[] {
    const names: Uint8Array[] = []
    for (let at = 0; at < this.lines.length; at += 3)
      names.push(this.bytes.subarray(this.lines[at], this.lines[at + 1]))
    return names
  }

  private valueOf(nth: number): Uint8Array {
    return this.bytes.subarray(this.lines[3 * nth + 1]! + 1, this.lines[3 * nth + 2])
  }
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

const isWhole = (bytes: Uint8Array, name: Uint8Array): boolean =>
  bytes.length === name.length && isName(bytes, 0, name)
