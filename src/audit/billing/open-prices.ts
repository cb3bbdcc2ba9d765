import type { Credits } from '../../contract/contract.ts'
import type { Evidence } from '../rule.ts'
import { effects, type History, showsBalance } from './history.ts'
import { type Mark, type ReadPrices, readPricesOf } from './read-prices.ts'

/**
 * Prices that the specification leaves open: of reads (gap G-17) and of answers without a token
 * (gap G-16). They are inferred, and the histories told without them, so that every tier looks at
 * what has a price by the contract.
 */
export interface OpenPrices {
  readonly reads: ReadPrices
  /** Reads that may cost a credit, and may not. */
  readonly openReads: readonly (keyof ReadPrices)[]
  /** Whether an answer without a token costs its price; null where nothing tells. */
  readonly emptyIsFree: boolean | null
}

/** Successes that are no plain matter of the contract's prices, by `run/slot/retry`. */
type Marked = ReadonlyMap<string, Mark>

export async function withoutOpenPrices(
  evidence: Evidence,
  histories: readonly History[],
): Promise<{ readonly histories: readonly History[]; readonly prices: OpenPrices }> {
  const marked = await markedSuccesses(evidence)
  const markOf = (history: History, row: number) =>
    marked.get(`${history.runId}/${history.slot[row]}/${history.retry[row]}`)
  const { prices: reads, open: openReads } = readPricesOf(histories, markOf)
  const known =
    reads.models + reads.credits === 0
      ? histories
      : histories.map((history) =>
          withFreeReads(history, (row) => {
            const mark = markOf(history, row)
            return mark === 'models' || mark === 'credits' ? reads[mark] : 0
          }),
        )
  const asIfFree = known.map((history) => withOpenReads(history, openReads, markOf))
  const hasEmpty = [...marked.values()].some((mark) => mark === 'empty' || mark === 'perhaps-empty')
  if (!hasEmpty) return { prices: { reads, openReads, emptyIsFree: null }, histories: asIfFree }
  const emptyIsFree = emptyPolicy(asIfFree, markOf)
  return {
    prices: { reads, openReads, emptyIsFree },
    histories: asIfFree.map((history) => withEmpty(history, emptyIsFree, markOf)),
  }
}

/** Whether a success may have had no token of output, in SQL: a stream that tells no count may. */
export const isEmpty = `(content_events = 0 AND coalesce(completion_tokens, 1 - streamed) = 0)`

async function markedSuccesses({ store, runIds }: Evidence): Promise<Marked> {
  const rows = await store.rows<{ name: string; mark: Mark }>(
    `SELECT run_id || '/' || slot || '/' || retry AS name,
       CASE WHEN endpoint IN ('models', 'credits') THEN endpoint
         WHEN completion_tokens = 0 THEN 'empty' ELSE 'perhaps-empty' END AS mark
     FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND outcome = 'ok' AND key_fp IS NOT NULL
       AND (endpoint IN ('models', 'credits')
         OR endpoint IN ('chat', 'messages') AND ${isEmpty})`,
    [JSON.stringify(runIds)],
  )
  return new Map(rows.map(({ name, mark }) => [name, mark]))
}

type MarkOf = (history: History, row: number) => Mark | undefined

/** By the empty answers that stand alone between two values; they must all say the same. */
function emptyPolicy(histories: readonly History[], markOf: MarkOf): boolean | null {
  const falls = histories.flatMap((history) => {
    const { size, callUs, endUs, value } = history
    const own: boolean[] = []
    for (let row = 1; row + 1 < size; row++) {
      if (markOf(history, row) !== 'empty') continue
      const [before, after] = [row - 1, row + 1]
      if (!showsBalance(history, before) || !showsBalance(history, after)) continue
      if (endUs[before]! >= callUs[row]! || endUs[row]! >= callUs[after]!) continue
      own.push(value[before] === value[after])
    }
    return own
  })
  const [first] = falls
  return first === undefined || falls.some((each) => each !== first) ? null : first
}

/** Free ones are told as what they are to a ledger, reads; of open ones it is open what they took. */
function withEmpty(history: History, isFree: boolean | null, markOf: MarkOf): History {
  if (isFree === false) return history
  const effect = history.effect.slice()
  const costCredits = history.costCredits.slice()
  let [empty, successes] = [0, 0]
  for (let row = 0; row < history.size; row++) {
    if (effect[row] !== effects.charge) continue
    successes++
    const mark = markOf(history, row)
    if (mark !== 'empty' && mark !== 'perhaps-empty') continue
    empty++
    const isRead = isFree === true && mark === 'empty'
    effect[row] = isRead ? effects.read : effects.ambiguous
    if (isRead) costCredits[row] = 0
  }
  // A service that says 0 of most of its answers does not count tokens.
  const isMany = successes >= 20 && empty * (isFree ? 2 : 10) > successes
  return isMany ? history : { ...history, effect, costCredits }
}

/** The history with those reads ambiguous whose price nothing tells. */
function withOpenReads(
  history: History,
  open: readonly (keyof ReadPrices)[],
  markOf: MarkOf,
): History {
  if (open.length === 0) return history
  const effect = history.effect.slice()
  const costCredits = history.costCredits.slice()
  for (let row = 0; row < history.size; row++) {
    const mark = markOf(history, row)
    if (mark === undefined || !open.some((read) => read === mark)) continue
    effect[row] = effects.ambiguous
    costCredits[row] = 1
  }
  return { ...history, effect, costCredits }
}

/**
 * The history as if reads were free: each value raised by what reads had cost until then. Of a read
 * that was in flight beside a value, the one that shows the lower balance is the later.
 */
export function withFreeReads(history: History, priceOf: (row: number) => Credits): History {
  const { size, value, callUs, readUs } = history
  const priced: number[] = []
  let longestUs = 0
  for (let row = 0; row < size; row++) {
    if (priceOf(row) === 0) continue
    priced.push(row)
    longestUs = Math.max(longestUs, readUs[row]! - callUs[row]!)
  }
  priced.sort((a, b) => readUs[a]! - readUs[b]!)
  const spentOnReads = new Float64Array(size)
  let [ended, spent] = [0, 0]
  for (let row = 0; row < size; row++) {
    while (ended < priced.length && readUs[priced[ended]!]! < callUs[row]!) {
      spent += priceOf(priced[ended++]!)
    }
    spentOnReads[row] = spent
    if (Number.isNaN(value[row]!)) continue
    for (let at = ended; at < priced.length; at++) {
      const read = priced[at]!
      if (readUs[read]! - longestUs > readUs[row]!) break
      const beside = callUs[read]! <= readUs[row]!
      if (read === row || (beside && value[read]! >= value[row]!)) {
        spentOnReads[row]! += priceOf(read)
      }
    }
  }
  return { ...history, value: value.map((seen, row) => seen + spentOnReads[row]!), spentOnReads }
}
