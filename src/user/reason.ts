import { visible } from './hostile.ts'
import { type Secrets, secrets } from './secrets/secrets.ts'

const longest = 300

/**
 * What a library's error says, safe to show: one line, without control characters and secrets. A server may have
 * written it.
 *
 * @param own secrets of this connection, however short
 */
export function reasonOf(error: unknown, own: Secrets = secrets): string {
  // A library may throw nothing at all.
  const { message, code } = Object(error) as { readonly message?: unknown; readonly code?: unknown }
  const said = [message, code].map((each) => String(each ?? '').trim())
  const summary = said.find((each) => each !== '') ?? String(error).trim()
  const [line = ''] = own.without(secrets.without(summary)).split('\n')
  const shown = visible(line)
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown
}
