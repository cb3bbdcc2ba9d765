import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { type BalanceHistory, effects } from '../../evidence/billing/history.ts'
import { rowsWhere } from '../../evidence/billing/operations.ts'
import { RunningSum } from '../../evidence/billing/running-sum.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'

/**
 * A request whose preceding balance is known, as nothing was in flight; between two values if the header's meaning (gap G-12),
 * or an abandoned request's charge (gaps G-13, G-14), is open.
 */
export interface Known {
  readonly reading: BalanceReading
  readonly row: number
  readonly atLeast: number
  readonly atMost: number
  readonly cost: number
}

/** Requests right after an idle value, each with its balance, without those before which credits came in or may have expired. */
export function knownBalances(
  readings: readonly BalanceReading[],
  contract: Contract,
): readonly Known[] {
  return readings.flatMap((reading) => {
    const { history, conservation } = reading
    if (reading.fits === 'late') return []
    const { effect, costCredits, callUs, endUs } = history
    const left = creditsLeft(history)
    const paid = creditsPaid(reading)
    const known: Known[] = []
    for (const [at, idle] of conservation.idle.entries()) {
      if (isMoved(reading, at, contract)) continue
      // The next request that can change the balance; earlier reads and 4xx cannot.
      for (let row = idle + 1; row < history.size; row++) {
        if (callUs[row]! <= endUs[idle]!) continue
        if (costCredits[row]! > 0) {
          const [least, most] = shownBy(reading, at)
          known.push({
            reading,
            row,
            // What may have been taken since: by what is left of abandoned requests, of which some had paid before, and by others.
            atLeast:
              least -
              Math.min(left(idle, row), left(idle, row, true) - paid(at)) -
              takenBeside(history, row),
            atMost: most + left(idle, idle),
            cost: costCredits[row]!,
          })
        }
        // A priced read has a value of its own, which the next request follows.
        if (effect[row] !== effects.read || history.spentOnReads !== undefined) break
      }
    }
    return known
  })
}

/** Whether credits came in or may have expired between this idle value and the next. */
function isMoved(reading: BalanceReading, at: number, contract: Contract): boolean {
  const { idle, stretches } = reading.conservation
  const { readUs } = reading.history
  const from = readUs[idle[at]!]!
  const to = at + 1 < idle.length ? readUs[idle[at + 1]!]! : Infinity
  if (reading.gifts.some(({ row }) => readUs[row]! > from && readUs[row]! <= to)) return true
  const stretch = stretches[at]
  return stretch !== undefined && mayBeMoved(contract, stretch)
}

/** Upper bound of the balance after the first idle value. */
export function mostAtFirst(reading: BalanceReading): number {
  const [first] = reading.conservation.idle
  return first === undefined
    ? Infinity
    : shownBy(reading, 0)[1] + creditsLeft(reading.history)(first, first)
}

/** Bounds of the balance after an idle value, by the meanings of the header. */
function shownBy(reading: BalanceReading, at: number): readonly [least: number, most: number] {
  const { history, conservation } = reading
  const idle = conservation.idle[at]!
  const onReads = history.spentOnReads?.[idle] ?? 0
  if (history.effect[idle] !== effects.charge || isSettled(reading, idle)) {
    const balance = conservation.balance[at]! - onReads
    return [balance, balance]
  }
  const value = history.value[idle]! - onReads
  return [value - history.costCredits[idle]!, value]
}

/** Whether the meaning of this charge's header is known. */
function isSettled({ history, meanings }: BalanceReading, row: number): boolean {
  const kind = history.streamed[row] === 1 ? 'stream' : 'plain'
  return new Set(meanings.map((meaning) => meaning[kind])).size === 1
}

/**
 * Credits that abandoned requests have paid by an idle value, which they no longer hold: of all that was taken, what no other
 * request explains (`taken - sure`). 0 if something else may have taken them.
 */
function creditsPaid({ fits, doubt, conservation }: BalanceReading): (at: number) => number {
  if (fits === 'none' || doubt !== null) return () => 0
  const paid = [0]
  for (const { taken, sure } of conservation.stretches) paid.push(paid.at(-1)! + taken - sure)
  return (at) => Math.max(0, paid[at]!)
}

/** Cost of the ambiguous requests before a row's end; unless `all`, without those that expired before the idle value's call. */
function creditsLeft(
  history: BalanceHistory,
): (idle: number, until: number, all?: boolean) => number {
  const { size, effect, callUs, endUs, costCredits, settlesByUs } = history
  const left = rowsWhere(size, (row) => effect[row] === effects.ambiguous)
  const cost = (row: number) => costCredits[row]!
  const called = new RunningSum(left, (row) => callUs[row]!, cost)
  const expired = new RunningSum(left, (row) => settlesByUs[row]!, cost)
  return (idle, until, all = false) =>
    called.upTo(endUs[until]!) - (all ? 0 : expired.before(callUs[idle]!))
}

/** Credits that later calls take, or hold for a while, before this request ends. */
function takenBeside(
  { size, callUs, endUs, effect, costCredits }: BalanceHistory,
  row: number,
): number {
  let credits = 0
  for (let other = row + 1; other < size && callUs[other]! < endUs[row]!; other++) {
    if (effect[other] !== effects.ambiguous) credits += costCredits[other]!
  }
  return credits
}
