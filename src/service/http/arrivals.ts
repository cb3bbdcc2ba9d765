import type { IncomingMessage } from 'node:http'
import type { Contract } from '../../contract/contract.ts'
import type { Endpoint } from '../../contract/request.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import { Call } from '../call.ts'

/** Makes a call of each request that comes in: numbered, stamped, and with its endpoint. */
export class Arrivals {
  readonly #kit: Kit
  readonly #behaviour: Behaviour
  readonly #endpoints: ReadonlyMap<string, { readonly endpoint: Endpoint; readonly method: string }>
  readonly #connections = new WeakMap<object, number>()
  #connectionCount = 0
  #sequence = 0

  constructor(kit: Kit, behaviour: Behaviour) {
    this.#kit = kit
    this.#behaviour = behaviour
    this.#endpoints = endpointsOf(kit.contract)
  }

  callOf(request: IncomingMessage): Call {
    const { clock, random } = this.#kit
    const url = request.url ?? '/'
    const at = url.indexOf('?')
    const sequence = this.#sequence++
    const arrival = {
      sequence,
      id: idOf(sequence, random()),
      atUs: clock.nowUs(),
      method: request.method ?? 'GET',
      path: at < 0 ? url : url.slice(0, at),
      query: at < 0 ? '' : url.slice(at + 1),
      headers: request.headers,
      connection: this.#connectionOf(request.socket),
      remoteAddress: request.socket.remoteAddress ?? '',
    }
    const call = new Call(arrival, random)
    const route = this.#endpoints.get(this.#behaviour.path(call))
    if (route !== undefined && route.method === arrival.method) call.endpoint = route.endpoint
    return call
  }

  #connectionOf(socket: object): number {
    let number = this.#connections.get(socket)
    if (number === undefined) {
      number = ++this.#connectionCount
      this.#connections.set(socket, number)
    }
    return number
  }
}

/** Unique within a service by its sequence, and between services by its random half. */
function idOf(sequence: number, random: number): string {
  return (
    sequence.toString(16).padStart(10, '0') +
    Math.floor(random * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0')
  )
}

function endpointsOf({ paths }: Contract) {
  return new Map<string, { endpoint: Endpoint; method: string }>([
    [paths.chat, { endpoint: 'chat', method: 'POST' }],
    [paths.messages, { endpoint: 'messages', method: 'POST' }],
    [paths.models, { endpoint: 'models', method: 'GET' }],
    [paths.credits, { endpoint: 'credits', method: 'GET' }],
  ])
}
