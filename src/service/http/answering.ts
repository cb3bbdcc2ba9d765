import type { ServerResponse } from 'node:http'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Database } from '../ledger/database.ts'
import type { Profile } from '../profile.ts'
import type { Replays } from './replays.ts'
import type { ResponseWriter } from './response-writer.ts'

/** What an admitted request is answered with; its price is reserved. */
export interface Answering {
  readonly call: Call
  readonly response: ServerResponse
  readonly behaviour: Behaviour
  readonly database: Database
  readonly profile: Profile
  /** Whether no fault and no upstream has a hand in the events of streams. */
  readonly honestEvents: boolean
  readonly writer: ResponseWriter
  /** Where plain answers are kept for requests that come again; null when they are not. */
  readonly replays: Replays | null
}

/** The headers of limits and credits, which every success has. */
export function successHeaders(answering: Answering): Record<string, string> {
  const { call, writer } = answering
  return writer.creditsHeader(call, creditsShown(answering), writer.rateHeaders(call, false))
}

/** The value of X-Credits-Remaining, as the profile means it. */
function creditsShown({ call, behaviour, profile }: Answering): number {
  const after = call.creditsAfter ?? 0
  switch (profile.creditsHeader) {
    case 'after':
      return after
    case 'snapshot':
      return behaviour.available(call)
    case 'before':
      return after + call.price
  }
}
