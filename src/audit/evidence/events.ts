import { withoutMark } from '../../user/byte-order-mark.ts'
import type { Json } from '../../user/json.ts'

export interface StreamEvent {
  /** Of the `event:` line; null without one. */
  readonly name: string | null
  /** All `data:` lines, joined by line ends. */
  readonly data: string
  readonly dataLines: number
  /** The data as JSON; undefined if it is not JSON. */
  readonly json: Json | undefined
}

export interface StreamEvents {
  readonly events: readonly StreamEvent[]
  /** Whether a blank line ended the last event; readers of the standard throw one away that has none. */
  readonly ended: boolean
  /** Lines that are neither fields nor comments. */
  readonly strays: readonly string[]
}

export function decodeEvents(body: string): StreamEvents {
  const events: StreamEvent[] = []
  const strays: string[] = []
  let name: string | null = null
  let data: string[] = []
  const lines = withoutMark(body).split(/\r\n|\n|\r/)
  // The end of the last line begins no further one.
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push(eventOf(name, data))
      name = null
      data = []
      continue
    }
    if (line.startsWith(':')) continue
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
    else if (field !== 'id' && field !== 'retry') strays.push(line)
  }
  const ended = data.length === 0
  if (!ended) events.push(eventOf(name, data))
  return { events, ended, strays }
}

function eventOf(name: string | null, lines: readonly string[]): StreamEvent {
  const data = lines.join('\n')
  let json: Json | undefined
  try {
    json = JSON.parse(data) as Json
  } catch {
    json = undefined
  }
  return { name, data, dataLines: lines.length, json }
}
