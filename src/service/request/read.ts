import { isObject } from '../../user/json.ts'
import { Fields, InvalidRequest, typeName } from './fields.ts'
import type { Format, GenerationRequest } from './generation-request.ts'
import { readOutput } from './output-format.ts'
import { refuseWhatIsNotDone } from './refused.ts'
import type { RequestRules } from './rules.ts'
import { readThinking } from './thinking.ts'
import { readToolChoice, readTools } from './tools.ts'
import { readSystem, readTurns } from './turns.ts'

/** Checks a parsed body against the rules of its format. Null and absent mean the same. */
export function readRequest(
  body: unknown,
  format: Format,
  rules: RequestRules,
): GenerationRequest | InvalidRequest {
  if (!isObject(body))
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
  const { turns: messages, images } = readTurns(fields, format, rules)
  const maxTokens = readMaxTokens(fields, format, rules)
  const temperature = fields.number('temperature', rules.temperature)
  const topP = fields.number('top_p', rules.topP)
  const stream = fields.boolean('stream')
  const shared = {
    format,
    model,
    messages,
    images,
    maxTokens: maxTokens ?? rules.defaults.maxTokens,
    temperature: temperature ?? rules.defaults.temperature,
    topP: topP ?? rules.defaults.topP,
    stream: rules.streams && (stream ?? rules.defaults.stream),
  }
  if (format === 'messages') {
    const system = readSystem(fields)
    fields.record('metadata')
    return {
      ...shared,
      system: rules.systemIsDropped ? null : system,
      n: 1,
      stop: fields.stops('stop_sequences', false),
      includeUsage: true,
      ...readOwn(fields, format, rules, shared.maxTokens),
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
    ...readOwn(fields, format, rules, shared.maxTokens),
  }
}

/** Chat clients send the limit under its old or its new name. Of two, both hold. */
function readMaxTokens(
  fields: Fields,
  format: Format,
  { maxMaxTokens }: RequestRules,
): number | undefined {
  const range = { min: 1, max: maxMaxTokens }
  const given = fields.integer('max_tokens', range)
  if (format === 'messages') return given
  const renamed = fields.integer('max_completion_tokens', range)
  return given !== undefined && renamed !== undefined
    ? Math.min(given, renamed)
    : (given ?? renamed)
}

type Own = Pick<GenerationRequest, 'tools' | 'toolChoice' | 'output' | 'thinks'>

/** What this service does itself. An upstream reads it from the body. */
function readOwn(fields: Fields, format: Format, rules: RequestRules, maxTokens: number): Own {
  if (rules.relayed) {
    return { tools: [], toolChoice: { kind: 'none' }, output: { kind: 'text' }, thinks: null }
  }
  refuseWhatIsNotDone(fields, format, rules.sells)
  const tools = readTools(fields, format, rules.sells)
  return {
    tools,
    toolChoice: readToolChoice(fields, format, tools),
    output: readOutput(fields, format),
    thinks: format === 'messages' ? readThinking(fields, maxTokens) : null,
  }
}
