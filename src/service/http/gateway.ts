import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { EvidenceApi } from '../money/evidence-api.ts'
import type { Pages } from '../pages/pages.ts'
import type { Refusal } from '../refusal.ts'
import { QueryError } from '../usage/report.ts'
import { Admission, noCredits, unknownModel } from './admission.ts'
import { IncomingRequests } from './incoming-requests.ts'
import type { OperatorApi } from './operator-api.ts'
import { PlainAnswer } from './plain-answer.ts'
import { Replays } from './replays.ts'
import { json, ResponseWriter } from './response-writer.ts'
import { signpost } from './signpost.ts'
import { StreamAnswer } from './stream-answer.ts'
import { endWith, refuseUnreadable } from './unreadable.ts'

/** More than any context window. */
const maxBodyBytes = 16 << 20
/** More than any form or operator call. Without a key, no more than this is kept of a body. */
const maxKeylessBytes = 64 << 10
const noKey: Refusal = {
  kind: 'key',
  message: 'a valid API key is required: make one on the dashboard',
}

/**
 * Takes each request through the same stages in the same order:
 *
 *     route ─▶ key ─▶ body ─┬─ rate ─┬─▶ reserve, count ─▶ generate ─▶ settle ─▶ write
 *                           ├─ request ┤    (the profile has the order of these three
 *                           └─ credits ┘     and whether a refused request counts)
 *
 * The key decides how much of the body is kept.
 */
export class Gateway {
  readonly #kit: Kit
  readonly #behaviour: Behaviour
  readonly #pages: Pages
  readonly #operatorApi: OperatorApi | null
  readonly #evidence: EvidenceApi | null
  readonly #replays = new Replays()
  readonly #incoming: IncomingRequests
  readonly #admission: Admission
  readonly #writer: ResponseWriter
  readonly #honestEvents: boolean

