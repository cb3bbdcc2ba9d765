import { ByteNames } from './byte-names.ts'

/** Objects that the reader of documents looks for, by their place in the document. */
export const ROOT = 1
export const CHOICE = 2
/** `message` or `delta` of a choice, a content block, or `delta` of the messages stream. */
export const CONTENT = 3
export const USAGE = 4
export const ERROR = 5
export const TOOL_CALLS = 6
/** `response` in an event of the Responses format. */
export const RESPONSE = 7
/** An element of `data`: an embedding. */
export const EMBEDDING = 8
/** `prompt_tokens_details` or `input_tokens_details` of `usage`. */
export const DETAILS = 9

export const name = {
  id: 1,
  model: 2,
  type: 3,
  choices: 4,
  content: 5,
  message: 6,
  delta: 7,
  content_block: 8,
  usage: 9,
  stop_reason: 10,
  error: 11,
  index: 12,
  finish_reason: 13,
  text: 14,
  reasoning: 15,
  reasoning_content: 16,
  thinking: 17,
  partial_json: 18,
  tool_calls: 19,
  prompt_tokens: 20,
  input_tokens: 21,
  completion_tokens: 22,
  output_tokens: 23,
  total_tokens: 24,
  code: 25,
  refusal: 26,
  name: 27,
  response: 28,
  output: 29,
  status: 30,
  data: 31,
  prompt_tokens_details: 32,
  input_tokens_details: 33,
  cached_tokens: 34,
  cache_read_input_tokens: 35,
} as const

export const names = new ByteNames(name)

/** Uses of values, in addition to `stringValue` and `numberValue`. */
export const uses = {
  id: 2,
  model: 3,
  type: 4,
  finish: 5,
  errorCode: 6,
  errorType: 7,
  text: 8,
  reasoning: 9,
  promptTokens: 10,
  completionTokens: 11,
  totalTokens: 12,
  cachedTokens: 13,
} as const
