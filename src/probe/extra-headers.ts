import type { PreparedRequest, RequestTemplate } from '../client/call/request.ts'
import { secrets } from '../user/secrets/secrets.ts'

/** A header sent with each request. It replaces our own header of that name. */
export interface ExtraHeader {
  /** In lower case. */
  readonly name: string
  readonly value: string
  /** The store keeps this instead of the value. */
  readonly shown: string
  /** Whether the value is removed from all that leaves. */
  readonly isSecret: boolean
}

/** The request as sent. Values of secret headers become secrets of the process. */
export function withExtra(
  request: PreparedRequest,
  extra: readonly ExtraHeader[],
): PreparedRequest {
  for (const { value, isSecret } of extra) if (isSecret) secrets.add(value)
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
