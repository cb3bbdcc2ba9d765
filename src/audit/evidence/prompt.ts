import { promptParts } from '../../contract/request-fields.ts'
import { isObject, type Json, type JsonObject } from '../../user/json.ts'
import type { Exchange } from './exchange.ts'

/**
 * A key of the model and of all that is part of a request's prompt: messages, and also tools, formats and any field whose
 * meaning is unknown here.
 *
 * @param changed fields that take the place of those of the request
 */
export function promptOf(exchange: Exchange, changed: JsonObject = {}): string {
  const body = exchange.requestJson
  const own = isObject(body) ? body : {}
  return JSON.stringify(promptParts<Json | undefined>({ ...own, ...changed }))
}
