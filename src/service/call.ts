import type { IncomingHttpHeaders } from 'node:http'
import type { Band, Credits, Model, Window } from '../contract/contract.ts'
import type { ContractEndpoint } from '../contract/request.ts'
import { Chance } from './chance.ts'
import type { ApiKey } from './ledger/accounts.ts'
import type { Random } from './random.ts'
import type { Refusal } from './refusal.ts'
import type { Format, GenerationRequest } from './request.ts'

/** Where the three windows of a key stand. */
export interface RateLook {
  /** The window that has no room; null when all have. */
  readonly refusedBy: Window | null
  /** The state of a window once the request is counted in it. */
  window(window: Window): WindowState
}

export interface WindowState {
  readonly limit: number
  readonly remaining: number
  readonly resetUs: number
}

/** What is known of a request before anybody looked at it. */
export interface IncomingRequest {
  readonly sequence: number
  /** Hexadecimal, unique; both formats make their ids of it. */
  readonly id: string
  readonly atUs: number
  /** GET for HEAD, too: `node:http` leaves out the body. */
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** The same for all requests of one connection. */
  readonly connection: number
  readonly remoteAddress: string
}

const nothing = Buffer.alloc(0)
const nobody: ReadonlySet<number> = new Set()
const noLimits = { minute: 0, hour: 0, day: 0 }

/** One request on its way through the service; each station fills in what it finds. */
export class Call extends Chance {
  readonly incoming: IncomingRequest
  endpoint: ContractEndpoint | 'other' = 'other'
  body: Buffer = nothing
  /** Why a body that came was not kept; null for one that was. */
  bodyFault: Refusal | null = null
  key: ApiKey | null = null
  request: GenerationRequest | null = null
  model: Model | null = null
  promptTokens = 0
  /** Credits free at admission, before anything is reserved for this call. */
  available: Credits = 0
  band: Band | null = null
  /** Whose requests are counted together with this one, and what they may reach. */
  subject = ''
  limits: Readonly<Record<Window, number>> = noLimits
  look: RateLook | null = null
  price: Credits = 0
  /** The entry of a charge made at the start. */
  entry: number | null = null
  /** Credits left right after those of this call were set aside. */
  creditsAfter: Credits | null = null
  /** Pieces given to the client so far. */
  piecesSent = 0
  /** The open content block of a messages stream, and the number of the next. */
  block: {
    readonly kind: 'text' | 'thinking' | 'tool_use'
    readonly index: number
    /** Which call of a tool it is, as an upstream counts them. */
    readonly tool?: number
  } | null = null
  nextBlock = 0
  /** Choices that are inside inline <think> text. */
  thinking: ReadonlySet<number> = nobody

  constructor(incoming: IncomingRequest, random: Random) {
    super(random)
    this.incoming = incoming
  }

  /** The format whose shapes fit the endpoint; null for the shared ones. */
  get format(): Format | null {
    return this.endpoint === 'chat' || this.endpoint === 'messages' ? this.endpoint : null
  }
}
