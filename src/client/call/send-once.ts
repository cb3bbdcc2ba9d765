import type { Contract } from '../../contract/contract.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import type { CaptureChoice } from '../row/attempt-context.ts'
import type { Captured } from '../row/capture.ts'
import type { ResponseColumns } from '../row/columns.ts'
import type { Transport } from '../wire/transport.ts'
import { AttemptClient, deadlinesOf } from './client.ts'
import type { Deadlines } from './deadlines.ts'
import type { PreparedRequest } from './request.ts'

/** An event of a stream: its data as text, without keys. */
export interface ReceivedEvent {
  readonly atUs: number
  readonly data: string
}

/** One attempt with its whole response, for probes and tests. */
export interface Received {
  /** The response half of its row. */
  readonly columns: ResponseColumns
  /** Headers and body as received, without keys; null without a response head. */
  readonly captured: Captured | null
  /** Events of a stream in order. */
  readonly events: readonly ReceivedEvent[]
}

export interface SendOnceOptions {
  readonly contract: Contract
  readonly now: () => number
  /** Default: those of the contract. */
  readonly deadlines?: Deadlines
  readonly captureBytes?: number
  /** Of the same transport, contract, clock and deadlines: what it learnt of answers is used again. One for this exchange if absent. */
  readonly client?: AttemptClient
  readonly onHead?: () => void
  readonly onEvent?: (event: ReceivedEvent) => void
  /** A gap between two texts of one choice, in microseconds. */
  readonly onItl?: (itlUs: number) => void
  readonly signal?: AbortSignal
}

/** Sends one request and returns its whole response. Never rejects: a failure is an outcome. */
export function sendOnce(
  transport: Transport,
  request: PreparedRequest,
  options: SendOnceOptions,
): Promise<Received> {
  const { contract, now, onHead, onEvent, onItl = () => {}, signal } = options
  const client =
    options.client ??
    new AttemptClient({
      transport,
      contract,
      now,
      deadlines: options.deadlines ?? deadlinesOf(contract),
      ...(options.captureBytes === undefined ? {} : { captureBytes: options.captureBytes }),
    })
  const capture: CaptureChoice = 'always'
  return new Promise((resolve) => {
    const events: ReceivedEvent[] = []
    const attempt = client.start(
      request,
      {
        onItl,
        onHead: () => onHead?.(),
        onEvent: (_atUs, bytes, start, end) => {
          const event = { atUs: now(), data: secrets.without(bytes.toString('utf8', start, end)) }
          events.push(event)
          onEvent?.(event)
        },
        onEnd: (ended) => {
          signal?.removeEventListener('abort', abort)
          if (options.client === undefined) client.close()
          resolve({ columns: ended.toColumns(), captured: ended.captured, events })
        },
      },
      capture,
    )
    const abort = () => attempt.abort('stopped')
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })
}
