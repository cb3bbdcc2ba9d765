import { isZero } from '../../money/rational.ts'
import type { LoggedRequest } from './log-lines.ts'

interface Seen {
  /** When the first row that costs nothing was, and the first that costs nothing though it should; Unix milliseconds. */
  freeMs: number
  wrongMs: number
  /** When the first row with a cost was. */
  chargedMs: number
  laterFree: number
  laterCharged: number
}

/**
 * Rows that cost nothing, each of which may repeat an earlier one that was charged: the gateway's own cache may have answered
 * them, as in `freeRepeats` of the rules with answers. A row shows neither a prompt nor an answer, so a repeat is a row with the
 * same model, way of delivery and counts.
 */
export class FreeRows {
  readonly #seen = new Map<string, Seen>()

  /** First look: a row without a cost and with counts. */
  note(line: LoggedRequest): void {
    if (!isFree(line)) return
    const key = keyOf(line)
    const atMs = line.atMs ?? 0
    const seen = this.#seen.get(key)
    if (seen !== undefined) seen.freeMs = Math.min(seen.freeMs, atMs)
    else
      this.#seen.set(key, {
        freeMs: atMs,
        wrongMs: Infinity,
        chargedMs: Infinity,
        laterFree: 0,
        laterCharged: 0,
      })
  }

  get isEmpty(): boolean {
    return this.#seen.size === 0
  }

  /** Second look: every row. @param isWrong whether a row should have cost something */
  compare(line: LoggedRequest, isWrong: (line: LoggedRequest) => boolean): void {
    const { statement, request } = line
    if (statement === null || request.usage === null) return
    const seen = this.#seen.get(keyOf(line))
    if (seen === undefined) return
    const atMs = line.atMs ?? 0
    if (!isFree(line)) {
      seen.chargedMs = Math.min(seen.chargedMs, atMs)
      if (atMs > seen.freeMs) seen.laterCharged++
      return
    }
    if (atMs > seen.freeMs) seen.laterFree++
    if (isWrong(line)) seen.wrongMs = Math.min(seen.wrongMs, atMs)
  }

  /** Whether a cache explains all of them: each repeats an earlier one, and most repeats after the first free one are free. */
  get areCached(): boolean {
    let [free, charged] = [0, 0]
    for (const { wrongMs, chargedMs, laterFree, laterCharged } of this.#seen.values()) {
      if (wrongMs === Infinity) continue
      if (chargedMs > wrongMs) return false
      free += laterFree
      charged += laterCharged
    }
    return charged <= free
  }
}

/** Whether a row costs nothing, of an answer with counts. */
export const isFree = ({ statement, request }: LoggedRequest): boolean =>
  statement !== null &&
  isZero(statement.value) &&
  request.usage !== null &&
  request.outcomes.includes('success')

const keyOf = ({ request }: LoggedRequest) =>
  JSON.stringify([request.requestedModel, request.isStream, request.usage?.parts])
