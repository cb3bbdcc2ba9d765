import { jsonValues } from './json-values.ts'

/**
 * How the objects of a JSON text stand: `one` on a line, `several` on a line, or each over several lines (`none` on one).
 * Any line decides, not the first: one bad line must not decide how the others are read. The values of an object may be
 * no JSON, such as `NaN`.
 *
 * @param head the beginning of the text, without white space before it
 */
export function objectsOnLines(head: string): 'one' | 'several' | 'none' {
  let most = 0
  for (const line of head.split('\n')) {
    if (line.startsWith('{')) most = Math.max(most, jsonValues(line)?.length ?? 0)
    if (most > 1) return 'several'
  }
  return most === 1 ? 'one' : 'none'
}
