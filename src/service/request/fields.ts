import type { Range } from '../../contract/contract.ts'
import { isObject } from '../../user/json.ts'
import type { RequestRules } from './rules.ts'

/** The first error of a request, described for its sender. */
export class InvalidRequest {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export type Json = Readonly<Record<string, unknown>>

/** Reads one field at a time and reports each error by the field's name. Null and absent are the same. */
export class Fields {
  readonly #body: Json
  readonly #rules: RequestRules

  constructor(body: Json, rules: RequestRules) {
    this.#body = body
    this.#rules = rules
  }

  checkNames(): void {
    if (this.#rules.unknownFields === 'ignored') return
    const unknown = Object.keys(this.#body).find((name) => !this.#rules.known.includes(name))
    if (unknown !== undefined)
      throw new InvalidRequest(`${unknown.slice(0, 80)}: unknown parameter`)
  }

  get(name: string): unknown {
    const value = this.#body[name]
    if (value !== undefined && value !== null) return value
    if (this.#rules.required.includes(name))
      throw new InvalidRequest(`${name}: required; got ${typeName(value)}`)
    return undefined
  }

  string(name: string): string | undefined {
    const value = this.get(name)
    if (value === undefined || typeof value === 'string') return value
    throw new InvalidRequest(`${name}: expected a string; got ${typeName(value)}`)
  }

  boolean(name: string): boolean | undefined {
    const value = this.get(name)
    if (value === undefined || typeof value === 'boolean') return value
    if (this.#rules.coerce && (value === 'true' || value === 'false')) return value === 'true'
    throw new InvalidRequest(`${name}: expected true or false; got ${typeName(value)}`)
  }

  array(name: string): readonly unknown[] | undefined {
    const value = this.get(name)
    if (value === undefined || Array.isArray(value)) return value
    throw new InvalidRequest(`${name}: expected an array; got ${typeName(value)}`)
  }

  record(name: string): Json | undefined {
    const value = this.get(name)
    if (value === undefined || isObject(value)) return value
    throw new InvalidRequest(`${name}: expected an object; got ${typeName(value)}`)
  }

  number(name: string, { min, max }: Range, what = 'a number'): number | undefined {
    let value = this.get(name)
    if (value === undefined) return undefined
    if (this.#rules.coerce && typeof value === 'string' && value !== '') value = Number(value)
    if (typeof value !== 'number') {
      throw new InvalidRequest(`${name}: expected ${what}; got ${typeName(value)}`)
    }
    const { exclusive } = this.#rules
    if (!(value >= min && value <= max) || (exclusive && (value === min || value === max))) {
      throw new InvalidRequest(`${name}: expected ${what} from ${min} to ${max}; got ${value}`)
    }
    return value
  }

  integer(name: string, range: Range): number | undefined {
    const value = this.number(name, range, 'an integer')
    if (value === undefined || Number.isInteger(value)) return value
    throw new InvalidRequest(`${name}: expected an integer; got ${value}`)
  }

  stops(name: string, alone: boolean): readonly string[] {
    const value = this.get(name)
    if (value === undefined) return []
    if (alone && typeof value === 'string') return [value]
    if (!Array.isArray(value)) {
      const expected = alone ? 'a string or an array' : 'an array'
      throw new InvalidRequest(`${name}: expected ${expected} of strings; got ${typeName(value)}`)
    }
    const { maxStops, truncateStops } = this.#rules
    if (value.length > maxStops && !truncateStops) {
      throw new InvalidRequest(
        `${name}: expected at most ${maxStops} sequences; got ${value.length}`,
      )
    }
    return value.slice(0, maxStops).map((stop: unknown) => {
      if (typeof stop === 'string') return stop
      throw new InvalidRequest(`${name}: expected strings; got ${typeName(stop)}`)
    })
  }
}

/** A value for a message, shortened. */
export const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 40)

export function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value)
    ? 'an array'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`
}
