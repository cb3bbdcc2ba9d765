import { isList, isObject, type Json, type JsonObject } from '../../user/json.ts'
import type { Exchange } from './exchange.ts'

/** The choices of a plain chat success; undefined for anything else. */
export function plainChoices(exchange: Exchange): readonly JsonObject[] | undefined {
  const { row, isOk, isStream, responseJson } = exchange
  if (row.endpoint !== 'chat' || !isOk || isStream) return undefined
  return isObject(responseJson) && isList(responseJson.choices)
    ? responseJson.choices.filter(isObject)
    : undefined
}

/** The text of each choice of a chat success by its index; undefined for anything else, and if it was not all captured. */
export function chatTexts(exchange: Exchange): ReadonlyMap<number, string> | undefined {
  const parts = exchange.isStream
    ? streamChoices(exchange)?.map((choice) => [choice.index, choice.delta] as const)
    : plainChoices(exchange)?.map((choice) => [choice.index, choice.message] as const)
  if (parts === undefined) return undefined
  const texts = new Map<number, string>()
  for (const [index, part] of parts) {
    if (typeof index !== 'number') continue
    texts.set(index, (texts.get(index) ?? '') + contentOf(part))
  }
  return texts
}

function streamChoices({ row, isOk, events }: Exchange): readonly JsonObject[] | undefined {
  if (row.endpoint !== 'chat' || !isOk || events === null) return undefined
  return events.events.flatMap(({ json }) =>
    isObject(json) && isList(json.choices) ? json.choices.filter(isObject) : [],
  )
}

const contentOf = (part: Json | undefined): string =>
  isObject(part) && typeof part.content === 'string' ? part.content : ''

/** Whether a body has reasoning that is shown, a call of a tool, or sound. */
export const showsMoreThanText = (body: string): boolean =>
  /"(?:tool_calls|reasoning_content|reasoning|function_call|audio)"\s*:\s*[^n\s]/.test(body)
