import type { ServerResponse } from 'node:http'
import type { Behaviour, Kit, ServiceResponse } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Refusal, RefusalKind } from '../refusal.ts'

export const json = 'application/json; charset=utf-8'

/**
 * Writes the responses of the service: with the headers that all have, with errors in the form of the request's format, and only
 * once the charges that a response acknowledges are committed.
 */
export class ResponseWriter {
  readonly #kit: Kit
  readonly #behaviour: Behaviour

  constructor(kit: Kit, behaviour: Behaviour) {
    this.#kit = kit
    this.#behaviour = behaviour
  }

  /** Whether a refused request counts towards the limits: the profile decides (G-18). */
  #isCounted(kind: RefusalKind): boolean {
    const { counts } = this.#kit.profile
    switch (kind) {
      case 'request':
      case 'model':
      case 'context':
        return counts.request
      case 'credits':
        return counts.credits
      case 'rate':
        return counts.rate
      default:
        return false
    }
  }

  /** Answers a request with an error. */
  refuse(call: Call, response: ServerResponse, refusal: Refusal): void {
    const { status, headers, body } = this.#refusal(call, refusal)
    this.write(call, response, status, headers, body)
  }

  /** A whole refusal, for a caller without a response to write it to. */
  refusalOf(call: Call, refusal: Refusal): ServiceResponse {
    const { status, headers, body } = this.#refusal(call, refusal)
    return this.#whole(call, status, headers, body)
  }

  #refusal(call: Call, refusal: Refusal) {
    const { profile } = this.#kit
    if (call.key !== null && this.#isCounted(refusal.kind)) this.#behaviour.count(call)
    const error = this.#behaviour.wireError(call, refusal)
    const limited = refusal.kind === 'rate'
    const headers = limited || profile.rateHeadersOnErrors ? this.rateHeaders(call, limited) : {}
    if (profile.creditsHeaderOnErrors && call.key !== null) {
      this.creditsHeader(call, this.#behaviour.available(call), headers)
    }
    if (refusal.retryAfter !== undefined) headers['retry-after'] = refusal.retryAfter
    headers['content-type'] = json
    const body = JSON.stringify(this.#behaviour.errorBody(call, error))
    return { status: error.status, headers, body }
  }

  /** The headers of the limits; none if nothing was asked of the limiter. */
  rateHeaders(call: Call, refused: boolean): Record<string, string> {
    return call.look === null ? {} : this.#behaviour.rateHeaders(call, call.look, refused)
  }

  /** Adds the header to others. */
  creditsHeader(
    call: Call,
    credits: number,
    headers: Record<string, string>,
  ): Record<string, string> {
    if (call.key === null) return headers
    const value = this.#behaviour.creditsHeader(call, credits)
    if (value !== null) headers[this.#kit.contract.headers.creditsRemaining[0]] = value
    return headers
  }

  /** Adds the headers that every response has. */
  finished(call: Call, status: number, headers: Record<string, string>): Record<string, string> {
    headers.date = this.#date()
    headers['x-request-id'] = call.incoming.id
    return this.#behaviour.headers(call, status, headers)
  }

  /** Writes a whole response once everything that it acknowledges is committed. */
  write(
    call: Call,
    response: ServerResponse,
    status: number,
    headers: Record<string, string>,
    body: string,
  ): void {
    const whole = this.#whole(call, status, headers, body)
    this.#kit.database.afterCommit(() => {
      const { length } = whole.body
      const bytes = Buffer.byteLength(whole.body)
      if (status !== 204) whole.headers['content-length'] = String(bytes)
      response.writeHead(whole.status, whole.headers)
      // As many bytes as characters means ASCII, which needs no encoding.
      if (typeof whole.body === 'string' && bytes === length) response.end(whole.body, 'latin1')
      else response.end(whole.body)
    })
  }

  /** The response as it is sent, after a fault may have changed it. */
  #whole(
    call: Call,
    status: number,
    headers: Record<string, string>,
    body: string,
  ): ServiceResponse {
    return this.#behaviour.respond(call, {
      status,
      headers: this.finished(call, status, headers),
      body,
    })
  }

  #dateSecond = -1
  #dateText = ''

  /** The service's time as HTTP writes it, computed once a second. */
  #date(): string {
    const second = Math.floor(this.#kit.clock.nowUs() / 1e6)
    if (second !== this.#dateSecond) {
      this.#dateSecond = second
      this.#dateText = new Date(second * 1000).toUTCString()
    }
    return this.#dateText
  }
}
