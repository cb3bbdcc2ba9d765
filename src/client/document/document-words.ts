import { ByteNames } from '../bytes/byte-names.ts'
import { answerTimes } from './answer-times.ts'
import { usagePaths } from './usage-counts.ts'

/**
 * What the client reads of a document: for each object, its members and what they hold. The formats share most names without
 * contradiction, so one table serves all. A new place of text or a call is a new word here, and an example in
 * `test/client/places.ts`.
 */

/** Objects, by their place in a document. */
export const objects = {
  /** The document itself, `message` of the first event in messages, or `response` in Responses. */
  root: 1,
  choice: 2,
  /** `delta` or `message` of a choice, or `delta` in messages. Its unknown members are reported. */
  delta: 3,
  /** An element of `content` of a delta. Its unknown members are reported, too. */
  part: 4,
  /** A content block in messages, an item or a part in Responses. */
  block: 5,
  /** All text in it is reasoning. */
  thought: 6,
  toolCall: 7,
  call: 8,
  audio: 9,
  image: 10,
  error: 11,
  embedding: 12,
  /** `x_groq`. */
  gateway: 13,
  /** `incomplete_details` in Responses. */
  incomplete: 14,
  /** `metrics` of vLLM and `timings` of llama.cpp. */
  metrics: 15,
  timings: 16,
  /** A pass of an answer, in `iterations` of its usage. */
  pass: 17,
  /** `usage`. The objects inside it have the numbers after it. */
  usage: 18,
} as const

/** What a member holds, if it is no object of one kind. */
export const holds = {
  /** Nothing that the table knows. */
  unknown: 0,
  /** Known, and no text. */
  nothing: 1,
  id: 2,
  model: 3,
  type: 4,
  kind: 5,
  finish: 6,
  status: 7,
  index: 8,
  /** A string, a list of parts, or one part. */
  text: 9,
  /** The same, all of it reasoning. */
  reasoning: 10,
  /** The same, a summary of reasoning. */
  summary: 11,
  /** A string, or an object that is not empty. */
  tool: 12,
  /** A string of base64. */
  sound: 13,
  choices: 14,
  /** The list of blocks of a whole answer. */
  blocks: 15,
  /** `delta` of an event: an object in messages, text in Responses. */
  delta: 16,
  block: 17,
  /** One tool call, or a list of them. */
  toolCall: 18,
  /** A string, one image, or a list of them. */
  image: 19,
  embeddings: 20,
  /** `message`: an object in messages, the sentence of an error elsewhere. */
  message: 21,
  error: 22,
  errorCode: 23,
  errorType: 24,
  errorStatus: 25,
  /** The sentence of an error. */
  errorMessage: 26,
  /** A sentence of an error that is not inside `error`. */
  complaint: 27,
  semantic: 28,
  /** `iterations` of a usage. */
  passes: 29,
} as const
/** From here on: a count by index in `usagePaths`, then a time by index in `answerTimes`. */
export const countsFrom = 64
/** From here on: an object, by its number in `objects`. */
export const objectsFrom = 192

/** What the table says of a member; `{usage}` is an object `usage`. */
type Held = keyof typeof holds | `{${keyof typeof objects}}`

/** What a part of an answer may hold, wherever it stands. */
const content = {
  text: 'text',
  content: 'text',
  refusal: 'text',
  output_text: 'text',
  summary_text: 'summary',
  thinking: 'reasoning',
  reasoning: 'reasoning',
  summary: 'summary',
  name: 'tool',
  input: 'tool',
  arguments: 'tool',
  partial_json: 'tool',
  code: 'tool',
  audio: '{audio}',
  input_audio: '{audio}',
  transcript: 'text',
  image_url: 'image',
  source: 'image',
  result: 'sound',
  b64_json: 'sound',
} as const satisfies Record<string, Held>

const nothing = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, 'nothing'] as const))

