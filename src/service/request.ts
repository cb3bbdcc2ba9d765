import type { Contract, Range } from '../contract/contract.ts'
import type { Profile } from './profile.ts'

export type Format = 'chat' | 'messages'

/** A generation request of either format, checked, with defaults filled in. */
export interface GenerationRequest {
  readonly format: Format
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly text: string }[]
  readonly system: string | null
  readonly maxTokens: number
  readonly n: number
  readonly stop: readonly string[]
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly temperature: number
  readonly topP: number
}

/** The requirements on requests of one format, as data, so that a fault can change one of them. */
export interface RequestRules {
  readonly required: readonly string[]
  readonly known: readonly string[]
  /** Null accepts any string. */
  readonly roles: readonly string[] | null
  readonly temperature: Range
  readonly penalty: Range
  readonly topP: Range
  /** Whether the ends of ranges are invalid. */
  readonly exclusive: boolean
  /** Whether "0.5" is a valid number. */
  readonly coerce: boolean
  readonly maxStops: number
  /** Whether surplus stop sequences are dropped, not refused. */
  readonly truncateStops: boolean
  readonly maxMaxTokens: number
  readonly maxN: number
  readonly systemIsDropped: boolean
  /** Whether messages may hold tool_use and tool_result blocks. Only an upstream reads them. */
  readonly toolBlocks: boolean
  /** Whether `stream: true` gets a stream. If not, it is accepted and one body answers it. */
  readonly streams: boolean
  readonly unknownFields: Profile['unknownFields']
  readonly emptyMessages: Profile['emptyMessages']
  readonly defaults: {
    readonly maxTokens: number
    readonly temperature: number
    readonly topP: number
    readonly stream: boolean
    readonly model: string
  }
}

export function requestRules(contract: Contract, profile: Profile, format: Format): RequestRules {
  const { defaults, limits, ranges } = contract
  const chat = format === 'chat'
  return {
    required: chat ? ['model', 'messages'] : ['model', 'messages', 'max_tokens'],
    known: chat ? chatFields : messagesFields,
    roles: chat ? ['system', 'user', 'assistant'] : ['user', 'assistant'],
    temperature: chat ? ranges.chatTemperature : ranges.messagesTemperature,
    penalty: ranges.penalty,
    topP:
      profile.topP === 'refused'
        ? { min: 0, max: 1 }
        : { min: -Number.MAX_VALUE, max: Number.MAX_VALUE },
    exclusive: false,
    coerce: false,
    maxStops: limits.maxStopSequences,
    truncateStops: false,
    maxMaxTokens:
      profile.maxTokens === 'refuse' ? limits.maxOutputTokens : limits.maxTokensParameter,
    maxN: profile.maxN,
    systemIsDropped: false,
    toolBlocks: false,
    streams: true,
    unknownFields: profile.unknownFields,
    emptyMessages: profile.emptyMessages,
    defaults: {
      maxTokens: defaults.maxTokens,
      temperature: defaults.temperature,
      topP: defaults.topP,
      stream: false,
      model: contract.models[0]?.id ?? '',
    },
  }
}

const chatFields = [
  ...['model', 'messages', 'temperature', 'max_tokens', 'top_p', 'frequency_penalty'],
  ...['presence_penalty', 'stream', 'stream_options', 'n', 'stop', 'user'],
]
const messagesFields = [
  ...['model', 'messages', 'max_tokens', 'system', 'temperature', 'top_p', 'stop_sequences'],
  ...['stream', 'metadata'],
]

