import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Segment } from '../../evidence/billing/conservation.ts'
import { effects } from '../../evidence/billing/history.ts'
import type { Verdict } from '../../verdict.ts'
import { clearStretches } from './segments.ts'

/**
 * Stretches on both sides of a value that is off by itself: what one takes too much, the next that is off takes too
 * little, or the other way round. A wrong price takes more and more.
 *
 * Two wrong prices in turn look the same. So some such stretch must be one that nothing paid for.
 */
export function misread(readings: readonly BalanceReading[]): ReadonlySet<Segment> {
  const found = new Set<Segment>()
  let isProven = false
  for (const reading of readings) {
    const off = clearStretches([reading]).filter(({ excess }) => excess !== 0)
    for (let at = 1; at < off.length; at++) {
      const [before, after] = [off[at - 1]!, off[at]!]
      if (before.excess !== -after.excess) continue
      for (const { segment } of [before, after]) {
        found.add(segment)
        isProven ||= paysNothing(reading, segment)
      }
      at++
    }
  }
  return isProven ? found : new Set()
}

/** Whether only reads are in the segment: no success and no failure, which may have cost something. */
function paysNothing({ history }: BalanceReading, { from, to, sure }: Segment): boolean {
  return (
    sure === 0 &&
    history.effect.subarray(from + 1, to + 1).every((effect) => effect === effects.read)
  )
}

/** The verdict on prices if only requests beside a value that is off contradict them. */
export const misreadVerdict = (observations: number, beside: number): Verdict => ({
  verdict: 'inconclusive',
  observations,
  why: `${beside} ${beside === 1 ? 'request is' : 'requests are'} beside a value of the balance that is off while the next is right again: a wrong value, which BILL-10 and BILL-11 are about, looks like a wrong price there`,
})
