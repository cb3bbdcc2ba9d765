import { UserError } from '../user/user-error.ts'

/** A request of a trace. */
export interface TraceRequest {
  /** Since the first one, as recorded. */
  readonly atUs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Ids of the blocks that its prompt begins with; equal ids mean equal text. */
  readonly hashIds: readonly number[]
  /** These are null if the trace does not contain them. */
  readonly endpoint: 'chat' | 'messages' | null
  readonly stream: boolean | null
  readonly model: string | null
}

export type TraceFormat = 'mooncake' | 'azure' | 'assay'

/**
 * Reads a trace.
 *
 * - `mooncake`: JSON Lines of `timestamp` (milliseconds), `input_length`, `output_length`, and
 *   optionally `hash_ids` of the prompt's blocks of `tokensPerBlock`
 * - `azure`: `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`, as CSV with a header or JSON Lines
 * - `assay`: our own export of attempts as JSON Lines; only first attempts at chat or messages count
 *
 * @returns requests in order of time, the first at 0
 * @throws UserError with the line and what was expected there
 */
export function parseTrace(
  text: string,
  format: TraceFormat,
  path: string,
): readonly TraceRequest[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const requests: TraceRequest[] = []
  const head = format === 'azure' ? csvHead(lines[0]) : null
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || (head !== null && at === 0)) continue
    const record = head === null ? jsonLine(line, path, at) : csvLine(line, head)
    const request = readers[format](record)
    if (request === 'skip') continue
    if (request === null) {
      throw new UserError(
        'trace',
        `${path}, line ${at + 1}: expected ${expectations[format]}; got ${line.slice(0, 80)}.`,
      )
    }
    requests.push(request)
  }
  if (requests.length === 0)
    throw new UserError('trace', `${path} has no requests in the ${format} format.`)
  requests.sort((a, b) => a.atUs - b.atUs)
  const first = requests[0]!.atUs
  return requests.map((request) => ({ ...request, atUs: Math.round(request.atUs - first) }))
}

/** Tokens of a Mooncake prompt block; the last block may have fewer. */
export const tokensPerBlock = 512

type TraceRecord = Readonly<Record<string, unknown>>

const expectations: Readonly<Record<TraceFormat, string>> = {
  mooncake:
    'timestamp (milliseconds), input_length, output_length and, optionally, whole-number hash_ids',
  azure: 'TIMESTAMP, ContextTokens and GeneratedTokens',
  assay: 'intended_us and, for a generation, prompt_tokens and completion_tokens',
}

const readers: Readonly<
  Record<TraceFormat, (record: TraceRecord) => TraceRequest | 'skip' | null>
> = {
  mooncake: ({ timestamp, input_length, output_length, hash_ids: hashIds = [] }) => {
    const read = request(scaled(timestamp, 1000), input_length, output_length)
    return read !== null && isIds(hashIds) ? { ...read, hashIds } : null
  },
  azure: (record) => {
    const stamp = String(record.TIMESTAMP ?? '').trim()
    const at = azureUs(stamp)
    return request(at, Number(record.ContextTokens), Number(record.GeneratedTokens))
  },
  assay: (record) => {
    const { endpoint } = record
    if (endpoint !== 'chat' && endpoint !== 'messages') return 'skip'
    if (Number(record.retry ?? 0) !== 0 || record.outcome === 'not_sent') return 'skip'
    const read = request(
      record.intended_us,
      record.prompt_tokens ?? 1,
      // A stream may not report its usage; its events with text are then the best estimate of tokens.
      record.completion_tokens ?? (record.content_events || 1),
    )
    return (
      read && {
        ...read,
        endpoint,
        stream: Number(record.streamed) === 1,
        model: typeof record.model === 'string' ? record.model : null,
      }
    )
  },
}

function request(atUs: unknown, input: unknown, output: unknown): TraceRequest | null {
  const [at, inputTokens, outputTokens] = [Number(atUs ?? Number.NaN), input, output]
  if (!Number.isFinite(at) || !isTokens(inputTokens) || !isTokens(outputTokens)) return null
  const silent = { endpoint: null, stream: null, model: null }
  return { atUs: at, inputTokens, outputTokens, hashIds: [], ...silent }
}

const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0)

const isTokens = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

const scaled = (value: unknown, by: number) => (typeof value === 'number' ? value * by : Number.NaN)

/** Unix microseconds. `2023-11-16 18:15:46.6805900` has seven decimals, more than Date can hold. */
function azureUs(stamp: string): number {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(stamp)
  if (!match) return Number.NaN
  const fraction = Number(`0.${match[3] ?? '0'}`)
  return Date.parse(`${match[1]}T${match[2]}Z`) * 1000 + fraction * 1e6
}

function csvHead(line: string | undefined): readonly string[] | null {
  return line === undefined || line.trimStart().startsWith('{')
    ? null
    : line.split(',').map((name) => name.trim())
}

function csvLine(line: string, head: readonly string[]): TraceRecord {
  const cells = line.split(',')
  return Object.fromEntries(head.map((name, at) => [name, cells[at]?.trim()]))
}

function jsonLine(line: string, path: string, at: number): TraceRecord {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as TraceRecord
  } catch {
    // The error below shows the line.
  }
  throw new UserError(
    'trace',
    `${path}, line ${at + 1}: expected a JSON object; got ${line.slice(0, 80)}.`,
  )
}