/** The first error of a request, described for its sender. */
export class InvalidRequest {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Checks a parsed body against the rules of its format. Null and absent mean the same. */
export function readRequest(
  body: unknown,
  format: Format,
  rules: RequestRules,
): GenerationRequest | InvalidRequest {
  if (!isRecord(body))
    return new InvalidRequest(`the body: expected a JSON object; got ${typeName(body)}`)
  try {
    return read(new Fields(body, rules), format, rules)
  } catch (fault) {
    if (fault instanceof InvalidRequest) return fault
    throw fault
  }
}

function read(fields: Fields, format: Format, rules: RequestRules): GenerationRequest {
  fields.checkNames()
  const model = fields.string('model') ?? rules.defaults.model
  const messages = readMessages(fields, format, rules)
  const range = { min: 1, max: rules.maxMaxTokens }
  const maxTokens = fields.integer('max_tokens', range) ?? rules.defaults.maxTokens
  const temperature = fields.number('temperature', rules.temperature)
  const topP = fields.number('top_p', rules.topP)
  const stream = fields.boolean('stream')
  const shared = {
    format,
    model,
    messages,
    maxTokens,
    temperature: temperature ?? rules.defaults.temperature,
    topP: topP ?? rules.defaults.topP,
    stream: rules.streams && (stream ?? rules.defaults.stream),
  }
  if (format === 'messages') {
    const system = fields.string('system') ?? null
    fields.record('metadata')
    return {
      ...shared,
      system: rules.systemIsDropped ? null : system,
      n: 1,
      stop: fields.stops('stop_sequences', false),
      includeUsage: true,
    }
  }
  fields.number('frequency_penalty', rules.penalty)
  fields.number('presence_penalty', rules.penalty)
  fields.string('user')
  const options = fields.record('stream_options')
  return {
    ...shared,
    system: null,
    n: fields.integer('n', { min: 1, max: rules.maxN }) ?? 1,
    stop: fields.stops('stop', true),
    includeUsage: options?.include_usage === true,
  }
}

function readMessages(
  fields: Fields,
  format: Format,
  rules: RequestRules,
): GenerationRequest['messages'] {
  const list = fields.array('messages')
  if (list === undefined) return []
  if (list.length === 0 && rules.emptyMessages === 'refused') {
    throw new InvalidRequest('messages: expected at least one message; got none')
  }
  return list.map((message, index) => {
    const where = `messages[${index}]`
    if (!isRecord(message)) {
      throw new InvalidRequest(`${where}: expected an object; got ${typeName(message)}`)
    }
    const { role, content } = message
    if (typeof role !== 'string') {
      throw new InvalidRequest(`${where}.role: expected a string; got ${typeName(role)}`)
    }
    if (rules.roles !== null && !rules.roles.includes(role)) {
      throw new InvalidRequest(
        `${where}.role: expected one of ${rules.roles.join(', ')}; got ${shown(role)}`,
      )
    }
    return { role, text: readContent(content, `${where}.content`, format, rules) }
  })
}

/** A string, or in the messages format blocks, because its clients send them. */
function readContent(
  content: unknown,
  where: string,
  format: Format,
  { toolBlocks }: RequestRules,
): string {
  if (typeof content === 'string') return content
  if (format === 'messages' && Array.isArray(content)) {
    return content
      .map((block: unknown, index) => {
        const text = isRecord(block) ? textOf(block, toolBlocks) : null
        if (text !== null) return text
        const came = isRecord(block) ? `a block of type ${shown(block.type)}` : typeName(block)
        throw new InvalidRequest(`${where}[${index}]: expected a text block; got ${came}`)
      })
      .join('')
  }
  throw new InvalidRequest(`${where}: expected a string; got ${typeName(content)}`)
}

/** The counted text of a block; null if the block is invalid. */
function textOf(block: Readonly<Record<string, unknown>>, toolBlocks: boolean): string | null {
  const { type, text, id, name, input, tool_use_id: call, content = '' } = block
  if (type === 'text' && typeof text === 'string') return text
  // Clients send it back with an earlier answer. It has no further use.
  if (type === 'thinking') return ''
  if (!toolBlocks) return null
  if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string') {
    return isRecord(input) ? `${name} ${JSON.stringify(input)}` : null
  }
  if (type !== 'tool_result' || typeof call !== 'string') return null
  if (!Array.isArray(content)) return typeof content === 'string' ? content : null
  const texts = content.map((each: unknown) => (isRecord(each) ? textOf(each, false) : null))
  return texts.includes(null) ? null : texts.join('')
}

/** Reads one field at a time and reports each error by the field's name. */
class Fields {
  readonly #body: Readonly<Record<string, unknown>>
  readonly #rules: RequestRules

  constructor(body: Readonly<Record<string, unknown>>, rules: RequestRules) {
    this.#body = body
    this.#rules = rules
  }

  checkNames(): void {
    if (this.#rules.unknownFields === 'ignored') return
    const unknown = Object.keys(this.#body).find((name) => !this.#rules.known.includes(name))
    if (unknown !== undefined)
      throw new InvalidRequest(`${unknown.slice(0, 80)}: unknown parameter`)
  }

  #get(name: string): unknown {
    const value = this.#body[name]
    if (value !== undefined && value !== null) return value
    if (this.#rules.required.includes(name))
      throw new InvalidRequest(`${name}: required; got ${typeName(value)}`)
    return undefined
  }

  string(name: string): string | undefined {
    const value = this.#get(name)
    if (value === undefined || typeof value === 'string') return value
    throw new InvalidRequest(`${name}: expected a string; got ${typeName(value)}`)
  }

  boolean(name: string): boolean | undefined {
    const value = this.#get(name)
    if (value === undefined || typeof value === 'boolean') return value
    if (this.#rules.coerce && (value === 'true' || value === 'false')) return value === 'true'
    throw new InvalidRequest(`${name}: expected true or false; got ${typeName(value)}`)
  }

  array(name: string): readonly unknown[] | undefined {
    const value = this.#get(name)
    if (value === undefined || Array.isArray(value)) return value
    throw new InvalidRequest(`${name}: expected an array; got ${typeName(value)}`)
  }

  record(name: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#get(name)
    if (value === undefined || isRecord(value)) return value
    throw new InvalidRequest(`${name}: expected an object; got ${typeName(value)}`)
  }

  number(name: string, { min, max }: Range, what = 'a number'): number | undefined {
    let value = this.#get(name)
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
    const value = this.#get(name)
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

/** Whether the value is a JSON object and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value for a message, shortened. */
function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 40)
}

function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value)
    ? 'an array'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`
}
