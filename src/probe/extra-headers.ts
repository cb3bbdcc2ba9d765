import { withoutKey } from '../client/redaction.ts'
import type { PreparedRequest, RequestTemplate } from '../client/request.ts'
import type { Received } from '../client/send-once.ts'

/** A header sent with each request. It replaces our own header of that name. */
export interface ExtraHeader {
  /** In lower case. */
  readonly name: string
  readonly value: string
  /** The store keeps this instead of the value. */
  readonly shown: string
  /** Whether the value is removed from stored responses that repeat it. */
  readonly isSecret: boolean
}

/** The request as sent. */
export function withExtra(
  request: PreparedRequest,
  extra: readonly ExtraHeader[],
): PreparedRequest {
  const added = extra.map(({ name, value }) => [name, value] as const)
  const { wire } = request
  return { ...request, wire: { ...wire, headers: [...othersOf(wire.headers, extra), ...added] } }
}

/** The request as stored. */
export function shownWithExtra(
  template: RequestTemplate,
  extra: readonly ExtraHeader[],
): RequestTemplate {
  const added = extra.map(({ name, shown }) => [name, shown] as const)
  return { ...template, headers: [...othersOf(template.headers, extra), ...added] }
}

function othersOf(
  headers: RequestTemplate['headers'],
  extra: readonly ExtraHeader[],
): RequestTemplate['headers'] {
  return headers.filter(([name]) => extra.every((each) => each.name !== name))
}

/** A response without the values of secret headers. */
export function withoutSecrets(received: Received, extra: readonly ExtraHeader[]): Received {
  const secrets = extra.filter(({ isSecret }) => isSecret).map(({ value }) => value)
  if (secrets.length === 0) return received
  const clean = (text: string) => secrets.reduce(withoutKey, text)
  const { columns, captured, events } = received
  return {
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, value]) => [
        name,
        typeof value === 'string' ? clean(value) : value,
      ]),
    ) as unknown as Received['columns'],
    captured: captured && {
      ...captured,
      headers: clean(captured.headers),
      body: clean(captured.body),
    },
    events: events.map((event) => ({ ...event, data: clean(event.data) })),
  }
}
