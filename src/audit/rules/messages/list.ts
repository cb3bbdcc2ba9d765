import { isSharedTemplate } from '../../../attempt/evidence.ts'
import { type Model, mayBeNamed } from '../../../contract/contract.ts'
import { isList, isObject, type JsonObject } from '../../../user/json.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import { promptOf } from '../../evidence/prompt.ts'
import type { Rule } from '../../rule.ts'
import { kindOf } from '../chat/completion.ts'
import { exchangeRule, exchangesRule } from '../exchange-rule.ts'
import { validationRules } from '../validation-rule.ts'

const requires = 'a captured answer of the messages endpoint'
const stopped = 'a text that a stop sequence ended'

/** The body of a plain messages success; undefined for anything else. */
function message(exchange: Exchange) {
  const { row } = exchange
  return row.endpoint === 'messages' && exchange.isOk && !exchange.isStream
    ? exchange.responseJson
    : undefined
}

const msg01 = exchangesRule({
  id: 'MSG-01',
  title: 'A message has its fields, and a unique id',
  section: '§2.6',
  explain: `Reads captured plain messages: id is a string that no other has, type "message", role
assistant, content an array of blocks (a text block has text), model the requested one or an alias or
snapshot of it in the contract (MODEL-05 checks an unknown one), usage two integers. Other kinds of blocks are open (gap G-05); a request under an Idempotency-Key may be answered
again with the same id (gap G-37).`,
  expected: 'id, type, role, content, model and usage as specified',
  requires,
  judgeOf(_, { contract }) {
    const ids = new Set<unknown>()
    return (exchange) => {
      const body = message(exchange)
      if (body === undefined) return undefined
      if (!isObject(body)) return 'no object'
      const again = ids.has(body.id) && !isKeyed(exchange)
      ids.add(body.id)
      return again
        ? 'the same id as another request'
        : wrongField(body, exchange, contract.models ?? [])
    }
  },
})

const isKeyed = ({ row }: Exchange): boolean => /"idempotency-key"/i.test(row.requestHeaders ?? '')

function wrongField(body: JsonObject, { row }: Exchange, models: readonly Model[]): string | null {
  if (typeof body.id !== 'string') return `id is ${kindOf(body.id)}`
  if (body.type !== 'message') return `type ${JSON.stringify(body.type)}`
  if (body.role !== 'assistant') return `role ${JSON.stringify(body.role)}`
  if (!isList(body.content)) return `content is ${kindOf(body.content)}`
  for (const block of body.content) {
    if (!isObject(block) || typeof block.type !== 'string') return 'a block without type'
    if (block.type === 'text' && typeof block.text !== 'string') return 'a text block without text'
  }
  if (typeof body.model !== 'string') return `model is ${kindOf(body.model)}`
  const isKnown = row.model !== null && models.length > 0 && row.expects !== 'unknown-model'
  if (isKnown && !mayBeNamed(models, row.model, body.model))
    return `model ${body.model} for ${row.model}`
  const { usage } = body
  if (!isObject(usage)) return `usage is ${kindOf(usage)}`
  for (const field of ['input_tokens', 'output_tokens']) {
    const count = usage[field]
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0)
      return `${field} ${JSON.stringify(count)}`
  }
  return null
}

const msg02 = exchangeRule({
  id: 'MSG-02',
  title: 'stop_reason is a string, stop_sequence the one that ended the text or null',
  section: '§2.6',
  needs: ['passive', 'active'],
  explain: `stop_sequence must be null or one of the request's stop sequences. The set of stop reasons
is open (gap G-04).`,
  expected: 'stop_reason a string, stop_sequence null or one that was asked for',
  requires,
  parts: {
    of: () => [stopped],
    tested: (exchange) => {
      const body = message(exchange)
      return isObject(body) && typeof body.stop_sequence === 'string' ? stopped : []
    },
  },
  judge(exchange) {
    const body = message(exchange)
    if (!isObject(body)) return undefined
    if (typeof body.stop_reason !== 'string') return `stop_reason is ${kindOf(body.stop_reason)}`
    const stop = body.stop_sequence
    if (stop === null) return null
    if (typeof stop !== 'string') return `stop_sequence is ${kindOf(stop)}`
    const asked = exchange.requestField('stop_sequences')
    return isList(asked) && asked.includes(stop) ? null : `stop_sequence ${JSON.stringify(stop)}`
  },
})

const requestRules = validationRules('messages', [
  {
    id: 'MSG-03',
    title: 'A messages request without model, messages or max_tokens is refused',
    section: '§4.3',
    requires: 'a messages request without one of the three (body: { max_tokens: null })',
  },
  {
    id: 'MSG-04',
    title: 'Messages have the role user or assistant only',
    section: '§4.3',
    requires: 'a messages request with a message of the role system',
  },
  {
    id: 'MSG-05',
    title: 'The temperature of messages is 0 to 1',
    section: '§4.3',
    requires: 'messages requests with temperature 1 and 1.01',
  },
  {
    id: 'MSG-06',
    title: 'Messages accept at most 4 stop sequences, a metadata object and a system string',
    section: '§4.3, §8.4.5',
    requires: 'messages requests with 4 and 5 stop sequences, or metadata of a wrong type',
  },
])

const msg07 = exchangesRule({
  id: 'MSG-07',
  title: 'A system prompt counts as input, and output_tokens stay within max_tokens',
  section: '§4.3',
  severity: 'derived',
  needs: ['active'],
  promised: ['models'],
  explain: `Metamorphic: the same messages with a system prompt must report more input tokens than
without. output_tokens must not exceed max_tokens.`,
  expected: 'more input tokens with a system prompt, and no more output than max_tokens',
  requires: 'the same messages with and without system',
  judgeOf(exchanges) {
    const isAnswer = ({ row, isOk }: Exchange) => isOk && row.endpoint === 'messages'
    const withoutSystem = (exchange: Exchange) => promptOf(exchange, { system: null })
    const bare = new Map<string, number>()
    for (const exchange of exchanges) {
      const { promptTokens } = exchange.row
      if (!isAnswer(exchange) || hasSystem(exchange) || promptTokens === null) continue
      if (!isSharedTemplate(exchange.row)) bare.set(withoutSystem(exchange), promptTokens)
    }
    return (exchange) => {
      if (!isAnswer(exchange)) return undefined
      const { promptTokens, completionTokens } = exchange.row
      const limit = exchange.requestField('max_tokens')
      if (typeof limit === 'number' && completionTokens !== null && completionTokens > limit)
        return `${completionTokens} tokens for max_tokens ${limit}`
      if (!hasSystem(exchange) || isSharedTemplate(exchange.row)) return undefined
      const without = bare.get(withoutSystem(exchange))
      if (promptTokens === null || without === undefined) return undefined
      return promptTokens > without
        ? null
        : `${promptTokens} input tokens with system, ${without} without`
    }
  },
})

function hasSystem(exchange: Exchange): boolean {
  const system = exchange.requestField('system')
  return typeof system === 'string' ? system !== '' : system !== undefined && system !== null
}

/** Section 1.5 of the rulebook. */
export const messagesRules: readonly Rule[] = [msg01, msg02, ...requestRules, msg07]
