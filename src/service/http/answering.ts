import type { ServerResponse } from 'node:http'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Database } from '../ledger/database.ts'
import type { Profile } from '../profile.ts'
import type { Refusal } from '../refusal.ts'

/** What an admitted request is answered with; its price is reserved. */
export interface Answering {
  readonly call: Call
  readonly response: ServerResponse
  readonly behaviour: Behaviour
  readonly database: Database
  readonly creditsSemantics: Profile['creditsHeader']
  /** Rate and credits headers. */
  head(credits: number): Record<string, string>
  /** Writes a whole response after the next commit. */
  write(status: number, headers: Record<string, string>, body: string): void
  writeHead(status: number, headers: Record<string, string>): void
  refuse(refusal: Refusal): void
}

/** The value of X-Credits-Remaining, as the profile means it. */
export function creditsShown({ call, behaviour, creditsSemantics }: Answering): number {
  const after = call.creditsAfter ?? 0
  switch (creditsSemantics) {
    case 'after':
      return after
    case 'snapshot':
      return behaviour.available(call)
    case 'before':
      return after + call.price
  }
}
