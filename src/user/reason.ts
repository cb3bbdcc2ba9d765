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
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown }
  const summary = String(message || code || error)
  const [line = ''] = own.without(secrets.without(summary)).split('\n')
  const shown = visible(line)
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown
}
