import type { Credits } from '../../../../contract/contract.ts'
import { add, type Ranges, ranges } from './ranges.ts'

/** An abandoned attempt, for a policy that acts after a delay. */
export interface Leaver {
  /** The stretch of its call. */
  readonly own: number
  readonly costCredits: Credits
  /** Cost that may have been charged at once, because it may have finished. */
  readonly finishedCredits: Credits
  /** The start of the delay: its call or its abort. */
  readonly anchorUs: number
}

/** Up to this many attempts near settled values are tried on either side in any way. */
const fewNear = 4

/**
 * All policies that charge each attempt, or return its held price, after a delay from its anchor.
 *
 *     settled values    |-- stretch 0 --|-- stretch 1 --|-- stretch 2 --|
 *     attempt A            a.......>charged in 0
 *     attempt B                    b.......>charged in 1
 *                          |-delay-|
 *
 * The delay is not known, but only its order matters: a longer one changes nothing until some attempt passes a settled
 * value. So few delays are tried: those at which an attempt is right at a value, and one between each two. `delayed`
 * charges nothing before the delay has ended; `held` takes the price at the call and returns it then.
 *
 * Delays rise, so each attempt only moves to later stretches. Moments within `noticeUs` of a settled value may be on
 * either side of it.
 */
export function delayedPolicies(
  leavers: readonly Leaver[],
  settledUs: readonly number[],
  noticeUs: number,
): readonly Ranges[] {
  // Stretch -1 is before the first settled value, and `count` after the last; `add` ignores both.
  const count = settledUs.length - 1
  const policies: Ranges[] = []
  const earliest = new Int32Array(leavers.length).fill(-1)
  const latest = new Int32Array(leavers.length).fill(-1)
  const moveTo = (stretches: Int32Array, nth: number, us: number) => {
    while ((settledUs[stretches[nth]! + 1] ?? Infinity) < us) stretches[nth]!++
  }
  for (const delayUs of delaysOf(leavers, settledUs)) {
    const [delayed, held] = [ranges(count), ranges(count)]
    const near: number[] = []
    for (let nth = 0; nth < leavers.length; nth++) {
      const us = leavers[nth]!.anchorUs + delayUs
      moveTo(earliest, nth, us - noticeUs)
      moveTo(latest, nth, us + noticeUs)
      if (earliest[nth] === latest[nth]) addTo(delayed, held, leavers[nth]!, earliest[nth]!)
      else near.push(nth)
    }
    for (const after of sidesOf(near)) {
      const sides = { delayed: copyOf(delayed), held: copyOf(held) }
      for (const nth of near) {
        const at = (after.has(nth) ? latest : earliest)[nth]!
        addTo(sides.delayed, sides.held, leavers[nth]!, at)
      }
      policies.push(sides.delayed, sides.held)
    }
  }
  return policies
}

/** What a leaver takes by both policies. The held price is returned at that stretch, unless it had finished. */
function addTo(
  delayed: Ranges,
  held: Ranges,
  { own, costCredits, finishedCredits }: Leaver,
  stretch: number,
): void {
  if (stretch <= own) {
    add(delayed, own, costCredits, costCredits)
    add(held, own, 0, finishedCredits)
    return
  }
  add(delayed, own, 0, finishedCredits)
  add(delayed, stretch, costCredits - finishedCredits, costCredits)
  add(held, own, costCredits, costCredits)
  add(held, stretch, -costCredits, finishedCredits - costCredits)
}

const copyOf = ({ least, most }: Ranges): Ranges => ({ least: least.slice(), most: most.slice() })

/** Which attempts near settled values come after them: any subset for a few, else the last ones. */
function sidesOf(near: readonly number[]): readonly ReadonlySet<number>[] {
  if (near.length > fewNear)
    return Array.from({ length: near.length + 1 }, (_, at) => new Set(near.slice(at)))
  return Array.from(
    { length: 1 << near.length },
    (_, sides) => new Set(near.filter((_, at) => (sides >> at) & 1)),
  )
}

/** Delays at which some attempt moves to the next stretch, and one between each two, rising. */
function delaysOf(leavers: readonly Leaver[], settledUs: readonly number[]): readonly number[] {
  const edges = Float64Array.from(
    leavers.flatMap(({ anchorUs }) => settledUs.map((us) => us - anchorUs)).filter((us) => us > 0),
  ).sort()
  const delays = Array.from(edges, (edge, at) => [
    edge,
    (edge + (edges[at + 1] ?? edge + 2)) / 2,
  ]).flat()
  return [0, ...new Set(delays)]
}
