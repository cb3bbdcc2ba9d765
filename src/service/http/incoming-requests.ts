import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FullContract } from '../../contract/contract.ts'
import type { ContractEndpoint } from '../../contract/request.ts'
import { decoded } from '../../user/decoded.ts'
import { onceForObject } from '../../user/once.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import { Call, type IncomingRequest } from '../call.ts'

/** Numbers reserved for each start of the service on a ledger's file. The same seed repeats draws. */
const perLife = 2 ** 24

/** Makes a call of each incoming request, with its number, time and endpoint. */
export class IncomingRequests {
  readonly #kit: Kit
  readonly #behaviour: Behaviour
  readonly #endpoints: ReadonlyMap<
    string,
    { readonly endpoint: ContractEndpoint; readonly method: string }
  >
  /** Where one model is read; null if it is not. */
  readonly #modelPath: string | null
  readonly #numberOf = connectionNumbers()
  readonly #trustsProxy: boolean
  #sequence: number

  /** @param trustsProxy whether all clients come through a proxy that names them */
  constructor(kit: Kit, behaviour: Behaviour, trustsProxy: boolean) {
    this.#kit = kit
    this.#behaviour = behaviour
    this.#trustsProxy = trustsProxy
    this.#endpoints = endpointsOf(kit.contract)
    this.#modelPath = kit.profile.clients === 'wide' ? `${kit.contract.paths.models}/` : null
    this.#sequence = (kit.database.startsBefore % 0x1_0000) * perLife
  }

  /** @param request from `node:http` */
  callOf(request: Pick<IncomingMessage, 'url' | 'method' | 'headers' | 'socket'>): Call {
    const { clock, random } = this.#kit
    const sequence = this.#sequence++
    const id = idOf(sequence, random())
    const incoming = new HttpRequest(
      request,
      sequence,
      id,
      clock.nowUs(),
      this.#numberOf,
      this.#trustsProxy,
    )
    const call = new Call(incoming, random)
    const path = this.#behaviour.path(call)
    const route = this.#endpoints.get(path)
    if (route?.method === incoming.method) call.endpoint = route.endpoint
    else if (this.#modelPath !== null && path.startsWith(this.#modelPath)) {
      if (incoming.method !== 'GET') return call
      call.endpoint = 'models'
      call.modelAsked = decoded(path.slice(this.#modelPath.length))
    }
    return call
  }
}

/** The start of a target from clients that take the service for a proxy (RFC 9112 §3.2.2). */
const schemeAndHost = /^https?:\/\/[^/?]*/i

/** Computes rarely used values only when they are read: each costs a new connection microseconds. */
class HttpRequest implements IncomingRequest {
  readonly sequence: number
  readonly id: string
  readonly atUs: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly #socket: Socket
  readonly #numberOf: (socket: object) => number
  readonly #trustsProxy: boolean

  constructor(
    { url = '/', method = 'GET', headers, socket }: Parameters<IncomingRequests['callOf']>[0],
    sequence: number,
    id: string,
    atUs: number,
    numberOf: (socket: object) => number,
    trustsProxy: boolean,
  ) {
    const target = url.startsWith('/') ? url : url.replace(schemeAndHost, '')
    const at = target.indexOf('?')
    this.sequence = sequence
    this.id = id
    this.atUs = atUs
    this.method = method === 'HEAD' ? 'GET' : method
    this.path = at < 0 ? target : target.slice(0, at)
    this.query = at < 0 ? '' : target.slice(at + 1)
    this.headers = headers
    this.#socket = socket
    this.#numberOf = numberOf
    this.#trustsProxy = trustsProxy
  }

  get connection(): number {
    return this.#numberOf(this.#socket)
  }

  onClosed(callback: () => void): void {
    if (this.#socket.destroyed) callback()
    else this.#socket.once('close', callback)
  }

  get remoteAddress(): string {
    const forwardedFor = this.#trustsProxy ? this.headers['x-forwarded-for'] : undefined
    // The proxy adds the last one. Its client could write anything before.
    return (
      String(forwardedFor ?? '')
        .split(',')
        .at(-1)!
        .trim() ||
      (this.#socket.remoteAddress ?? '')
    )
  }
}

function connectionNumbers() {
  let count = 0
  return onceForObject((_socket: object) => ++count)
}

/** Unique within a ledger's file by the sequence, and between services by the random half. */
function idOf(sequence: number, random: number): string {
  const drawn = Math.floor(random * 0x1_0000_0000)
  return (
    hex16(Math.floor(sequence / 0x1_0000_0000)).slice(2) +
    hex16((sequence >>> 16) & 0xffff) +
    hex16(sequence & 0xffff) +
    hex16(drawn >>> 16) +
    hex16(drawn & 0xffff)
  )
}

/** Four digits. Numbers above 2^31 are written ten times as slowly. */
const hex16 = (number: number): string => (0x1_0000 + number).toString(16).slice(1)

function endpointsOf({ paths }: FullContract) {
  return new Map<string, { endpoint: ContractEndpoint; method: string }>([
    [paths.chat, { endpoint: 'chat', method: 'POST' }],
    [paths.messages, { endpoint: 'messages', method: 'POST' }],
    [paths.models, { endpoint: 'models', method: 'GET' }],
    [paths.credits, { endpoint: 'credits', method: 'GET' }],
  ])
}
