import type { ResponseMemory } from '../bytes/memory.ts'
import type { Call } from '../call/call.ts'
import type { DeadlineTimer } from '../call/deadlines.ts'
import type { DocumentReader } from '../document/document.ts'
import type { ResponseHead } from '../head/response-head.ts'
import type { EventNumbers } from '../stream/event-numbers.ts'
import type { PollTime } from '../wire/poll-time.ts'
import type { Transport } from '../wire/transport.ts'
import type { Attempt } from './attempt.ts'
import type { ResponseWords } from './response-words.ts'

/** Which responses to keep word for word; `errors` are all that are not 2xx, `raw` also the other bodies as they are, to read in memory. */
export type CaptureChoice = 'always' | 'errors' | 'raw' | 'never'

export interface AttemptListener {
  /** A content event came `itlUs` after the one before it in the same stream (0: same read). */
  onItl(itlUs: number): void
  /** The first content event of a stream came so long after the send. */
  onContent?(waitUs: number): void
  /** It is over. The attempt is reused after this returns, so copy what you need. */
  onEnd(attempt: Attempt): void
  /** The response head is complete. */
  onHead?(attempt: Attempt): void
  /** An event of a stream came with the read at `atUs`; `bytes[start..end)` is its data, valid during the call. */
  onEvent?(atUs: number, bytes: Buffer, start: number, end: number): void
}

/** Objects that the attempts of one thread share. */
export interface AttemptContext {
  readonly transport: Transport
  readonly now: () => number
  readonly pollTime: PollTime
  readonly timer: DeadlineTimer
  readonly head: ResponseHead
  readonly document: DocumentReader
  readonly words: ResponseWords
  readonly numbers: EventNumbers
  readonly captureBytes: number
  readonly memory: ResponseMemory
  /** When the bytes being handled had arrived (`PollTime`): the time stamp of all their content. */
  readUs: number
  /** Returns an unused attempt. */
  take(): Attempt
  /** Takes both back after the last callback. */
  release(call: Call, attempt: Attempt): void
}

/** The reader of a body, chosen by its head. */
export interface BodyReader {
  onBody(bytes: Buffer, start: number, end: number): void
  /** Time of the last read; NaN for a reader that resets its deadline at each read. */
  readonly lastReadUs: number
}
