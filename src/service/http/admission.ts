import { isUtf8 } from 'node:buffer'
import type { FullContract } from '../../contract/contract.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Refusal } from '../refusal.ts'
import { InvalidRequest } from '../request/fields.ts'
import { readRequest } from '../request/read.ts'

/** Decides whether a call is admitted. The profile has the order of the checks. */
export class Admission {
  readonly #kit: Kit
  readonly #behaviour: Behaviour

  constructor(kit: Kit, behaviour: Behaviour) {
    this.#kit = kit
    this.#behaviour = behaviour
  }

  /** Records the balance, the band and the counters at admission. */
  measure(call: Call): void {
    const behaviour = this.#behaviour
    call.available = behaviour.available(call)
    call.band = behaviour.band(call, call.available)
    call.limits = behaviour.limits(call)
    call.subject = behaviour.rateSubject(call)
    call.look = behaviour.look(call)
  }

  /** The first failed check in the profile's order; null if the call is admitted. */
  admit(call: Call): Refusal | null {
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

  /** Parses and checks the body. Returns the error; null if there is none. */
  #read(call: Call): Refusal | null {
    if (call.bodyFault !== null) return call.bodyFault
    const behaviour = this.#behaviour
    const body = parseJson(call.body)
    const request =
      body instanceof InvalidRequest
        ? body
        : readRequest(body, call.format ?? 'chat', behaviour.rules(call))
    if (request instanceof InvalidRequest) return { kind: 'request', message: request.message }
    call.request = request
    call.model = behaviour.modelFor(call, request.model)
    if (call.model === null) return unknownModel(this.#kit.contract, request.model)
    call.promptTokens = behaviour.promptTokens(call, request)
    return behaviour.fits(call)
  }
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return new InvalidRequest('the body: expected a JSON object; got nothing')
  if (!isUtf8(bytes)) return new InvalidRequest('the body: expected JSON in UTF-8; got other bytes')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return new InvalidRequest(`the body: expected JSON in UTF-8; ${why.slice(0, 200)}`)
  }
}

export function unknownModel({ models }: FullContract, asked: string): Refusal {
  const known = models.map(({ id }) => id).join(', ')
  return { kind: 'model', message: `model: expected one of ${known}; got "${asked.slice(0, 100)}"` }
}

export function noCredits(call: Call): Refusal {
  if (call.money !== null) {
    const { price, balance, currency, counter } = call.money
    const left = counter === undefined ? `the balance is ${balance}` : `the spend is ${counter}`
    return {
      kind: 'credits',
      message: `the request may cost ${price} ${currency}; ${left} ${currency}`,
    }
  }
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
