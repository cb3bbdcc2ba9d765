import { withoutMark } from './byte-order-mark.ts'

/** A value of parsed JSON, or of YAML. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export type JsonObject = { readonly [name: string]: Json | undefined }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** Whether a value is a list or an object, as the JSON of a page or a file is. */
export const isDocument = (value: unknown): value is readonly Json[] | JsonObject =>
  isList(value) || isObject(value)

/** Any value as an object; one that is none has no fields. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/**
 * The JSON of a text that a service sent; undefined if it is none. A byte order mark before it is skipped, as the official
 * clients and browsers do, and as RFC 8259 (8.1) allows.
 *
 * @param reviver as of `JSON.parse`
 */
export function jsonOf(text: string, reviver?: Parameters<typeof JSON.parse>[1]): Json | undefined {
  try {
    return JSON.parse(withoutMark(text), reviver)
  } catch {
    return undefined
  }
}
