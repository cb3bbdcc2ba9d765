import { isObject } from '../../user/json.ts'

/** A content block of a checked request. */
type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking' }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: object
    }
  | {
      readonly type: 'tool_result'
      readonly tool_use_id: string
      readonly content?: string | readonly { readonly text: string }[]
    }

interface Message {
  readonly role: string
  readonly content: string | readonly Block[]
}

/**
 * Messages in the chat format. A tool call becomes a field of its message. A tool result becomes a
 * message of its own, before the user's text.
 */
export function chatMessages(messages: readonly Message[]): readonly object[] {
  return messages.flatMap(({ role, content }): readonly object[] => {
    if (typeof content === 'string') return [{ role, content }]
    const results: object[] = []
    const tool_calls: object[] = []
    let text = ''
    for (const block of content) {
      if (block.type === 'text') text += block.text
      else if (block.type === 'tool_result') {
        const { tool_use_id: tool_call_id, content: said = '' } = block
        const result = typeof said === 'string' ? said : said.map((each) => each.text).join('')
        results.push({ role: 'tool', tool_call_id, content: result })
      } else if (block.type === 'tool_use') {
        const { id, name, input } = block
        const call = { name, arguments: JSON.stringify(input) }
        tool_calls.push({ id, type: 'function', function: call })
      }
    }
    if (tool_calls.length > 0) return [{ role, content: text === '' ? null : text, tool_calls }]
    return results.length > 0 && text === '' ? results : [...results, { role, content: text }]
  })
}

type Json = Readonly<Record<string, unknown>>

/** Tools and the tool choice in the chat format; empty if there are none. */
export function chatTools({ tools, tool_choice: choice }: Json): object {
  if (!Array.isArray(tools) || tools.length === 0) return {}
  const functions = (tools as readonly Json[]).map(({ name, description, input_schema }) => ({
    type: 'function',
    function: { name, description, parameters: input_schema },
  }))
  if (!isObject(choice)) return { tools: functions }
  const { type, name, disable_parallel_tool_use: alone } = choice
  return {
    tools: functions,
    tool_choice:
      type === 'tool'
        ? { type: 'function', function: { name } }
        : type === 'any'
          ? 'required'
          : type,
    ...(alone === true ? { parallel_tool_calls: false } : {}),
  }
}

/** The error in the tools of a messages request; null if there is none. */
export function faultInTools({ tools, tool_choice: choice }: Json): string | null {
  if ((tools ?? null) !== null && !Array.isArray(tools)) return 'tools: expected an array'
  const unknown = ((tools ?? []) as readonly unknown[]).findIndex(
    (tool) => !isObject(tool) || typeof tool.name !== 'string' || !isObject(tool.input_schema),
  )
  if (unknown >= 0) {
    return `tools[${unknown}]: expected a name and an input_schema; others are not translated`
  }
  if ((choice ?? null) === null) return null
  if (((tools ?? []) as readonly unknown[]).length === 0) {
    return 'tool_choice: expected tools to choose from; got none'
  }
  const known = isObject(choice) && ['auto', 'any', 'none', 'tool'].includes(String(choice.type))
  return known ? null : 'tool_choice: expected an object with type auto, any, none or tool'
}
