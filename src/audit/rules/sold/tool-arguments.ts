import type { ToolPromise } from '../../../contract/contract.ts'
import { isList, isObject, type Json, type JsonObject, jsonOf } from '../../../user/json.ts'
import { entryOf } from '../../../user/lookup.ts'
import { plainChoices } from '../../evidence/chat-texts.ts'
import { type Exchange, firstShown } from '../../evidence/exchange.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import { shareBetween } from '../../evidence/sold/chance.ts'
import { judgedOrMeasured, promisesThat } from '../../evidence/sold/measured.ts'
import {
  judgeIntact,
  judgeSchemas,
  leastCalls,
  leastVerbatim,
  type Rewritten,
  type ToolCall,
} from '../../evidence/sold/tool-calls.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withFigures } from '../../verdict.ts'

const requires = `${leastCalls} plain chat answers to requests that demand a tool (tool_choice: required, or its name), stored whole (scenarios/audit-tools.yaml)`

export const sold07: Rule = {
  id: 'SOLD-07',
  title: 'Tool calls arrive intact',
  section: 'contract: models, tools',
  needs: ['passive', 'active'],
  explain: `Looks at plain chat answers to requests that demand a tool. Arguments fit if they are a JSON object with the required fields of the tool's
parameters, of their types. So many misfits have a chance of 1 % or less if the promised share is kept: a fail; a share as promised passes. Where the request asks for "exactly
these arguments: {…}", a well-formed text that is another one fails if it happens twice in one argument, and is inconclusive if once. Answers that the limit cut are left
out. Fewer than 20 calls, or fewer than ten of exact arguments that can be compared, are inconclusive. It cannot detect numbers that are changed, or rewrites that wait for a certain customer, time or tool.`,
  ...judgedOrMeasured('models.tools', decide, 'tools'),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  return overModels(await exchangesByModel(evidence), requires, ({ tools }, exchanges) =>
    tools === undefined ? [] : verdictsOf(tools, exchanges.flatMap(callOf)),
  )
}

interface SeenCall extends ToolCall {
  readonly exchange: Exchange
}

function verdictsOf(promise: ToolPromise, calls: readonly SeenCall[]): readonly Verdict[] {
  const verdicts: Verdict[] = []
  const observations = calls.length
  if (promise.schema !== undefined) {
    const found = judgeSchemas(calls, promise.schema)
    const sold = `${Number((promise.schema * 100).toFixed(6))} %`
    if (found.is === 'unseen') verdicts.push(notObserved(requires))
    else if (found.is === 'few')
      verdicts.push(inconclusive(observations, `only ${observations} of ${leastCalls} calls`))
    else {
      const fit = found.of - found.broken
      const figures = [
        { name: 'calls_that_fit', value: fit / found.of, ...shareBetween(fit, found.of) },
      ] as const
      const said = `${found.broken} of ${found.of} calls have arguments that do not fit the schema${promisesThat} that ${sold} fit`
      const verdict =
        found.is === 'pass'
          ? pass(observations, { note: said })
          : found.is === 'inconclusive'
            ? inconclusive(observations, said)
            : failing(
                said,
                `arguments that fit in ${sold}`,
                calls.filter(({ fits }) => fits === false),
              )
      verdicts.push(withFigures(verdict, figures))
    }
  }
  if (promise.intact === true) {
    const found = judgeIntact(calls)
    if (found.is === 'unseen')
      verdicts.push(notObserved(`requests for "exactly these arguments: {…}"; ${requires}`))
    else if (found.is === 'few')
      verdicts.push(
        inconclusive(
          found.of,
          `only ${found.of} of ${leastVerbatim} calls have the arguments that were asked for word by word`,
        ),
      )
    else if (found.is === 'pass')
      verdicts.push(
        pass(found.of, { note: `${found.of} calls have the arguments that were asked for` }),
      )
    else {
      const { name, asked, received } = found.first
      const said = `In ${found.times} of ${found.of} calls the argument ${name} is not the one that was asked for: ${JSON.stringify(received)} in place of ${JSON.stringify(asked)}`
      if (found.is === 'inconclusive') verdicts.push(inconclusive(found.of, said))
      else
        verdicts.push(
          failing(
            said,
            'arguments as they were asked for',
            calls.filter(({ rewritten }) => rewritten.some((each) => each.name === name)),
          ),
        )
    }
  }
  return verdicts
}

