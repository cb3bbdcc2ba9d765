export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export type JsonObject = { readonly [name: string]: Json | undefined }

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
