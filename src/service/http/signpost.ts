import type { FullContract } from '../../contract/contract.ts'

/**
 * Suggests the endpoint that a call probably meant, as the end of a sentence. Clients add `/v1` to a
 * base URL twice or not at all, or end a path with a slash. Empty if no endpoint is near.
 */
export function signpost({ paths }: FullContract, method: string, path: string): string {
  const asked = path.toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '')
  if (asked === '') return ''
  const near = Object.values(paths).find((each) => each.endsWith(asked) || asked.endsWith(each))
  if (near === undefined) return ''
  const takes = near === paths.models || near === paths.credits ? 'GET' : 'POST'
  if (near !== path) return `; did you mean ${takes} ${near}?`
  return method === takes ? '' : `; it takes ${takes}`
}
