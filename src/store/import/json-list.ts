import { beginningOf } from './csv-header.ts'
import { parses } from './formats/documents.ts'

/** Whether a JSON file is one list, and not lines of which the first is a list. */
export function isOneList(path: string): boolean {
  const head = beginningOf(path).trimStart()
  if (!head.startsWith('[')) return false
  const [line] = head.split('\n', 1)
  const hasMore = head.slice(line!.length).trim() !== ''
  return !hasMore || !parses(line!)
}
