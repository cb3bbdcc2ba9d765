import type { AttemptRow } from '../attempt/columns.ts'
import { headerLines } from '../attempt/header-lines.ts'
import type { RequestSpec } from '../client/call/request.ts'
import type { Received, ReceivedEvent } from '../client/call/send-once.ts'
import { jsonOf } from '../user/json.ts'

/** The response to one request, parsed as far as possible. */
export interface ProbeResponse {
  readonly spec: RequestSpec
  readonly row: AttemptRow
  readonly columns: AttemptRow
  readonly status: number | null
  /** By lower-case name; of repeated headers the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Undefined if the body is not JSON. */
  readonly json: unknown
  readonly events: readonly ReceivedEvent[]
  /** Data of each event, parsed if it is JSON. */
  readonly chunks: readonly unknown[]
}

export function probeResponseOf(
  spec: RequestSpec,
  row: AttemptRow,
  received: Received,
): ProbeResponse {
  const { captured, events } = received
  const body = captured?.body ?? ''
  return {
    spec,
    row,
    columns: row,
    status: row.status,
    headers: new Map(headerLines(captured?.headers)),
    body,
    json: jsonOf(body),
    events,
    chunks: events.map(({ data }) => jsonOf(data)).filter((chunk) => chunk !== undefined),
  }
}

/** These are of the key, the balance or the moment, so they say nothing of the request itself. */
const passing = new Set([401, 402, 403, 408, 429])

/** Whether the service refuses such a request, whenever and by whomever it is sent. */
export const isRefused = ({ status }: ProbeResponse): boolean =>
  status !== null && status >= 400 && status < 500 && !passing.has(status)

/** The value at a path in parsed JSON; undefined if the path does not exist. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** The text of a success, in either format, streamed or not. */
export function textOf(response: ProbeResponse): string {
  if (response.spec.stream)
    return response.chunks
      .map((chunk) => at(chunk, 'choices', 0, 'delta', 'content') ?? at(chunk, 'delta', 'text'))
      .filter((piece) => typeof piece === 'string')
      .join('')
  const chat = at(response.json, 'choices', 0, 'message', 'content')
  if (typeof chat === 'string') return chat
  const blocks = at(response.json, 'content')
  return Array.isArray(blocks)
    ? blocks
        .map((block) => at(block, 'text'))
        .filter((text) => typeof text === 'string')
        .join('')
    : ''
}
