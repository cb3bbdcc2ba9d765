import type { Captured } from '../../client/row/capture.ts'
import { isObject, type JsonObject, jsonOf } from '../../user/json.ts'

/** What a response says, in any format: of a plain body or a stream. */
export interface AnswerContent {
  /** Null if it has none. */
  readonly text: string | null
  readonly tools: readonly ToolCall[]
}

export interface ToolCall {
  /** What its result must name; null if it has none. */
  readonly id: string | null
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly arguments: string
}

/** The text of a response, from which a conversation continues; null if it has none. */
export const answerOf = (captured: Captured | null): string | null =>
  captured === null ? null : contentOf(captured.body).text

/** @param body of a success, as it was received */
export function contentOf(body: string): AnswerContent {
  const content = new Content()
  const plain = parse(body)
  if (plain !== null) content.take(plain)
  else {
    for (const line of body.split(/\r\n|\n|\r/)) {
      if (!line.startsWith('data:')) continue
      const event = parse(line.slice(5))
      if (event !== null) content.take(event)
    }
  }
  return content.whole()
}

/** A document of any format, or an event of its stream; whatever a service sends, so nothing is certain. */
interface Said {
  readonly type?: unknown
  readonly index?: unknown
  readonly choices?: unknown
  readonly content?: unknown
  readonly delta?: unknown
  readonly content_block?: unknown
  readonly output?: unknown
  readonly item?: unknown
}

class Content {
  private readonly pieces: string[] = []
  private readonly calls = new Map<
    string,
    { id: string | null; name: string; readonly pieces: string[] }
  >()

  take(said: Said): void {
    const choice = list(said.choices).find(({ index }) => (index ?? 0) === 0)
    this.takeChoice(object(choice?.message) ?? object(choice?.delta))
    for (const [at, block] of list(said.content).entries()) this.takeBlock(block, at)
    for (const [at, item] of list(said.output).entries()) this.takeItem(item, at)
    const delta = object(said.delta)
    switch (said.type) {
      case 'content_block_start':
        this.takeBlock(object(said.content_block) ?? {}, said.index)
        break
      case 'content_block_delta':
        this.add(delta?.text)
        this.call(said.index, { piece: delta?.partial_json })
        break
      case 'response.output_text.delta':
        this.add(said.delta)
        break
      case 'response.output_item.done': {
        const item = object(said.item)
        if (item?.type === 'function_call') this.takeItem(item, item.id ?? item.call_id)
        break
      }
    }
  }

  whole(): AnswerContent {
    const tools = [...this.calls.values()].map(({ id, name, pieces }) => ({
      id,
      name,
      arguments: pieces.join(''),
    }))
    return { text: this.pieces.length === 0 ? null : this.pieces.join(''), tools }
  }

  private takeChoice(message: JsonObject | null): void {
    if (message === null) return
    this.add(message.content)
    for (const [at, call] of list(message.tool_calls).entries()) {
      const made = object(call.function)
      this.call(call.index ?? at, { id: call.id, name: made?.name, piece: made?.arguments })
    }
  }

  /** A block of the messages format. */
  private takeBlock(block: JsonObject, at: unknown): void {
    if (block.type !== 'tool_use') this.add(block.text)
    // A stream begins with an empty input, and then sends it in pieces.
    else {
      const piece = empty(block.input) ? '' : JSON.stringify(block.input)
      this.call(at, { id: block.id, name: block.name, piece })
    }
  }

  /** An item of the Responses format. */
  private takeItem(item: JsonObject, at: unknown): void {
    if (item.type === 'function_call') {
      this.call(at, { id: item.call_id, name: item.name, piece: item.arguments })
    }
    for (const block of list(item.content)) this.add(block.text)
  }

  private add(text: unknown): void {
    if (typeof text === 'string') this.pieces.push(text)
  }

  private call(at: unknown, { id, name, piece }: JsonObject): void {
    if (typeof name !== 'string' && typeof piece !== 'string') return
    const call = this.calls.get(String(at)) ?? { id: null, name: '', pieces: [] }
    this.calls.set(String(at), call)
    if (typeof id === 'string') call.id = id
    if (typeof name === 'string') call.name += name
    if (typeof piece === 'string') call.pieces.push(piece)
  }
}

const object = (value: unknown): JsonObject | null => (isObject(value) ? value : null)

const list = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const empty = (value: unknown) => {
  const fields = object(value)
  return fields === null || Object.keys(fields).length === 0
}

const parse = (text: string): Said | null => object(jsonOf(text))
