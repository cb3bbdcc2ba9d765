import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects, type History } from '../../evidence/billing/history.ts'
import { rowsWhere } from '../../evidence/billing/operations.ts'
import { RunningSum } from '../../evidence/billing/running-sum.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'

/**
 * A request whose balance before it is known, because nothing was in flight. Where the header of
 * the charge before it may show the balance before or after that charge (gap G-12), or a request that
 * its client left may still be charged or give back what it held (gaps G-13, G-14), it lies between two
 * values.
 */
export interface Known {
  readonly reading: BalanceReading
  readonly row: number
  readonly atLeast: number
  readonly atMost: number
  readonly cost: number
}

/**
 * Requests that came right after an idle value: the balance that each of them met. Where credits came in or
 * may have expired before the next idle value, it is not known.
 */
export function knownBalances(
  readings: readonly BalanceReading[],
  contract: Contract,
): readonly Known[] {
  return readings.flatMap((reading) => {
    const { history, conservation } = reading
    if (reading.fits === 'late') return []
    const { effect, costCredits, callUs, endUs } = history
    const left = creditsLeft(history)
    const known: Known[] = []
    for (const [at, idle] of conservation.idle.entries()) {
      if (isMoved(reading, at, contract)) continue
      // The next request that can move the balance; reads and 4xx before it do not.
      for (let row = idle + 1; row < history.size; row++) {
        if (callUs[row]! <= endUs[idle]!) continue
        if (costCredits[row]! > 0) {
          const [least, most] = shownBy(reading, at)
          known.push({
            reading,
            row,
            atLeast: least - left(idle, row) - takenBeside(history, row),
            atMost: most + left(idle, idle),
            cost: costCredits[row]!,
          })
        }
        // A read that cost something has a value of its own, from which the next goes on.
        if (effect[row] !== effects.read || history.spentOnReads !== undefined) break
      }
    }
    return known
  })
}

/** Whether credits came in after an idle value, or may have expired, before the next one. */
function isMoved(reading: BalanceReading, at: number, contract: Contract): boolean {
  const { idle, segments } = reading.conservation
  const { readUs } = reading.history
  const from = readUs[idle[at]!]!
  const to = at + 1 < idle.length ? readUs[idle[at + 1]!]! : Infinity
  if (reading.gifts.some(({ row }) => readUs[row]! > from && readUs[row]! <= to)) return true
  const segment = segments[at]
  return segment !== undefined && mayBeMoved(contract, segment)
}

/** The most that the balance may be after the first idle value. */
export function mostAtFirst(reading: BalanceReading): number {
  const [first] = reading.conservation.idle
  return first === undefined
    ? Infinity
    : shownBy(reading, 0)[1] + creditsLeft(reading.history)(first, first)
}

/** The balance after an idle value: the least and the most that it may be by the meaning of headers. */
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

/** Whether it is known which balance the header of this charge shows. */
function isSettled({ history, meanings }: BalanceReading, row: number): boolean {
  const kind = history.streamed[row] === 1 ? 'stream' : 'plain'
  return new Set(meanings.map((meaning) => meaning[kind])).size === 1
}

/**
 * What ambiguous requests called by the end of a row cost together, but for those whose time was over
 * when the idle value was asked for.
 */
function creditsLeft(history: History): (idle: number, until: number) => number {
  const { size, effect, callUs, endUs, costCredits, settlesByUs } = history
  const left = rowsWhere(size, (row) => effect[row] === effects.ambiguous)
  const cost = (row: number) => costCredits[row]!
  const called = new RunningSum(left, (row) => callUs[row]!, cost)
  const expired = new RunningSum(left, (row) => settlesByUs[row]!, cost)
  return (idle, until) => called.upTo(endUs[until]!) - expired.before(callUs[idle]!)
}

/** What requests called later take, or hold for a while, before this one is answered. */
function takenBeside({ size, callUs, endUs, effect, costCredits }: History, row: number): number {
  let credits = 0
  for (let other = row + 1; other < size && callUs[other]! < endUs[row]!; other++) {
    if (effect[other] !== effects.ambiguous) credits += costCredits[other]!
  }
  return credits
}
