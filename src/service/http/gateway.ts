import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Contract } from '../../contract/contract.ts'
import type { Endpoint } from '../../contract/request.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import { Call } from '../call.ts'
import type { Pages } from '../pages/pages.ts'
import { type Refusal, statusOf } from '../refusal.ts'
import { InvalidRequest, readRequest } from '../request.ts'
import { QueryError } from '../usage/report.ts'
import type { OperatorDesk } from './operator-desk.ts'
import { PlainAnswer } from './plain-answer.ts'
import { Replays } from './replays.ts'
import { StreamAnswer } from './stream-answer.ts'

/** More than any context window; beyond it a body is not read to its end. */
const maxBodyBytes = 16 << 20

/**
 * Takes each request through the stations, in one order for all:
 *
 *     route ─▶ body ─▶ key ─┬─ rate ─┬─▶ reserve, count ─▶ generate ─▶ settle ─▶ write
 *                           ├─ request ┤    (the order of these three is the profile's,
 *                           └─ credits ┘     and so is what a refusal counts for)
 */
export class Gateway {
  readonly #kit: Kit
  readonly #behaviour: Behaviour
  readonly #pages: Pages
  readonly #desk: OperatorDesk | null
  readonly #replays = new Replays()
  readonly #endpoints: ReadonlyMap<string, { readonly endpoint: Endpoint; readonly method: string }>
  readonly #connections = new WeakMap<object, number>()
  #connectionCount = 0
  #sequence = 0

