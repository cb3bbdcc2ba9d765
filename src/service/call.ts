import type { IncomingHttpHeaders } from 'node:http'
import type { Band, Credits, FullModel, Window } from '../contract/contract.ts'
import type { ContractEndpoint } from '../contract/request.ts'
import { Chance } from './chance.ts'
import type { ApiKey } from './ledger/accounts.ts'
import type { Random } from './random.ts'
import type { Refusal } from './refusal.ts'
import type { Format, GenerationRequest } from './request/generation-request.ts'

/** The state of the three windows of a key. */
export interface RateLook {
  /** The window that is full; null if none is. */
  readonly refusedBy: Window | null
  /** The state of a window after the request is counted in it. */
  window(window: Window): WindowState
}

export interface WindowState {
  readonly limit: number
  readonly remaining: number
  readonly resetUs: number
}

/** What is known of a request before it is examined. */
export interface IncomingRequest {
  readonly sequence: number
  /** Hexadecimal and unique. Both formats make their ids from it. */
  readonly id: string
  readonly atUs: number
  /** GET for HEAD too: `node:http` leaves out the body. */
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** The same for all requests of one connection. */
  readonly connection: number
  readonly remoteAddress: string
  /** Calls back once the connection is closed. */
  onClosed(callback: () => void): void
}

const nothing = Buffer.alloc(0)
const nobody: ReadonlySet<number> = new Set()
const noLimits = { minute: 0, hour: 0, day: 0 }

/** One request on its way through the service. Each stage adds what it finds. */
export class Call extends Chance {
  readonly incoming: IncomingRequest
  endpoint: ContractEndpoint | 'other' = 'other'
  body: Buffer = nothing
  /** Why the body was not kept; null if it was. */
  bodyFault: Refusal | null = null
  key: ApiKey | null = null
  request: GenerationRequest | null = null
  model: FullModel | null = null
  /** The model that a read of one model asks for. */
  modelAsked: string | null = null
  promptTokens = 0
  /** Credits free at admission, before anything is reserved for this call. */
  available: Credits = 0
  band: Band | null = null
  /** The subject of the rate limits. */
  subject = ''
  limits: Readonly<Record<Window, number>> = noLimits
  look: RateLook | null = null
  price: Credits = 0
  /** The ledger entry of a charge made at the start. */
  entry: number | null = null
  /** What the request may cost and the balance, as text, if the service bills in money. */
  money: {
    readonly price: string
    readonly balance: string
    readonly currency: string
    /** The counter that refuses, if it is not the balance. */
    readonly counter?: string
  } | null = null
  /** Credits left right after the reservation for this call. */
  creditsAfter: Credits | null = null
  /** Pieces sent to the client so far. */
  piecesSent = 0
  /** The open content block of a messages stream, and the number of the next. */
  block: {
    readonly kind: 'text' | 'thinking' | 'tool_use'
    readonly index: number
    /** The index of the tool call in the upstream's count. */
    readonly tool?: number
  } | null = null
  nextBlock = 0
  /** Choices whose tool call has begun. */
  calling: ReadonlySet<number> = nobody
  /** Choices that are inside inline <think> text. */
  thinking: ReadonlySet<number> = nobody

  constructor(incoming: IncomingRequest, random: Random) {
    super(random)
    this.incoming = incoming
  }

  /** The format of the endpoint's response; null for an endpoint that both formats share. */
  get format(): Format | null {
    return this.endpoint === 'chat' || this.endpoint === 'messages' ? this.endpoint : null
  }
}