export const table: Readonly<Record<keyof typeof objects, Readonly<Record<string, Held>>>> = {
  root: {
    id: 'id',
    model: 'model',
    type: 'type',
    object: 'kind',
    stop_reason: 'finish',
    status: 'status',
    incomplete_details: '{incomplete}',
    index: 'index',
    choices: 'choices',
    content: 'blocks',
    output: 'blocks',
    data: 'embeddings',
    delta: 'delta',
    content_block: 'block',
    item: 'block',
    part: 'block',
    text: 'text',
    refusal: 'text',
    arguments: 'tool',
    input: 'tool',
    code: 'errorCode',
    partial_image_b64: 'sound',
    message: 'message',
    response: '{root}',
    usage: '{usage}',
    x_groq: '{gateway}',
    metrics: '{metrics}',
    timings: '{timings}',
    error: 'error',
    detail: 'complaint',
    msg: 'complaint',
    error_msg: 'complaint',
    error_message: 'complaint',
    errorMessage: 'complaint',
    errors: 'complaint',
  },
  choice: {
    index: 'index',
    delta: '{delta}',
    message: '{delta}',
    text: 'text',
    finish_reason: 'finish',
    usage: '{usage}',
    error: 'error',
  },
  delta: {
    ...content,
    reasoning_content: 'reasoning',
    reasoning_text: 'reasoning',
    reasoning_summary: 'summary',
    reasoning_details: 'reasoning',
    thinking_blocks: 'reasoning',
    thinking_content: 'reasoning',
    thought: 'reasoning',
    tool_calls: 'toolCall',
    function_call: '{call}',
    images: 'image',
    error: 'error',
    stop_reason: 'finish',
    // The author of a message.
    name: 'nothing',
    ...nothing('role', 'type', 'index', 'id', 'object', 'created', 'status', 'phase', 'channel'),
    ...nothing('annotations', 'citation', 'citations', 'search_results', 'logprobs', 'usage'),
    ...nothing('signature', 'reasoning_signature', 'reasoning_opaque', 'encrypted_content'),
    ...nothing('stop_sequence', 'finish_reason', 'stop_details', 'container', 'context_management'),
    ...nothing(
      'provider_specific_fields',
      'extra_content',
      'tool_call_id',
      'metadata',
      'token_ids',
    ),
    ...nothing('obfuscation', 'padding', 'prefix', 'recipient', 'end_turn', 'content_type'),
  },
  part: {
    ...content,
    type: 'type',
    ...nothing('index', 'id', 'role', 'annotations', 'citations', 'logprobs', 'signature'),
    ...nothing('data', 'format', 'detail', 'cache_control', 'reference_ids', 'references'),
    ...nothing('encrypted_content', 'closed', 'metadata', 'provider_specific_fields'),
  },
  block: { ...content, type: 'type', error: 'nothing' },
  thought: {
    text: 'reasoning',
    content: 'reasoning',
    thinking: 'reasoning',
    reasoning: 'reasoning',
    summary: 'summary',
  },
  toolCall: {
    function: '{call}',
    custom: '{call}',
    name: 'tool',
    arguments: 'tool',
    input: 'tool',
  },
  call: { name: 'tool', arguments: 'tool', input: 'tool', parameters: 'tool' },
  audio: { data: 'sound', transcript: 'text' },
  image: { url: 'sound', image_url: 'image', data: 'sound', b64_json: 'sound' },
  error: {
    code: 'errorCode',
    type: 'errorType',
    status: 'errorStatus',
    message: 'errorMessage',
    msg: 'errorMessage',
    detail: 'errorMessage',
  },
  embedding: {},
  gateway: { usage: '{usage}', error: 'error' },
  incomplete: { reason: 'finish' },
  metrics: {},
  timings: {},
  pass: {},
  usage: { usage_semantic: 'semantic', iterations: 'passes' },
}

/** Members of `usage` and of the objects inside it, from the paths of all dialects. */
const usageMembers = new Map<string, Map<string, number>>([['', new Map()]])
for (const [index, path] of usagePaths.entries()) {
  const steps = path.split('.')
  const last = steps.pop()!
  let within = ''
  for (const step of steps) {
    const inner = `${within}.${step}`
    if (!usageMembers.has(inner)) {
      usageMembers.get(within)!.set(step, objectsFrom + objects.usage + usageMembers.size)
      usageMembers.set(inner, new Map())
    }
    within = inner
  }
  usageMembers.get(within)!.set(last, countsFrom + index)
}

/** Names of members, by number from 1. */
const numbers = Object.fromEntries(
  [
    ...new Set([
      ...Object.values(table).flatMap((members) => Object.keys(members)),
      ...[...usageMembers.values()].flatMap((members) => [...members.keys()]),
      ...answerTimes.map(([path]) => path.split('.')[1]!),
    ]),
  ].map((name, at) => [name, at + 1] as const),
)

export const names = new ByteNames(numbers)

const width = Object.keys(numbers).length + 1
const cells = new Uint8Array((objects.usage + usageMembers.size) * width)
for (const [object, members] of Object.entries(table)) {
  for (const [name, held] of Object.entries(members))
    cells[objects[object as keyof typeof objects] * width + numbers[name]!] = heldCell(held)
}
for (const [at, members] of [...usageMembers.values()].entries()) {
  for (const [name, held] of members) cells[(objects.usage + at) * width + numbers[name]!] = held
}
for (const [place, [path]] of answerTimes.entries()) {
  const [object, name] = path.split('.') as ['metrics' | 'timings' | 'usage', string]
  cells[objects[object] * width + numbers[name]!] = countsFrom + usagePaths.length + place
}

function heldCell(held: Held): number {
  return held.startsWith('{')
    ? objectsFrom + objects[held.slice(1, -1) as keyof typeof objects]
    : holds[held as keyof typeof holds]
}

/** What a member of an object holds: a value of `holds`, or one from `countsFrom` or `objectsFrom` on. */
export const heldBy = (object: number, name: number): number => cells[object * width + name]!

/** What the reader does with a value that may differ in the next document, in addition to `stringValue` and `numberValue`. */
export const uses = {
  id: 2,
  model: 3,
  type: 4,
  finish: 5,
  otherFinish: 6,
  /** Becomes `finish`, or nothing. */
  status: 7,
  errorCode: 8,
  errorType: 9,
  /** A `code` outside an error, which alone makes no error. */
  otherCode: 10,
  errorMessage: 31,
  /** A sentence outside an error, which alone makes no error. */
  otherMessage: 30,
  /** A value of an error, which is an error only if it says something. */
  errorText: 11,
  text: 12,
  reasoning: 13,
  /** Reasoning of which the text is a summary. */
  summary: 15,
  /** A text in a member that is not known. */
  unknown: 14,
  /** From here on: a count by index in `usagePaths`, then a time by index in `answerTimes`. */
  counts: 32,
} as const
