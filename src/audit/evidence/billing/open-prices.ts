import type { Credits } from '../../../contract/contract.ts'
import { generatesSql } from '../../../contract/request.ts'
import type { Evidence } from '../../rule.ts'
import { type BalanceHistory, effects, showsBalance, withColumns } from './history.ts'
import { type Mark, type ReadPrices, readPricesOf } from './read-prices.ts'

/** Prices left open, of reads (G-17) and of responses without a token (G-16), are inferred and removed before every tier. */
export interface OpenPrices {
  readonly reads: ReadPrices
  /** Reads whose price no lone read shows. */
  readonly openReads: readonly (keyof ReadPrices)[]
  /** Whether a response without a token is free; null if unknown. */
  readonly emptyIsFree: boolean | null
}

/** Successes with an open price, by `run/slot/retry`. */
type Marked = ReadonlyMap<string, Mark>

/** The histories for the tiers, under one assumption about the open prices. */
export interface PricedHistories {
  readonly prices: OpenPrices
  readonly histories: readonly BalanceHistory[]
  /** Successful reads with a price under this assumption. */
  readonly pricedReads: number
}

/** The possible prices, cheapest first, each computed on demand. */
export type Assumptions = readonly [() => PricedHistories, ...(() => PricedHistories)[]]

/** The possible prices: one per endpoint, equal for all its reads. Lone reads fix a price; else it is 0 or 1. */
export async function withoutOpenPrices(
  evidence: Evidence,
  histories: readonly BalanceHistory[],
): Promise<Assumptions> {
  const marked = await markedSuccesses(evidence)
  const markOf = (history: BalanceHistory, row: number) =>
    marked.get(`${history.runId}/${history.slot[row]}/${history.retry[row]}`)
  const { prices, open } = readPricesOf(histories, markOf)
  const hasEmpty = [...marked.values()].some((mark) => mark === 'empty' || mark === 'perhaps-empty')
  const by = (reads: ReadPrices): PricedHistories => {
    const priceOf = (history: BalanceHistory, row: number) => {
      const mark = markOf(history, row)
      return mark === 'models' || mark === 'credits' ? reads[mark] : 0
    }
    const isFree = reads.models + reads.credits === 0
    const asIfFree = isFree
      ? histories
      : histories.map((history) => withFreeReads(history, (row) => priceOf(history, row)))
    const emptyIsFree = hasEmpty ? emptyPolicy(asIfFree, markOf) : null
    return {
      prices: { reads, openReads: open, emptyIsFree },
      histories: hasEmpty
        ? asIfFree.map((history) => withEmpty(history, emptyIsFree, markOf))
        : asIfFree,
      pricedReads: isFree
        ? 0
        : [...marked.values()].filter(
            (mark) => (mark === 'models' || mark === 'credits') && reads[mark] > 0,
          ).length,
    }
  }
  let every: readonly ReadPrices[] = [prices]
  for (const read of open) every = [every, every.map((reads) => ({ ...reads, [read]: 1 }))].flat()
  const [cheapest, ...dearer] = every
  return [() => by(cheapest!), ...dearer.map((reads) => () => by(reads))]
}

/** SQL: whether a success may have had no output token. A stream without a token count may. */
export const isEmpty = `(content_events = 0 AND coalesce(completion_tokens, 1 - streamed) = 0)`

async function markedSuccesses({ store, runIds }: Evidence): Promise<Marked> {
  const rows = await store.rows<{ name: string; mark: Mark }>(
    `SELECT run_id || '/' || slot || '/' || retry AS name,
       CASE WHEN endpoint IN ('models', 'credits') THEN endpoint
         WHEN completion_tokens = 0 THEN 'empty' ELSE 'perhaps-empty' END AS mark
     FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND outcome = 'ok' AND key_fp IS NOT NULL
       AND (endpoint IN ('models', 'credits')
         OR ${generatesSql} AND ${isEmpty})`,
    [JSON.stringify(runIds)],
  )
  return new Map(rows.map(({ name, mark }) => [name, mark]))
}

type MarkOf = (history: BalanceHistory, row: number) => Mark | undefined

/** From the empty responses that are alone between two values, if all of them agree. */
function emptyPolicy(histories: readonly BalanceHistory[], markOf: MarkOf): boolean | null {
  const stayed = histories.flatMap((history) => {
    const { size, callUs, endUs, value } = history
    const stayedHere: boolean[] = []
    for (let row = 1; row + 1 < size; row++) {
      if (markOf(history, row) !== 'empty') continue
      const [before, after] = [row - 1, row + 1]
      if (!showsBalance(history, before) || !showsBalance(history, after)) continue
      if (endUs[before]! >= callUs[row]! || endUs[row]! >= callUs[after]!) continue
      stayedHere.push(value[before] === value[after])
    }
    return stayedHere
  })
  const [first] = stayed
  return first === undefined || stayed.some((each) => each !== first) ? null : first
}

/** Treats free requests as reads, and the cost of open ones as ambiguous. */
function withEmpty(
  history: BalanceHistory,
  isFree: boolean | null,
  markOf: MarkOf,
): BalanceHistory {
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
  // Above this share of the successes, zeros only mean that the service does not count tokens.
  const mostEmpty = isFree ? 1 / 2 : 1 / 10
  const isMany = successes >= 20 && empty > mostEmpty * successes
  return isMany ? history : withColumns(history, { effect, costCredits })
}

/**
 * The history as if reads were free: each value is raised by the price of the reads that it already shows. These are all that ended before its
 * call and, of those in flight beside it, those that do not show a lower balance. A read without a balance becomes an unplaced charge.
 */
export function withFreeReads(
  history: BalanceHistory,
  priceOf: (row: number) => Credits,
): BalanceHistory {
  const { size, value, callUs, readUs } = history
  const effect = history.effect.slice()
  const costCredits = history.costCredits.slice()
  const priced: number[] = []
  let longestUs = 0
  for (let row = 0; row < size; row++) {
    const price = priceOf(row)
    if (price === 0) continue
    if (Number.isNaN(value[row]!)) {
      effect[row] = effects.charge
      costCredits[row] = price
      continue
    }
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
      if (read === row || (beside && value[read]! >= value[row]!))
        spentOnReads[row]! += priceOf(read)
    }
  }
  return withColumns(history, {
    effect,
    costCredits,
    value: value.map((seen, row) => seen + spentOnReads[row]!),
    spentOnReads,
  })
}
