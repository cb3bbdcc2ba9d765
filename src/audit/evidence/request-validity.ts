import type { Contract, Range } from '../../contract/contract.ts'
import type { Promised } from '../../contract/request.ts'
import { isList, isObject, type Json, type JsonObject } from '../../user/json.ts'

/** The specification's judgement of a request: the promises that it breaks, each with its rule, and what is left open. */
export interface RequestValidity {
  readonly issues: readonly RequestIssue[]
  /** Parts that may be accepted or refused (gaps G-29, G-31). */
  readonly open: readonly string[]
  /** Parts that must be accepted, with the rule: ends of ranges, all listed roles. */
  readonly allowed: readonly RequestIssue[]
}

export interface RequestIssue {
  readonly rule: string
  readonly what: string
}

/** Judges the body of a generation request. Null counts as absent where it is the default; no promised range is open. */
export function validityOf(
  contract: Contract,
  format: Promised,
  body: Json | undefined,
): RequestValidity {
  const issues: RequestIssue[] = []
  const open: string[] = []
  const allowed: RequestIssue[] = []
  const rules = format === 'chat' ? chatRules : messagesRules
  if (!isObject(body)) {
    issues.push({ rule: rules.required, what: 'a body that is not a JSON object' })
    return { issues, open, allowed }
  }
  const issue = (rule: string, what: string) => void issues.push({ rule, what })
  const allow = (rule: string, what: string) => void allowed.push({ rule, what })

  for (const field of rules.requiredFields) {
    if (body[field] === undefined || body[field] === null) issue(rules.required, `no ${field}`)
  }
  if (present(body, 'model') && typeof body.model !== 'string')
    issue(rules.types, 'a model that is not a string')
  judgeMessages(body.messages, rules)

  const { ranges = {}, limits = {} } = contract
  const temperature = format === 'chat' ? ranges.chatTemperature : ranges.messagesTemperature
  judgeNumber('temperature', rules.temperature, temperature)
  const topP = given('top_p')
  if (topP !== undefined && typeof topP !== 'number') issue(rules.types, 'top_p of a wrong type')
  else if (topP !== undefined && !within(topP, { min: 0, max: 1 })) open.push('top_p')
  if (format === 'chat') {
    judgeNumber('frequency_penalty', rules.types, ranges.penalty)
    judgeNumber('presence_penalty', rules.types, ranges.penalty)
    judgeType('user', 'string')
    judgeWhole('n', { min: 1, max: 4 }, true)
    if (given('stream_options') !== undefined) open.push('stream_options')
  } else {
    // Clients of the format send blocks, of which the specification says nothing.
    if (isList(body.system)) open.push('system in blocks')
    else judgeType('system', 'string')
    const metadata = given('metadata')
    if (metadata !== undefined && !isObject(metadata))
      issue(rules.types, 'metadata of a wrong type')
  }
  judgeType('stream', 'boolean')
  judgeMaxTokens()
  judgeStops(format === 'chat' ? 'stop' : 'stop_sequences')
  for (const field of Object.keys(body)) if (!rules.fields.includes(field)) open.push(field)
  return { issues, open, allowed }

  function judgeNumber(field: string, rule: string, range: Range | undefined): void {
    const value = given(field)
    if (value === undefined) return
    if (range === undefined) open.push(field)
    else if (typeof value !== 'number') issue(rules.types, `${field} of a wrong type`)
    else if (!within(value, range)) issue(rule, `${field} ${value}`)
    else allow(rule, `${field} ${value}`)
  }

  function judgeWhole(field: string, { min, max }: Range, openAbove: boolean): void {
    const value = given(field)
    if (value === undefined) return
    if (typeof value !== 'number' || !Number.isInteger(value))
      issue(rules.types, `${field} that is not an integer`)
    else if (value < min || (openAbove && value > max)) open.push(`${field} ${value}`)
    else if (value > max) issue(rules.types, `${field} ${value}`)
    else allow(rules.types, `${field} ${value}`)
  }

  function judgeMaxTokens(): void {
    const { maxTokensParameter: largest = Infinity, maxOutputTokens: output } = limits
    const asked = (body as JsonObject).max_tokens
    const isLegal =
      typeof asked === 'number' && Number.isInteger(asked) && asked >= 1 && asked <= largest
    if (!isLegal || output !== undefined) judgeWhole('max_tokens', { min: 1, max: largest }, false)
    if (!isLegal) return
    if (output === undefined) open.push('max_tokens without a promised limit')
    else if (asked > output) open.push('max_tokens above the output limit')
  }

  function judgeType(field: string, type: 'string' | 'boolean'): void {
    const value = given(field)
    if (value !== undefined && typeof value !== type) issue(rules.types, `${field} of a wrong type`)
  }

  function judgeStops(field: string): void {
    const value = given(field)
    if (value === undefined) return
    const stops = isList(value) ? value : [value]
    if (!isList(value) && (format === 'messages' || typeof value !== 'string')) {
      issue(rules.types, `${field} of a wrong type`)
    } else if (stops.some((stop) => typeof stop !== 'string')) {
      issue(rules.types, `${field} of a wrong type`)
    } else if (limits.maxStopSequences === undefined && stops.length > 1) {
      open.push(`${stops.length} stop sequences without a promised limit`)
    } else if (stops.length > (limits.maxStopSequences ?? Infinity)) {
      issue(rules.types, `${stops.length} stop sequences`)
    } else if (stops.some((stop) => stop === '')) open.push(`an empty ${field}`)
    else allow(rules.types, `${stops.length} stop sequences`)
  }

  function judgeMessages(
    messages: Json | undefined,
    { roles, role: rule }: typeof chatRules,
  ): void {
    if (messages === undefined || messages === null) return
    if (!isList(messages)) {
      issue(rules.types, 'messages that are not a list')
      return
    }
    if (messages.length === 0) open.push('empty messages')
    for (const message of messages) {
      if (!isObject(message)) issue(rule, 'a message that is not an object')
      else if (isToolTurn(message)) open.push('a turn of a tool')
      else if (message.role === undefined || message.role === null)
        issue(rule, 'a message without role')
      else if (typeof message.role !== 'string' || !roles.includes(message.role)) {
        issue(rule, `role ${JSON.stringify(message.role)}`)
      } else if (message.content === undefined || message.content === null) {
        issue(rule, 'a message without content')
      } else if (isList(message.content)) open.push('content in parts')
      else if (typeof message.content !== 'string') issue(rule, 'content of a wrong type')
      else allow(rule, `role ${message.role}`)
    }
  }

  /** Null is the default of some fields, and open for the others. It is never judged. */
  function given(field: string): Json | undefined {
    const value = (body as JsonObject)[field]
    if (value === null && !rules.nullable.includes(field)) open.push(`${field} null`)
    return value === null ? undefined : value
  }
}

