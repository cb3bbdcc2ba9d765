import type { ServerResponse } from 'node:http'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Database } from '../ledger/database.ts'
import type { Profile } from '../profile.ts'
import type { Replays } from './replays.ts'
import type { ResponseWriter } from './response-writer.ts'

/** The parts that answer an admitted request. Its price is reserved. */
export interface Answering {
  readonly call: Call
  readonly response: ServerResponse
  readonly behaviour: Behaviour
  readonly database: Database
  readonly profile: Profile
  /** Whether no fault and no upstream changes the events of streams. */
  readonly honestEvents: boolean
  readonly writer: ResponseWriter
  /** Keeps plain answers for repeated requests; null if they are not kept. */
  readonly replays: Replays | null
}

export function successHeaders(answering: Answering): Record<string, string> {
  const { call, writer } = answering
  return writer.creditsHeader(call, creditsShown(answering), writer.rateHeaders(call, false))
}

/** The value of X-Credits-Remaining in the profile's meaning. */
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
