import type { MemoryFigures } from '../../client/bytes/memory.ts'
import { userError } from '../../user/user-error.ts'
import type { ThreadFigures } from '../judge/client-tests.ts'
import type { FromRecorderControl, FromSender } from './messages.ts'

/** What the threads of a run say of themselves at their end. */
export class CrewFigures {
  /** One entry for each sending thread, over its whole life. */
  readonly threads: ThreadFigures[] = []
  readonly memory: MemoryFigures[] = []
  /** Connections on which bytes came that no request had asked for. */
  strays = 0
  /** Rows that the sending threads gave to the recorder. */
  handedOver = 0
  /** Rows that the recorder wrote. */
  recorded = 0
  bodiesGivenUp = 0
  /** Why the store could not be written to the end; null if it could. */
  storeFailure: string | null = null
  deepestQueue = 0

  closed({ rows, bodiesGivenUp }: Extract<FromRecorderControl, { type: 'closed' }>): void {
    this.recorded = rows
    this.bodiesGivenUp += bodiesGivenUp
  }

  finished(message: Extract<FromSender, { type: 'finished' }>): void {
    this.handedOver += message.rows
    this.bodiesGivenUp += message.bodiesGivenUp
    this.memory.push(message.memory)
    this.strays += message.strays
    const { shard, loopDelayP99Us, utilisation } = message
    this.threads.push({ shard, loopDelayP99Us, utilisation })
  }
}

/** A message with a stack is a bug of ours; one without is an error in the scenario. */
export function threadFailure({ shard, message }: Extract<FromSender, { type: 'failed' }>): Error {
  return /\n\s+at /.test(message)
    ? new Error(`Sending thread ${shard}: ${message}`)
    : userError.run(message)
}
