import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Stretch } from '../../evidence/billing/conservation.ts'
import { effects } from '../../evidence/billing/history.ts'
import { inconclusive, type Verdict } from '../../verdict.ts'
import { clearStretches, rowsOf, type SeenStretch } from './stretches.ts'

/** This many stretches beside each other may be off through one value, or a few. */
const mostBeside = 4

/**
 * The stretches on both sides of values that are off by themselves. What one stretch takes too much, the next takes too
 * little, or the other way round. A wrong price takes more and more.
 *
 *     true balance    100     98     96     94         100     98     96     94
 *     shown           100     97     96     94         100     97     94     91
 *     taken               3      1      2                  3      3      3
 *     excess             +1     -1      0                 +1     +1     +1
 *                     one value is off: cancels        a wrong price: adds up
 *
 * Two wrong prices in turn look the same. So some such stretch must be one that nothing paid for, or all that is off in an account
 * cancels, more than once, on models that cost their price elsewhere.
 */
export function misread(readings: readonly BalanceReading[]): ReadonlySet<Stretch> {
  const clear = readings.map((reading) => clearStretches([reading]))
  const right = new Set(
    clear.flat().flatMap((seen) => (seen.stretch.excess === 0 ? modelsOf(seen) : [])),
  )
  const costsElsewhere = (seen: SeenStretch) => modelsOf(seen).every((model) => right.has(model))
  const accounts = clear.map((stretches) => {
    const off = stretches.filter(({ stretch: { excess } }) => excess !== 0)
    const groups = cancelling(off)
    const cancelled = groups.flat()
    const isAll = cancelled.length === off.length && off.every(costsElsewhere)
    return { cancelled, isHabit: isAll && groups.length > 1 }
  })
  const isProven = accounts.some(({ cancelled }) => cancelled.some(paysNothing))
  return new Set(
    accounts
      .filter(({ isHabit }) => isProven || isHabit)
      .flatMap(({ cancelled }) => cancelled.map(({ stretch }) => stretch)),
  )
}

/** Of stretches that are off, in their order, neighbours whose excesses cancel each other. */
function cancelling(off: readonly SeenStretch[]): readonly (readonly SeenStretch[])[] {
  const found: (readonly SeenStretch[])[] = []
  for (let from = 0; from < off.length; from++) {
    let sum = 0
    const near = off.slice(from, from + mostBeside)
    const last = near.findIndex(({ stretch: { excess } }) => {
      sum += excess
      return sum === 0
    })
    if (last < 0) continue
    found.push(near.slice(0, last + 1))
    from += last
  }
  return found
}

const modelsOf = (seen: SeenStretch): readonly number[] =>
  rowsOf(seen, 'charge').map((row) => seen.reading.history.model[row]!)

/** Whether only reads are in the stretch: no success and no failure, which may have cost something. */
function paysNothing({ reading: { history }, stretch: { from, to, sure } }: SeenStretch): boolean {
  const between = history.effect.subarray(from + 1, to + 1)
  return sure === 0 && between.every((effect) => effect === effects.read)
}

/** The verdict on prices if only requests beside a value that is off contradict them. */
export const misreadVerdict = (observations: number, beside: number): Verdict =>
  inconclusive(
    observations,
    `${beside} ${beside === 1 ? 'request seems' : 'requests seem'} to cost another price, beside a value of the balance that is wrong while the next is right. The value is wrong there (BILL-10, BILL-11), and the price is not known`,
  )