  /** @param desk the operator's endpoint; null unless it was asked for */
  constructor(kit: Kit, behaviour: Behaviour, pages: Pages, desk: OperatorDesk | null) {
    this.#kit = kit
    this.#desk = desk
    this.#pages = pages
    this.#behaviour = behaviour
    this.#endpoints = endpointsOf(kit.contract)
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const call = this.#callOf(request)
    if (request.method === 'OPTIONS') {
      this.#preflight(call, request, response)
      return
    }
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBodyBytes) chunks.push(chunk)
    })
    request.on('end', () => {
      call.body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      if (bytes > maxBodyBytes) {
        const message = `the body must not exceed ${maxBodyBytes} bytes; got ${bytes}`
        this.#refuse(call, response, { kind: 'request', message })
      } else this.#safely(call, response)
    })
  }

  #callOf(request: IncomingMessage): Call {
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

  #preflight(call: Call, request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    const asked = request.headers['access-control-request-headers']
    const headers = {
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers':
        typeof asked === 'string' && asked !== ''
          ? asked
          : 'authorization, x-api-key, content-type',
      'access-control-max-age': '600',
      vary: 'access-control-request-headers',
    }
    this.#write(call, response, 204, headers, '')
  }

  /** A fault of our own is a 500, and not the end of the service. */
  #safely(call: Call, response: ServerResponse): void {
    try {
      this.#answer(call, response)
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
      if (response.headersSent) response.destroy()
      else this.#refuse(call, response, { kind: 'internal', message: 'the service failed' })
    }
  }

  #answer(call: Call, response: ServerResponse): void {
    const behaviour = this.#behaviour
    if (call.endpoint === 'other') {
      if (this.#pages.handle(call, response)) return
      const desk = this.#desk?.answer(call) ?? null
      if (desk !== null) {
        const body = JSON.stringify(desk.body)
        this.#write(call, response, desk.status, { 'content-type': json }, body)
        return
      }
      const message = `no such endpoint: ${call.arrival.method} ${call.arrival.path.slice(0, 200)}`
      this.#refuse(call, response, { kind: 'path', message })
      return
    }
    const keyless = call.endpoint === 'models' && this.#kit.profile.modelsAuth === 'none'
    call.key = behaviour.keyFor(call, behaviour.presentedKey(call))
    if (call.key === null && !keyless) {
      const message = 'a valid API key is required: make one on the dashboard'
      this.#refuse(call, response, { kind: 'key', message })
      return
    }
    if (call.key !== null) this.#measure(call)
    if (call.endpoint === 'chat' || call.endpoint === 'messages') this.#generate(call, response)
    else this.#look(call, response, call.endpoint)
  }

  /** What balance, band and counters say at admission. */
  #measure(call: Call): void {
    const behaviour = this.#behaviour
    call.available = behaviour.available(call)
    call.band = behaviour.band(call, call.available)
    call.limits = behaviour.limits(call)
    call.subject = behaviour.rateSubject(call)
    call.look = behaviour.look(call)
  }

  #look(call: Call, response: ServerResponse, endpoint: 'models' | 'credits'): void {
    const { counts } = this.#kit.profile
    if (endpoint === 'models' ? counts.models : counts.usage) this.#count(call)
    let body: object
    try {
      body =
        endpoint === 'models'
          ? this.#behaviour.modelList(call)
          : this.#behaviour.creditsReport(call)
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      this.#refuse(call, response, { kind: 'request', message: error.message })
      return
    }
    const headers = this.#creditsHeader(call, call.available, this.#rateHeaders(call, false))
    headers['content-type'] = json
    this.#write(call, response, 200, headers, JSON.stringify(body))
  }

  #generate(call: Call, response: ServerResponse): void {
    const behaviour = this.#behaviour
    const replays = this.#kit.profile.idempotencyKey === 'replayed'
    const replay = replays ? this.#replays.find(call) : null
    if (replay !== null) {
      this.#write(call, response, replay.status, { ...replay.headers }, replay.body)
      return
    }
    const refusal = this.#admit(call)
    if (refusal !== null) {
      this.#refuse(call, response, refusal)
      return
    }
    const outage = behaviour.outage(call)
    if (outage !== null) {
      this.#refuse(call, response, {
        kind: outage,
        message: 'the service failed; nothing was charged',
      })
      return
    }
    const after = behaviour.reserve(call)
    if (after === null) {
      this.#refuse(call, response, noCredits(call))
      return
    }
    call.creditsAfter = after
    if (this.#kit.profile.bandAt === 'after-charge') {
      call.band = behaviour.band(call, after)
      call.limits = behaviour.limits(call)
      call.look = behaviour.look(call)
    }
    this.#count(call)
    const parts = {
      call,
      response,
      behaviour,
      database: this.#kit.database,
      creditsSemantics: this.#kit.profile.creditsHeader,
      head: (credits: number) => this.#creditsHeader(call, credits, this.#rateHeaders(call, false)),
      write: (status: number, headers: Record<string, string>, body: string) => {
        if (replays) this.#replays.keep(call, { status, headers: { ...headers }, body })
        this.#write(call, response, status, headers, body)
      },
      writeHead: (status: number, headers: Record<string, string>) =>
        response.writeHead(status, this.#finished(call, status, headers)),
      refuse: (failure: Refusal) => this.#refuse(call, response, failure),
    }
    const answer = call.request?.stream === true ? new StreamAnswer(parts) : new PlainAnswer(parts)
    answer.start()
  }

  /** The first failure in the profile's order; null admits. */
  #admit(call: Call): Refusal | null {
    const invalid = this.#read(call)
    for (const station of this.#kit.profile.precedence) {
      switch (station) {
        case 'key':
          break
        case 'rate':
          if (call.look !== null && call.look.refusedBy !== null) return rateRefusal(call)
          break
        case 'request':
          if (invalid !== null) return invalid
          break
        case 'credits':
          call.price = this.#behaviour.price(call)
          if (!this.#behaviour.affords(call)) return noCredits(call)
          break
      }
    }
    return null
  }

  /** Parses and checks the body; what is wrong with it, or null. */
  #read(call: Call): Refusal | null {
    const behaviour = this.#behaviour
    const body = parseJson(call.body)
    if (body === undefined) {
      return { kind: 'request', message: 'the body must be JSON in UTF-8' }
    }
    const request = readRequest(body, call.format ?? 'chat', behaviour.rules(call))
    if (request instanceof InvalidRequest) return { kind: 'request', message: request.message }
    call.request = request
    call.model = behaviour.modelFor(call, request.model)
    if (call.model === null) {
      return { kind: 'model', message: `no such model: ${request.model.slice(0, 100)}` }
    }
    call.promptTokens = behaviour.promptTokens(call, request)
    return behaviour.fits(call)
  }

  #count(call: Call): void {
    if (call.key === null) return
    this.#behaviour.count(call)
  }

  #refuse(call: Call, response: ServerResponse, refusal: Refusal): void {
    const { profile } = this.#kit
    const { counts } = profile
    const counted = {
      request: counts.request,
      model: counts.request,
      context: counts.request,
      credits: counts.credits,
      rate: counts.rate,
      key: false,
      path: false,
      internal: false,
      unavailable: false,
    }[refusal.kind]
    if (counted) this.#count(call)
    const error = this.#behaviour.wireError(call, refusal)
    const limited = statusOf(refusal.kind, profile) === 429
    const headers = limited || profile.rateHeadersOnErrors ? this.#rateHeaders(call, limited) : {}
    if (profile.creditsHeaderOnErrors && call.key !== null) {
      this.#creditsHeader(call, this.#behaviour.available(call), headers)
    }
    headers['content-type'] = json
    const body = JSON.stringify(this.#behaviour.errorBody(call, error))
    this.#write(call, response, error.status, headers, body)
  }

  #rateHeaders(call: Call, refused: boolean): Record<string, string> {
    return call.look === null ? {} : this.#behaviour.rateHeaders(call, call.look, refused)
  }

  /** Adds the header to others. */
  #creditsHeader(
    call: Call,
    credits: number,
    headers: Record<string, string>,
  ): Record<string, string> {
    if (call.key === null) return headers
    const value = this.#behaviour.creditsHeader(call, credits)
    if (value !== null) headers[this.#kit.contract.headers.creditsRemaining] = value
    return headers
  }

  #finished(call: Call, status: number, headers: Record<string, string>): Record<string, string> {
    headers.date = this.#date()
    headers['x-request-id'] = call.arrival.id
    return this.#behaviour.headers(call, status, headers)
  }

  /** Writes a whole response, once everything that it acknowledges is committed. */
  #write(
    call: Call,
    response: ServerResponse,
    status: number,
    headers: Record<string, string>,
    body: string,
  ): void {
    const reply = this.#behaviour.reply(call, {
      status,
      headers: this.#finished(call, status, headers),
      body,
    })
    this.#kit.database.afterCommit(() => {
      const { length } = reply.body
      const bytes = Buffer.byteLength(reply.body)
      if (status !== 204) reply.headers['content-length'] = String(bytes)
      response.writeHead(reply.status, reply.headers)
      // As many bytes as characters: ASCII, which goes out without being encoded.
      if (typeof reply.body === 'string' && bytes === length) response.end(reply.body, 'latin1')
      else response.end(reply.body)
    })
  }

  #dateSecond = -1
  #dateText = ''

  /** The service's own time, as HTTP writes it; made anew once a second. */
  #date(): string {
    const second = Math.floor(this.#kit.clock.nowUs() / 1e6)
    if (second !== this.#dateSecond) {
      this.#dateSecond = second
      this.#dateText = new Date(second * 1000).toUTCString()
    }
    return this.#dateText
  }
}

const json = 'application/json; charset=utf-8'

/** Undefined for what is not UTF-8 or not JSON. */
function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function noCredits(call: Call): Refusal {
  return {
    kind: 'credits',
    message: `the request costs ${call.price} credits; the balance is ${call.available}`,
  }
}

function rateRefusal(call: Call): Refusal {
  const window = call.look?.refusedBy ?? 'minute'
  return {
    kind: 'rate',
    message: `more than ${call.limits[window]} requests per ${window}; try again later`,
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
