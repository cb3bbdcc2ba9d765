export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export type JsonObject = { readonly [name: string]: Json | undefined }

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)
