import { decoded } from '../../user/decoded.ts'
import { isObject } from '../../user/json.ts'
import { lookup } from '../../user/lookup.ts'
import type { Random } from '../random.ts'
import { words } from '../vocabulary.ts'
import type { Json } from './fields.ts'
import type { JsonSchema } from './generation-request.ts'

/** Requirements that a made-up value could miss. */
const unsupported = [
  ...['not', 'if', 'pattern', 'patternProperties', 'propertyNames', 'contains', 'minProperties'],
  ...['dependentRequired', 'dependentSchemas', 'dependencies', 'unevaluatedItems', '$dynamicRef'],
]
const combined = ['allOf', 'anyOf', 'oneOf'] as const
/** Deeper schemas than anybody writes, and schemas without a finite value. */
const maxDepth = 32
const maxItems = 100
/** Below it, properties that may be left out are left out, so that trees stay small. */
const maxOptionalDepth = 8
const maxValues = 2_000

class NoValue extends Error {}

/** Why no value of the schema can be made; null if one can. */
export function schemaIssue(schema: JsonSchema): string | null {
  try {
    valueFor(schema, () => 0)
    return null
  } catch (error) {
    if (error instanceof NoValue) return error.message
    throw error
  }
}

/**
 * A value that a JSON Schema accepts: all properties that it names, the fewest items, the first of
 * its alternatives. The same seed gives the same value.
 *
 * @throws NoValue for a schema that `schemaIssue` refuses
 */
export const valueFor = (schema: JsonSchema, random: Random): unknown =>
  new Maker(schema, random).value(schema, 0)

class Maker {
  readonly #root: JsonSchema
  readonly #random: Random
  #values = 0

  constructor(root: JsonSchema, random: Random) {
    this.#root = root
    this.#random = random
  }

  value(schema: unknown, depth: number): unknown {
    if (schema === true || schema === undefined) return this.#word()
    if (!isObject(schema)) throw new NoValue('expected a schema that has values; got false')
    if (++this.#values > maxValues) {
      throw new NoValue(`expected a schema whose value has at most ${maxValues} parts`)
    }
    if (depth > maxDepth) throw new NoValue(`expected a schema of at most ${maxDepth} levels`)
    const keyword = unsupported.find((each) => schema[each] !== undefined)
    if (keyword !== undefined) {
      throw new NoValue(`${keyword}: not done; this service makes up values without it`)
    }
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum)) return this.#oneOf(schema.enum)
    if (typeof schema.$ref === 'string') {
      return this.value({ ...this.#target(schema.$ref), ...without(schema, '$ref') }, depth + 1)
    }
    for (const name of combined) {
      const among = schema[name]
      if (!Array.isArray(among)) continue
      const rest = without(schema, name)
      if (name === 'allOf') return this.value(among.reduce(merged, rest), depth + 1)
      return this.#first(among, rest, depth)
    }
    return this.#ofType(schema, depth)
  }

  #first(among: readonly unknown[], rest: Json, depth: number): unknown {
    let fault: unknown = new NoValue('expected an alternative; got none')
    for (const each of among) {
      try {
        return this.value(merged(rest, each), depth + 1)
      } catch (error) {
        fault = error
      }
    }
    throw fault
  }

  #ofType(schema: Json, depth: number): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, depth)
      case 'integer':
      case 'number':
        return number(schema, this.#random)
      case 'boolean':
        return this.#random() < 0.5
      case 'null':
        return null
      case 'string':
        return this.#string(schema)
    }
    throw new NoValue(`type: expected a JSON type; got ${JSON.stringify(schema.type)}`)
  }

  #object(schema: Json, depth: number): object {
    const properties = isObject(schema.properties) ? schema.properties : {}
    const required = Array.isArray(schema.required) ? schema.required.map(String) : []
    const made: Record<string, unknown> = Object.create(null)
    for (const [name, each] of Object.entries(properties)) {
      if (depth > maxOptionalDepth && !required.includes(name)) continue
      try {
        made[name] = this.value(each, depth + 1)
      } catch (error) {
        // A property that may be left out, such as the next node of a list.
        if (required.includes(name)) throw error
      }
    }
    for (const name of required) {
      if (!Object.hasOwn(made, name))
        made[name] = this.value(schema.additionalProperties ?? true, depth + 1)
    }
    return { ...made }
  }

  #array(schema: Json, depth: number): readonly unknown[] {
    const first: readonly unknown[] = Array.isArray(schema.prefixItems)
      ? schema.prefixItems
      : Array.isArray(schema.items)
        ? schema.items
        : []
    const least = count(schema.minItems, 0)
    const most = count(schema.maxItems, maxItems)
    const items = Array.isArray(schema.items) ? schema.additionalItems : schema.items
    const wanted = Math.min(most, Math.max(least, first.length, items === undefined ? 0 : 1))
    if (least > maxItems) throw new NoValue(`minItems: expected at most ${maxItems}; got ${least}`)
    if (schema.uniqueItems === true && wanted > 1) {
      throw new NoValue('uniqueItems: not done for more than one item')
    }
    const made: unknown[] = []
    for (let at = 0; at < wanted; at++) {
      try {
        made.push(this.value(first[at] ?? items, depth + 1))
      } catch (error) {
        if (at >= least) break
        throw error
      }
    }
    return made
  }

  #string(schema: Json): string {
    const sample = typeof schema.format === 'string' ? samples[schema.format] : undefined
    if (sample !== undefined) return sample
    const least = count(schema.minLength, 0)
    if (least > 1_000) throw new NoValue(`minLength: expected at most 1000; got ${least}`)
    let text = this.#word()
    while (text.length < least) text += ` ${this.#word()}`
    return text.slice(0, count(schema.maxLength, text.length))
  }

  #word(): string {
    return words[Math.floor(this.#random() * words.length)]!
  }

  #oneOf(values: readonly unknown[]): unknown {
    if (values.length === 0) throw new NoValue('enum: expected a value; got none')
    return values[Math.floor(this.#random() * values.length)]
  }

  #target(ref: string): Json {
    let at: unknown = this.#root
    if (ref !== '#') {
      if (!ref.startsWith('#/'))
        throw new NoValue(`$ref: expected a place in this schema; got ${ref}`)
      for (const part of ref.slice(2).split('/')) {
        const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
        at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
      }
    }
    if (isObject(at)) return at
    throw new NoValue(`$ref: expected a place in this schema; got ${ref}`)
  }
}

