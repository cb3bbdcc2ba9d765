import { flags } from '../../attempt/flags.ts'
import type { Encoding } from '../../attempt/outcome.ts'
import { type Contract, structuredNames } from '../../contract/contract.ts'
import { usualOf } from '../../contract/usual.ts'
import { lookup } from '../../user/lookup.ts'
import type { HeaderLines } from '../wire/transport.ts'
import { DateReader, decimalOf, HeaderReader, startsWith, valueEnd, valueStart } from './headers.ts'
import { firstLimit } from './rate-fields.ts'
import { type RateColumns, RateTexts } from './rate-texts.ts'

const CREDITS = 0
const LIMIT = 1
const REMAINING = 2
const RESET = 3
const RETRY_AFTER = 4
const DATE = 5
const TYPE = 6
const LENGTH = 7
const ALLOW_ORIGIN = 8
const ENCODING = 9
const TOKEN_LIMIT = 10
const TOKEN_REMAINING = 11
const TOKEN_RESET = 12
const STATE = 13
const POLICY = 14
const RETRY_AFTER_MS = 15

const json = Buffer.from('application/json')
/** JSON, and formats that are written in it, such as `application/problem+json` (RFC 6839). */
const jsonTypes = /^(?:application\/json|text\/json|[a-z]+\/[\w.-]+\+json)[ \t]*(?:;|$)/i
const eventStream = Buffer.from('text/event-stream')

/** The headers of a response: columns of the row, NaN if absent or not a number. */
export interface HeadFields extends RateColumns {
  creditsRemaining: number
  contentLength: number
  /** Null if the body is not encoded. */
  encoding: Encoding | null
}

/** Heads of one shape: their common fields, and the headers that are read each time. */
interface KnownHead {
  readonly shape: number
  readonly shared: HeadFields
  /** Headers whose values vary, and their lines. */
  readonly slots: readonly number[]
  readonly lines: readonly number[]
  /** Constant values that depend on other headers. A copy, since offsets are known only for lines that vary. */
  readonly constants: readonly { readonly slot: number; readonly value: Buffer }[]
}

/** Slots whose meaning depends on other headers, unless they are numbers. */
const needOthers: ReadonlySet<number> = new Set([RESET, TOKEN_RESET, STATE, POLICY, RETRY_AFTER])

/** A service sends few shapes of heads; heads of further shapes are learnt again each time. */
const mostKnown = 16

/** Reads the headers that matter, for all responses of a thread. */
export class ResponseHead {
  private readonly headers: HeaderReader
  private readonly dates = new DateReader()
  private readonly texts: RateTexts
  private readonly known: KnownHead[] = []
  private last: KnownHead | null = null

  /** @param nowS Unix seconds: the time from which a wait counts if a response has no `Date` */
  constructor(contract: Contract, nowS = () => Date.now() / 1000) {
    const { headers } = usualOf(contract)
    const plain = (names: readonly string[] = []) =>
      names.filter((name) => !structuredNames.includes(name))
    this.headers = new HeaderReader([
      plain(headers.creditsRemaining),
      plain(headers.rateLimit),
      plain(headers.rateRemaining),
      plain(headers.rateReset),
      ['retry-after'],
      ['date'],
      ['content-type'],
      ['content-length'],
      ['access-control-allow-origin'],
      ['content-encoding'],
      plain(headers.tokenLimit),
      plain(headers.tokenRemaining),
      plain(headers.tokenReset),
      ['ratelimit'],
      ['ratelimit-policy'],
      ['retry-after-ms'],
    ])
    this.texts = new RateTexts(nowS)
  }

  read(head: Buffer, lines: HeaderLines, into: HeadFields): void {
    if (lines.shape === 0) {
      setShared(into, nothing)
      this.headers.read(head, lines)
      for (let slot = 0; slot < this.headers.lines.length; slot++) {
        const line = this.headers.lines[slot]!
        if (line === -1) continue
        this.readSlot(slot, head, valueStart(head, lines, line), valueEnd(head, lines, line), into)
      }
      this.flagDoubled(into)
      this.texts.settle(into)
      return
    }
    const known =
      this.last?.shape === lines.shape ? this.last : (this.met(lines) ?? this.learn(head, lines))
    this.last = known
    setShared(into, known.shared)
    const { slots, constants } = known
    for (let at = 0; at < slots.length; at++) {
      const line = known.lines[at]!
      this.readSlot(
        slots[at]!,
        head,
        valueStart(head, lines, line),
        valueEnd(head, lines, line),
        into,
      )
    }
    for (let at = 0; at < constants.length; at++) {
      const { slot, value } = constants[at]!
      this.readSlot(slot, value, 0, value.length, into)
    }
    this.texts.settle(into)
  }

  private met({ shape }: HeaderLines): KnownHead | undefined {
    return this.known.find((known) => known.shape === shape)
  }

