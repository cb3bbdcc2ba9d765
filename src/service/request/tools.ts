import { isObject } from '../../user/json.ts'
import { type Fields, InvalidRequest, shown } from './fields.ts'
import type { Format, JsonSchema, Tool, ToolChoice } from './generation-request.ts'
import { schemaIssue } from './schema-value.ts'

/**
 * The functions of a request.
 *
 * @throws InvalidRequest for a tool of another kind, and for a schema whose values cannot be made
 */
export function readTools(
  fields: Fields,
  format: Format,
  sells: ReadonlySet<string>,
): readonly Tool[] {
  const given = fields.array('tools') ?? []
  return given.flatMap((tool, index) => {
    // A search that the service makes itself. Its price is on the list.
    if (sells.has('search') && isObject(tool) && /^web_search/.test(String(tool.type))) return []
    const where = `tools[${index}]`
    const { name, parameters } =
      format === 'chat' ? chatTool(tool, where) : messagesTool(tool, where)
    if (typeof name !== 'string' || name === '') {
      throw new InvalidRequest(`${where}: expected a name; got ${shown(name)}`)
    }
    const schema = parameters ?? {}
    if (!isObject(schema)) {
      throw new InvalidRequest(
        `${where}: expected a JSON Schema of its input; got ${shown(schema)}`,
      )
    }
    const issue = schemaIssue(schema)
    if (issue !== null) throw new InvalidRequest(`${where} (${name.slice(0, 64)}): ${issue}`)
    return { name, parameters: schema as JsonSchema }
  })
}

interface Parts {
  readonly name: unknown
  readonly parameters: unknown
}

function chatTool(tool: unknown, where: string): Parts {
  if (isObject(tool) && tool.type === 'function' && isObject(tool.function)) {
    return { name: tool.function.name, parameters: tool.function.parameters }
  }
  throw new InvalidRequest(
    `${where}: expected an object with type function, and the function; got ${shown(isObject(tool) ? tool.type : tool)}`,
  )
}

function messagesTool(tool: unknown, where: string): Parts {
  if (isObject(tool) && (tool.type ?? 'custom') === 'custom') {
    return { name: tool.name, parameters: tool.input_schema }
  }
  throw new InvalidRequest(
    `${where}: expected a tool of your own (name, input_schema); this service runs none itself; got ${shown(isObject(tool) ? tool.type : tool)}`,
  )
}

/** Without a choice, the model decides. */
export function readToolChoice(fields: Fields, format: Format, tools: readonly Tool[]): ToolChoice {
  const given = fields.get('tool_choice')
  if (given === undefined) return { kind: 'auto' }
  const choice = format === 'chat' ? chatChoice(given) : messagesChoice(given)
  if (choice === null) {
    const expected =
      format === 'chat'
        ? 'none, auto, required or a function'
        : 'an object with type none, auto, any or tool'
    throw new InvalidRequest(`tool_choice: expected ${expected}; got ${shown(given)}`)
  }
  if (tools.length === 0 && choice.kind !== 'none' && choice.kind !== 'auto') {
    throw new InvalidRequest('tool_choice: expected tools to choose from; got none')
  }
  if (choice.kind === 'named' && !tools.some(({ name }) => name === choice.name)) {
    throw new InvalidRequest(`tool_choice: expected one of the tools; got ${shown(choice.name)}`)
  }
  return choice
}

function chatChoice(given: unknown): ToolChoice | null {
  if (given === 'none' || given === 'auto' || given === 'required') return { kind: given }
  const named = isObject(given) && given.type === 'function' ? given.function : null
  return isObject(named) ? namedChoice(named.name) : null
}

function messagesChoice(given: unknown): ToolChoice | null {
  if (!isObject(given)) return null
  const { type, name } = given
  if (type === 'none' || type === 'auto') return { kind: type }
  if (type === 'any') return { kind: 'required' }
  return type === 'tool' ? namedChoice(name) : null
}

const namedChoice = (name: unknown): ToolChoice | null =>
  typeof name === 'string' ? { kind: 'named', name } : null
