import type { Message } from '../../client/call/request.ts'
import type { Endpoint } from '../../contract/request.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import type { ToolCall } from '../expect/answer.ts'

const name = 'look_up'
const description = 'Look up what is known about something.'
const schema = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look up.' } },
  required: ['query'],
}

/** The fields of a body that offer the tool of tasks, as its endpoint writes them. */
export function offeredTool(endpoint: Endpoint): Readonly<Record<string, unknown>> {
  switch (endpoint) {
    case 'messages':
      return { tools: [{ name, description, input_schema: schema }] }
    case 'responses':
      return { tools: [{ type: 'function', name, description, parameters: schema }] }
    default:
      return { tools: [{ type: 'function', function: { name, description, parameters: schema } }] }
  }
}

/** An answer that calls tools, as its endpoint writes it in a conversation. */
export function callMessages(
  endpoint: Endpoint,
  text: string | null,
  calls: readonly ToolCall[],
): readonly Message[] {
  const said = text === null || text === '' ? null : text
  switch (endpoint) {
    case 'messages': {
      const blocks = calls.map((call, at) => ({
        type: 'tool_use',
        id: idOf(call, at),
        name: call.name,
        input: inputOf(call.arguments),
      }))
      const content = said === null ? blocks : [{ type: 'text', text: said }, ...blocks]
      return [{ role: 'assistant', content }]
    }
    case 'responses': {
      const items = calls.map((call, at) => ({
        type: 'function_call',
        call_id: idOf(call, at),
        name: call.name,
        arguments: call.arguments,
      }))
      return said === null ? items : [{ role: 'assistant', content: said }, ...items]
    }
    default: {
      const made = calls.map((call, at) => ({
        id: idOf(call, at),
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      }))
      return [{ role: 'assistant', content: said, tool_calls: made }]
    }
  }
}

export function resultMessages(
  endpoint: Endpoint,
  calls: readonly ToolCall[],
  result: string,
): readonly Message[] {
  switch (endpoint) {
    case 'messages': {
      const content = calls.map((call, at) => ({
        type: 'tool_result',
        tool_use_id: idOf(call, at),
        content: result,
      }))
      return [{ role: 'user', content }]
    }
    case 'responses':
      return calls.map((call, at) => ({
        type: 'function_call_output',
        call_id: idOf(call, at),
        output: result,
      }))
    default:
      return calls.map((call, at) => ({
        role: 'tool',
        tool_call_id: idOf(call, at),
        content: result,
      }))
  }
}

/** Some services send calls without an id; a result must name one. */
const idOf = ({ id }: ToolCall, at: number) => id ?? `call_${at}`

/** The messages format wants arguments as an object, whatever the model wrote. */
const inputOf = (written: string): object => objectOf(jsonOf(written))