  private learn(head: Buffer, lines: HeaderLines): KnownHead {
    this.headers.read(head, lines)
    const shared = { ...nothing }
    const slots: number[] = []
    const constants: { slot: number; value: Buffer }[] = []
    for (const [slot, line] of this.headers.lines.entries()) {
      if (line === -1) continue
      const [start, end] = [valueStart(head, lines, line), valueEnd(head, lines, line)]
      if (lines.varying.includes(line)) slots.push(slot)
      else if (
        slot === RETRY_AFTER_MS ||
        (needOthers.has(slot) && Number.isNaN(decimalOf(head, start, end, true)))
      ) {
        constants.push({ slot, value: Buffer.from(head.subarray(start, end)) })
      } else this.readSlot(slot, head, start, end, shared)
    }
    this.flagDoubled(shared)
    const at = slots.map((slot) => this.headers.lines[slot]!)
    const known = { shape: lines.shape, shared, slots, lines: at, constants }
    if (this.known.length === mostKnown) this.known.shift()
    this.known.push(known)
    return known
  }

  private readSlot(slot: number, head: Buffer, start: number, end: number, into: HeadFields): void {
    switch (slot) {
      case CREDITS:
        into.creditsRemaining = number(head, start, end, false, into, slot)
        break
      case LIMIT:
        into.rateLimit = number(head, start, end, true, into, slot)
        if (Number.isNaN(into.rateLimit))
          into.rateLimit = firstLimit(head.toString('latin1', start, end))
        break
      case REMAINING:
        into.rateRemaining = number(head, start, end, true, into, slot)
        break
      case RESET:
        into.rateReset = number(head, start, end, true, into, slot)
        if (Number.isNaN(into.rateReset))
          into.rateReset = this.texts.resetOf(head.toString('utf8', start, end), 'rateReset')
        break
      case TOKEN_LIMIT:
        into.tokenLimit = decimalOf(head, start, end, true)
        break
      case TOKEN_REMAINING:
        into.tokenRemaining = decimalOf(head, start, end, true)
        break
      case TOKEN_RESET:
        into.tokenReset = decimalOf(head, start, end, true)
        if (Number.isNaN(into.tokenReset))
          into.tokenReset = this.texts.resetOf(head.toString('utf8', start, end), 'tokenReset')
        break
      case STATE:
        this.texts.limits = head.toString('latin1', start, end)
        break
      case POLICY:
        this.texts.policies = head.toString('latin1', start, end)
        break
      case RETRY_AFTER:
        into.retryAfter = number(head, start, end, false, into, slot)
        if (Number.isNaN(into.retryAfter)) this.texts.retry = head.toString('latin1', start, end)
        break
      case RETRY_AFTER_MS:
        this.texts.retryMs = decimalOf(head, start, end, true)
        break
      case DATE:
        into.dateS = this.dates.read(head, start, end)
        break
      case TYPE:
        if (isJson(head, start, end)) into.flags |= flags.jsonType
        else if (startsWith(head, start, end, eventStream)) into.flags |= flags.sseType
        break
      case LENGTH:
        into.contentLength = number(head, start, end, false, into, slot)
        break
      case ALLOW_ORIGIN:
        into.flags |= flags.allowOrigin
        break
      case ENCODING:
        into.encoding = encodingOf(head.toString('latin1', start, end).toLowerCase())
    }
  }

  /** A repeated header is one value with a comma (RFC 9110, 5.3), which is not a number. */
  private flagDoubled(into: HeadFields): void {
    for (const [slot, bits] of malformed.entries()) {
      if (this.headers.counts[slot]! > 1) into.flags |= bits
    }
  }
}

/** Most answers have the plain type, so only others are made a text. */
function isJson(head: Buffer, start: number, end: number): boolean {
  const isPlain = end - start === json.length && startsWith(head, start, end, json)
  return isPlain || jsonTypes.test(head.toString('latin1', start, end))
}

/** Flags of values that are not numbers, by slot. */
const malformed: readonly number[] = [
  flags.malformedCredits,
  flags.malformedRateLimit,
  flags.malformedRateRemaining,
  flags.malformedRateReset,
  flags.retryAfterNotSeconds,
]

function number(
  head: Buffer,
  start: number,
  end: number,
  fraction: boolean,
  into: HeadFields,
  slot: number,
): number {
  const value = decimalOf(head, start, end, fraction)
  if (!Number.isNaN(value)) return value
  into.flags |= malformed[slot] ?? 0
  // A malformed value is still kept if it can be read as a number, such as `99.0` credits.
  return decimalOf(head, start, end, true)
}

const encodings: Readonly<Record<string, Encoding>> = lookup({
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
})

function encodingOf(value: string): Encoding | null {
  if (value === '' || value === 'identity') return null
  return Object.hasOwn(encodings, value) ? encodings[value]! : 'other'
}

/** The fields of a head without these headers. */
const nothing: HeadFields = {
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

function setShared(into: HeadFields, shared: HeadFields): void {
  into.creditsRemaining = shared.creditsRemaining
  into.rateLimit = shared.rateLimit
  into.rateRemaining = shared.rateRemaining
  into.rateReset = shared.rateReset
  into.tokenLimit = shared.tokenLimit
  into.tokenRemaining = shared.tokenRemaining
  into.tokenReset = shared.tokenReset
  into.retryAfter = shared.retryAfter
  into.dateS = shared.dateS
  into.contentLength = shared.contentLength
  into.encoding = shared.encoding
  into.flags |= shared.flags
}