/** One string for each format that has a grammar. */
const samples: Readonly<Record<string, string>> = lookup({
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P1D',
  email: 'reader@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '3f2b6c1e-8d4a-4b7f-9c05-1a2b3c4d5e6f',
})

function number(schema: Json, random: Random): number {
  const whole = typeOf(schema) === 'integer'
  const step = typeof schema.multipleOf === 'number' ? schema.multipleOf : whole ? 1 : 0.5
  const above = finite(schema.exclusiveMinimum)
  const below = finite(schema.exclusiveMaximum)
  const min = Math.max(finite(schema.minimum) ?? -Infinity, above ?? -Infinity)
  const max = Math.min(finite(schema.maximum) ?? Infinity, below ?? Infinity)
  const start = min === -Infinity ? (max === Infinity ? 1 : max - 10 * step) : min
  let value = Math.ceil(start / step) * step
  if (value === above) value += step
  const room = Math.min(10, Math.floor((max - value) / step))
  if (room > 0) value += Math.floor(random() * room) * step
  if (value > max || value === below) {
    throw new NoValue(`a number from ${min} to ${max} in steps of ${step}: none exists`)
  }
  return value
}

const finite = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

const count = (value: unknown, standard: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : standard

/** The first type that the schema allows; from its keywords if it names none. */
function typeOf(schema: Json): unknown {
  const { type } = schema
  if (Array.isArray(type)) return type[0]
  if (type !== undefined) return type
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  if (schema.minimum !== undefined || schema.maximum !== undefined) return 'number'
  return 'string'
}

function without(schema: Json, name: string): Json {
  const { [name]: _, ...rest } = schema
  return rest
}

/** Both schemas in one: properties and required names add up, the rest is the later's. */
function merged(one: Json, other: unknown): Json {
  if (!isObject(other)) {
    if (other === true) return one
    throw new NoValue('expected a schema that has values; got false')
  }
  const properties = { ...record(one.properties), ...record(other.properties) }
  const required = [...list(one.required), ...list(other.required)]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

const record = (value: unknown): Json => (isObject(value) ? value : {})

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