  /**
   * @param operatorApi the operator's endpoint; null if it is off
   * @param evidence reads of money; null if the service bills in credits
   * @param honestEvents whether no fault and no upstream changes the events of streams
   * @param trustsProxy whether all clients come through a proxy that names them
   */
  constructor(
    kit: Kit,
    behaviour: Behaviour,
    pages: Pages,
    operatorApi: OperatorApi | null,
    evidence: EvidenceApi | null,
    honestEvents: boolean,
    trustsProxy: boolean,
  ) {
    this.#kit = kit
    this.#operatorApi = operatorApi
    this.#evidence = evidence
    this.#pages = pages
    this.#behaviour = behaviour
    this.#incoming = new IncomingRequests(kit, behaviour, trustsProxy)
    this.#admission = new Admission(kit, behaviour)
    this.#writer = new ResponseWriter(kit, behaviour)
    this.#honestEvents = honestEvents
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const call = this.#incoming.callOf(request)
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const message = 'the headers: expected a Host, as HTTP/1.1 has it; got none'
      this.#writer.refuse(call, response, { kind: 'request', message })
      return
    }
    if (request.method === 'OPTIONS') {
      this.#preflight(call, request, response)
      return
    }
    const maxBytes = this.#holdsKey(call) ? maxBodyBytes : maxKeylessBytes
    let chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) chunks = []
      else chunks.push(chunk)
    })
    request.on('end', () => {
      if (bytes > maxBytes) {
        const message = `the body must not exceed ${maxBytes} bytes; got ${bytes}`
        call.bodyFault = { kind: 'request', message }
      } else call.body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      this.#safely(call, response)
    })
  }

  /** Whether the head has a key of this service. Its validity is decided later. */
  #holdsKey(call: Call): boolean {
    const presented = call.format === null ? null : this.#behaviour.presentedKey(call)
    return presented !== null && this.#kit.accounts.findKey(presented) !== null
  }

  /** Answers bytes that are not an HTTP request. */
  refuseUnreadable(error: Error, socket: Socket): void {
    refuseUnreadable(error, socket, this.#incoming, this.#writer)
  }

  /** Answers a request for a tunnel. The service has none. */
  refuseTunnel(request: IncomingMessage, socket: Socket): void {
    // The server no longer handles the socket's errors. Unhandled, one would end the process.
    socket.on('error', () => {})
    endWith(socket, () => {
      const call = this.#incoming.callOf(request)
      return this.#writer.refusalOf(call, this.#noEndpoint(call))
    })
  }

  #noEndpoint({ incoming: { method, path } }: Call): Refusal {
    const words = `no such endpoint: ${method} ${path.slice(0, 200)}`
    return { kind: 'path', message: words + signpost(this.#kit.contract, method, path) }
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
    this.#writer.write(call, response, 204, headers, '')
  }

  /** Turns an error of the service itself into a 500, so that the service goes on. */
  #safely(call: Call, response: ServerResponse): void {
    try {
      const refusal = this.#answer(call, response)
      if (refusal !== null) this.#writer.refuse(call, response, refusal)
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
      if (response.headersSent) response.destroy()
      else this.#writer.refuse(call, response, { kind: 'internal', message: 'the service failed' })
    }
  }

  /** Answers, or says why not. */
  #answer(call: Call, response: ServerResponse): Refusal | null {
    const behaviour = this.#behaviour
    if (call.endpoint === 'other') {
      if (call.bodyFault !== null) return call.bodyFault
      if (this.#evidence?.isAsked(call) === true)
        return this.#showMoney(call, response, this.#evidence)
      if (this.#pages(call, response)) return null
      const answer = this.#operatorApi?.answer(call) ?? null
      if (answer === null) return this.#noEndpoint(call)
      return this.#show(call, response, answer.body, answer.status)
    }
    const keyless = call.endpoint === 'models' && this.#kit.profile.modelsAuth === 'none'
    call.key = behaviour.keyFor(call, behaviour.presentedKey(call))
    if (call.key === null && !keyless) return noKey
    if (call.key !== null) this.#admission.measure(call)
    return call.endpoint === 'chat' || call.endpoint === 'messages'
      ? this.#generate(call, response)
      : this.#look(call, response, call.endpoint)
  }

  #showMoney(call: Call, response: ServerResponse, evidence: EvidenceApi): Refusal | null {
    call.key = this.#behaviour.keyFor(call, this.#behaviour.presentedKey(call))
    return call.key === null ? noKey : this.#show(call, response, evidence.answer(call))
  }

  #show(call: Call, response: ServerResponse, body: unknown, status = 200): null {
    const headers = { 'content-type': json }
    this.#writer.write(call, response, status, headers, JSON.stringify(body))
    return null
  }

  #look(call: Call, response: ServerResponse, endpoint: 'models' | 'credits'): Refusal | null {
    const { counts } = this.#kit.profile
    if (call.bodyFault !== null) return call.bodyFault
    if (endpoint === 'models' ? counts.models : counts.usage) this.#count(call)
    const behaviour = this.#behaviour
    const { modelAsked } = call
    const model = modelAsked === null ? null : behaviour.oneModel(call, modelAsked)
    if (modelAsked !== null && model === null) return unknownModel(this.#kit.contract, modelAsked)
    let body: object
    try {
      if (!behaviour.chargeRead(call)) return noCredits(call)
      body =
        endpoint === 'models'
          ? (model ?? behaviour.modelList(call))
          : behaviour.creditsBody(call, behaviour.creditsReport(call))
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      return { kind: 'request', message: error.message }
    }
    const headers = this.#writer.creditsHeader(
      call,
      call.available,
      this.#writer.rateHeaders(call, false),
    )
    headers['content-type'] = json
    this.#writer.write(call, response, 200, headers, JSON.stringify(body))
    return null
  }

  #generate(call: Call, response: ServerResponse): Refusal | null {
    const behaviour = this.#behaviour
    const replays = this.#kit.profile.idempotencyKey === 'replayed' ? this.#replays : null
    const replay = replays?.find(call) ?? null
    if (replay !== null) {
      this.#writer.write(call, response, replay.status, { ...replay.headers }, replay.body)
      return null
    }
    const refusal = this.#admission.admit(call)
    if (refusal !== null) return refusal
    const outage = behaviour.outage(call)
    if (outage !== null) return { kind: outage, message: 'the service failed; nothing was charged' }
    const after = behaviour.reserve(call)
    if (after === null) return noCredits(call)
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
      profile: this.#kit.profile,
      honestEvents: this.#honestEvents,
      writer: this.#writer,
      replays,
    }
    const answer = call.request?.stream === true ? new StreamAnswer(parts) : new PlainAnswer(parts)
    answer.start()
    return null
  }

  #count(call: Call): void {
    if (call.key === null) return
    this.#behaviour.count(call)
  }
}
