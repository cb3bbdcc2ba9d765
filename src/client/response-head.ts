import { flags } from '../attempt/flags.ts'
import type { Contract } from '../contract/contract.ts'
import { DateReader, decimalOf, HeaderReader, startsWith } from './headers.ts'
import type { HeaderLines } from './transport.ts'

const CREDITS = 0
const LIMIT = 1
const REMAINING = 2
const RESET = 3
const RETRY_AFTER = 4
const DATE = 5
const TYPE = 6
const LENGTH = 7
const ALLOW_ORIGIN = 8

const json = Buffer.from('application/json')
const eventStream = Buffer.from('text/event-stream')

/** What the headers of a response say: columns of the row, NaN where absent or not a number. */
export class ResponseHead {
  creditsRemaining = Number.NaN
  rateLimit = Number.NaN
  rateRemaining = Number.NaN
  rateReset = Number.NaN
  retryAfter = Number.NaN
  dateS = Number.NaN
  contentLength = Number.NaN
  /** The bits of `flags` that headers decide. */
  flags = 0
  private readonly headers: HeaderReader
  private readonly dates = new DateReader()

  constructor(contract: Contract) {
    const { headers } = contract
    this.headers = new HeaderReader([
      headers.creditsRemaining,
      headers.rateLimit,
      headers.rateRemaining,
      headers.rateReset,
      'retry-after',
      'date',
      'content-type',
      'content-length',
      'access-control-allow-origin',
    ])
  }

  read(head: Buffer, lines: HeaderLines): void {
    const { headers } = this
    headers.read(head, lines)
    this.flags = 0
    this.creditsRemaining = this.number(head, CREDITS, false, flags.malformedCredits)
    this.rateLimit = this.number(head, LIMIT, true, flags.malformedRateLimit)
    this.rateRemaining = this.number(head, REMAINING, true, flags.malformedRateRemaining)
    this.rateReset = this.number(head, RESET, true, flags.malformedRateReset)
    this.retryAfter = this.number(head, RETRY_AFTER, false, flags.retryAfterNotSeconds)
    this.contentLength = this.number(head, LENGTH, false, 0)
    this.dateS =
      headers.starts[DATE] === -1
        ? Number.NaN
        : this.dates.read(head, headers.starts[DATE]!, headers.ends[DATE]!)
    if (headers.starts[ALLOW_ORIGIN] !== -1) this.flags |= flags.allowOrigin
    const type = headers.starts[TYPE]!
    if (type !== -1) {
      if (startsWith(head, type, headers.ends[TYPE]!, json)) this.flags |= flags.jsonType
      else if (startsWith(head, type, headers.ends[TYPE]!, eventStream)) this.flags |= flags.sseType
    }
  }

  /** A header that came twice is one value with a comma (RFC 9110, 5.3), and that is no number. */
  private number(head: Buffer, slot: number, fraction: boolean, malformed: number): number {
    const start = this.headers.starts[slot]!
    if (start === -1) return Number.NaN
    const end = this.headers.ends[slot]!
    const value = decimalOf(head, start, end, fraction)
    if (Number.isNaN(value) || this.headers.counts[slot]! > 1) {
      this.flags |= malformed
      // What it says is kept where it can be read as a number all the same: `99.0` credits.
      return Number.isNaN(value) ? decimalOf(head, start, end, true) : value
    }
    return value
  }
}