function failing(said: string, expected: string, calls: readonly SeenCall[]): Verdict {
  const witnesses = firstShown(calls, ({ rewritten: [one] }) =>
    one === undefined
      ? 'arguments that do not fit the schema'
      : `${one.name} is ${JSON.stringify(one.received)}; asked for was ${JSON.stringify(one.asked)}`,
  )
  return fail(calls.length, { expected, observed: `${said}.`, witnesses })
}

/** The call that the request demanded; nothing for other requests, and for answers that are cut or not stored. */
function callOf(exchange: Exchange): readonly SeenCall[] {
  const choice = exchange.requestField('tool_choice')
  const tools = exchange.requestField('tools')
  const [answer] = plainChoices(exchange) ?? []
  if (!demandsACall(choice) || !isList(tools) || answer === undefined || isUnfinished(answer))
    return []
  const message = answer.message
  const [call] = isObject(message) && isList(message.tool_calls) ? message.tool_calls : []
  // A custom tool takes a text, which no schema describes.
  if (isObject(call) && call.type === 'custom') return []
  const called = isObject(call) && isObject(call.function) ? call.function : undefined
  const parameters = tools
    .flatMap((tool) => (isObject(tool) && isObject(tool.function) ? [tool.function] : []))
    .find(({ name }) => name === called?.name)?.parameters
  const given = typeof called?.arguments === 'string' ? jsonOf(called.arguments) : undefined
  const asked = askedIn(exchange)
  return [
    {
      exchange,
      fits:
        called === undefined ? false : isObject(parameters) ? fitsSchema(given, parameters) : null,
      isVerbatim: asked !== null && isObject(given) && hasTextsOf(asked, given),
      rewritten: asked === null || !isObject(given) ? [] : rewrittenIn(asked, given),
    },
  ]
}

/** Among allowed tools, the answer may be a text unless one is required. */
function demandsACall(choice: Json | undefined): boolean {
  if (!isObject(choice)) return choice === 'required'
  if (choice.type !== 'allowed_tools') return true
  return isObject(choice.allowed_tools) && choice.allowed_tools.mode === 'required'
}

/** An answer that was cut or filtered, and a refusal, have no call. */
const isUnfinished = ({ finish_reason: reason, message }: JsonObject): boolean =>
  reason === 'length' || reason === 'content_filter' || (isObject(message) && !!message.refusal)

/** The arguments that the last message asks for word by word; null if it asks for none. */
function askedIn(exchange: Exchange): JsonObject | null {
  const messages = exchange.requestField('messages')
  const last = isList(messages) ? messages.at(-1) : undefined
  const text = isObject(last) && typeof last.content === 'string' ? last.content : ''
  const written = /\bexactly these arguments: (\{.*\})/i.exec(text)?.[1]
  const asked = written === undefined ? undefined : jsonOf(written)
  return isObject(asked) ? asked : null
}

/** Whether each text that was asked for has one in the call, the same or another. */
const hasTextsOf = (asked: JsonObject, given: JsonObject) =>
  Object.entries(asked).every(
    ([name, value]) => typeof value !== 'string' || typeof entryOf(given, name) === 'string',
  )

/** A text that is missing is a misfit of the schema, and no rewrite. */
function rewrittenIn(asked: JsonObject, given: JsonObject): readonly Rewritten[] {
  return Object.entries(asked).flatMap(([name, value]) => {
    const received = entryOf(given, name)
    return typeof value === 'string' && typeof received === 'string' && received !== value
      ? [{ name, asked: value, received }]
      : []
  })
}

/** Whether a value is an object with the required fields, and its fields have the types of the schema. */
function fitsSchema(value: Json | undefined, schema: JsonObject): boolean {
  if (!isObject(value)) return false
  const required = isList(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  return (
    required.every((name) => typeof name !== 'string' || entryOf(value, name) !== undefined) &&
    Object.entries(value).every(([name, each]) => {
      const property = entryOf(properties, name)
      if (!isObject(property))
        return property === undefined ? schema.additionalProperties !== false : true
      if (each === null && property.nullable === true) return true
      const allowed = isList(property.enum) ? property.enum.includes(each!) : true
      return allowed && (typeof property.type !== 'string' || isOfType(each!, property.type))
    })
  )
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === type
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return isList(value)
    case 'object':
      return isObject(value)
    case 'null':
      return value === null
    default:
      return true
  }
}
