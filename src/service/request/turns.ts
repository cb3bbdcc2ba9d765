import { isObject } from '../../user/json.ts'
import { type Fields, InvalidRequest, type Json, shown, typeName } from './fields.ts'
import type { Format, ReadMessage } from './generation-request.ts'
import type { RequestRules } from './rules.ts'

export interface Conversation {
  readonly turns: readonly ReadMessage[]
  readonly images: readonly string[]
}

/** The conversation of a request, as text and images. */
export function readTurns(fields: Fields, format: Format, rules: RequestRules): Conversation {
  const list = fields.array('messages')
  if (list === undefined) return { turns: [], images: [] }
  if (list.length === 0 && rules.emptyMessages === 'refused') {
    throw new InvalidRequest('messages: expected at least one message; got none')
  }
  const reader = new TurnReader(format, rules)
  const turns = list.map((message, index) => reader.turn(message, `messages[${index}]`))
  return { turns, images: reader.images }
}

/** The system prompt of the messages format: a string, or text blocks. */
export function readSystem(fields: Fields): string | null {
  const system = fields.get('system')
  if (system === undefined) return null
  if (typeof system === 'string') return system
  if (!Array.isArray(system)) {
    throw new InvalidRequest(`system: expected a string or text blocks; got ${typeName(system)}`)
  }
  return system
    .map((block: unknown, index) => {
      if (isObject(block) && block.type === 'text' && typeof block.text === 'string') {
        return block.text
      }
      throw new InvalidRequest(`system[${index}]: expected a text block; got ${blockName(block)}`)
    })
    .join('\n')
}

/** Reads one message after the other, because a tool's result must name an earlier call. */
class TurnReader {
  readonly images: string[] = []
  readonly #format: Format
  readonly #rules: RequestRules
  readonly #calls = new Set<string>()
  #results = 0

  constructor(format: Format, rules: RequestRules) {
    this.#format = format
    this.#rules = rules
  }

  turn(message: unknown, where: string): ReadMessage {
    if (!isObject(message)) {
      throw new InvalidRequest(`${where}: expected an object; got ${typeName(message)}`)
    }
    const { role } = message
    if (typeof role !== 'string') {
      throw new InvalidRequest(`${where}.role: expected a string; got ${typeName(role)}`)
    }
    const { roles } = this.#rules
    const isResult = this.#format === 'chat' && role === 'tool' && 'tool_call_id' in message
    if (roles !== null && !roles.includes(role) && !isResult) {
      throw new InvalidRequest(
        `${where}.role: expected one of ${roles.join(', ')}; got ${shown(role)}`,
      )
    }
    if (isResult) this.#answersCall(message.tool_call_id, `${where}.tool_call_id`)
    const called = this.#called(message, `${where}.tool_calls`)
    const { content } = message
    const isAbsent = content === null || content === undefined
    const before = this.#results
    const text = called !== '' && isAbsent ? '' : this.#content(content, `${where}.content`)
    return { role, text: text + called, answersTool: this.#results > before || isResult }
  }

  /** A string, text parts, or blocks. */
  #content(content: unknown, where: string): string {
    if (typeof content === 'string') return content
    if (!Array.isArray(content)) {
      throw new InvalidRequest(`${where}: expected a string; got ${typeName(content)}`)
    }
    return content
      .map((block: unknown, index) => {
        const at = `${where}[${index}]`
        const text = isObject(block) ? this.#block(block, at) : null
        if (text !== null) return text
        const what = this.#format === 'chat' ? 'a text part' : 'a text block'
        throw new InvalidRequest(`${at}: expected ${what}; got ${blockName(block)}`)
      })
      .join('')
  }

  /** The counted text of a part or a block; null if it is invalid. */
  #block(block: Json, where: string): string | null {
    if (block.type === 'text') return typeof block.text === 'string' ? block.text : null
    return this.#format === 'chat' ? this.#part(block, where) : this.#otherBlock(block, where)
  }

  #part({ type, refusal, image_url: image }: Json, where: string): string | null {
    if (type === 'refusal' && typeof refusal === 'string') return refusal
    if (this.#rules.relayed) return typeof type === 'string' ? '' : null
    if (type !== 'image_url') return null
    return this.#image(isObject(image) ? image.url : image, where)
  }

  #otherBlock(block: Json, where: string): string | null {
    const { type, name, input, source, tool_use_id: answered, content = '' } = block
    // Clients send it back with an earlier answer. It has no further use.
    if (type === 'thinking' || type === 'redacted_thinking') return ''
    if (type === 'tool_use' && typeof block.id === 'string' && typeof name === 'string') {
      if (!isObject(input)) return null
      this.#calls.add(block.id)
      return `${name} ${JSON.stringify(input)}`
    }
    if (type === 'image' && isObject(source)) return this.#image(source.data ?? source.url, where)
    if (type !== 'tool_result' || typeof answered !== 'string') return null
    if (!Array.isArray(content) && typeof content !== 'string') return null
    const id = `${where}.tool_use_id`
    if (typeof content === 'string') {
      this.#answersCall(answered, id)
      return content
    }
    const texts = content.map((each: unknown) =>
      isObject(each) && (each.type === 'text' || each.type === 'image')
        ? this.#block(each, where)
        : null,
    )
    if (texts.includes(null)) return null
    this.#answersCall(answered, id)
    return texts.join('')
  }

  #image(image: unknown, where: string): string | null {
    if (!this.#rules.images) {
      throw new InvalidRequest(`${where}: this service reads no images; expected text`)
    }
    if (typeof image !== 'string' || image === '') return null
    this.images.push(image)
    return ''
  }

  /** The names and arguments of the tool calls of an earlier answer. */
  #called({ tool_calls: calls }: Json, where: string): string {
    if (this.#format !== 'chat' || calls === undefined || calls === null) return ''
    if (!Array.isArray(calls)) {
      throw new InvalidRequest(`${where}: expected an array; got ${typeName(calls)}`)
    }
    return calls
      .map((call: unknown, index) => {
        const { id, function: called }: Json = isObject(call) ? call : {}
        const { name, arguments: given }: Json = isObject(called) ? called : {}
        if (typeof id === 'string' && typeof name === 'string' && typeof given === 'string') {
          this.#calls.add(id)
          return `${name} ${given}`
        }
        throw new InvalidRequest(
          `${where}[${index}]: expected an id and a function with its name and arguments`,
        )
      })
      .join('')
  }

  #answersCall(id: unknown, where: string): void {
    this.#results++
    if (typeof id === 'string' && this.#calls.has(id)) return
    throw new InvalidRequest(`${where}: expected the id of a tool call before it; got ${shown(id)}`)
  }
}

const blockName = (block: unknown): string =>
  isObject(block) ? `a block of type ${shown(block.type)}` : typeName(block)
