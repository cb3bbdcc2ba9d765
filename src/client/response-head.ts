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
export interface HeadFields {
  creditsRemaining: number
  rateLimit: number
  rateRemaining: number
  rateReset: number
  retryAfter: number
  dateS: number
  /** The bits that headers decide are added. */
  flags: number
}

/** Reads the headers that matter, for all responses of a thread. */
export class ResponseHead {
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

  /** @returns the length of the body; NaN when the head does not say */
  read(head: Buffer, lines: HeaderLines, into: HeadFields): number {
    const { headers } = this
    headers.read(head, lines)
    into.creditsRemaining = this.number(head, CREDITS, false, into, flags.malformedCredits)
    into.rateLimit = this.number(head, LIMIT, true, into, flags.malformedRateLimit)
    into.rateRemaining = this.number(head, REMAINING, true, into, flags.malformedRateRemaining)
    into.rateReset = this.number(head, RESET, true, into, flags.malformedRateReset)
    into.retryAfter = this.number(head, RETRY_AFTER, false, into, flags.retryAfterNotSeconds)
    into.dateS =
      headers.starts[DATE] === -1
        ? Number.NaN
        : this.dates.read(head, headers.starts[DATE]!, headers.ends[DATE]!)
    if (headers.starts[ALLOW_ORIGIN] !== -1) into.flags |= flags.allowOrigin
    const type = headers.starts[TYPE]!
    if (type !== -1) {
      if (startsWith(head, type, headers.ends[TYPE]!, json)) into.flags |= flags.jsonType
      else if (startsWith(head, type, headers.ends[TYPE]!, eventStream)) into.flags |= flags.sseType
    }
    return this.number(head, LENGTH, false, into, 0)
  }

  /** A header that came twice is one value with a comma (RFC 9110, 5.3), and that is no number. */
  private number(
    head: Buffer,
    slot: number,
    fraction: boolean,
    into: HeadFields,
    malformed: number,
  ): number {
    const start = this.headers.starts[slot]!
    if (start === -1) return Number.NaN
    const end = this.headers.ends[slot]!
    const value = decimalOf(head, start, end, fraction)
    if (Number.isNaN(value) || this.headers.counts[slot]! > 1) {
      into.flags |= malformed
      // What it says is kept where it can be read as a number all the same: `99.0` credits.
      return Number.isNaN(value) ? decimalOf(head, start, end, true) : value
    }
    return value
  }
}