/**
 * A call of a tool or of a function, its result, or an answer that was a sound or a refusal, in the chat format. The
 * specification says nothing of them.
 */
function isToolTurn(message: JsonObject): boolean {
  const { role, tool_calls: calls, function_call: called, tool_call_id: answered } = message
  if (role === 'assistant')
    return isList(calls) || isObject(called) || isObject(message.audio) || !!message.refusal
  return (role === 'tool' && typeof answered === 'string') || role === 'function'
}

const present = (body: JsonObject, field: string): boolean =>
  body[field] !== undefined && body[field] !== null

const within = (value: number, { min, max }: Range): boolean => value >= min && value <= max

const chatRules = {
  required: 'CHAT-10',
  role: 'CHAT-11',
  types: 'CHAT-12',
  temperature: 'CHAT-12',
  roles: ['system', 'user', 'assistant'] as readonly string[],
  requiredFields: ['model', 'messages'] as readonly string[],
  nullable: ['stop', 'user'] as readonly string[],
  fields: [
    ...['model', 'messages', 'temperature', 'max_tokens', 'top_p', 'frequency_penalty'],
    ...['presence_penalty', 'stream', 'n', 'stop', 'user', 'stream_options'],
  ] as readonly string[],
}

const messagesRules: typeof chatRules = {
  required: 'MSG-03',
  role: 'MSG-04',
  types: 'MSG-06',
  temperature: 'MSG-05',
  roles: ['user', 'assistant'],
  requiredFields: ['model', 'messages', 'max_tokens'],
  nullable: ['system', 'stop_sequences', 'metadata'],
  fields: [
    ...['model', 'messages', 'max_tokens', 'system', 'temperature', 'top_p', 'stop_sequences'],
    ...['stream', 'metadata'],
  ],
}
