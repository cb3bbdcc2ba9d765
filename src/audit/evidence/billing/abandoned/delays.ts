import type { Credits } from '../../../../contract/contract.ts'
import { add, type Ranges, ranges } from './combinations.ts'

/** An attempt that was left, to a policy that acts so much later. */
export interface Leaver {
  /** Its stretch, by its call. */
  readonly own: number
  readonly costCredits: Credits
  /** What it may have cost at once, since it had perhaps finished. */
  readonly finishedCredits: Credits
  /** What the delay counts from: its call, or its leaving. */
  readonly anchorUs: number
}

/** So few attempts about settled values may lie on either side in any way. */
const fewNear = 4

/**
 * All policies that charge each leaver, or give back what they held of it, so much after its anchor.
 *
 * Delays rise, so the stretch in which each moment lies only moves on. Moments within `noticeUs` of a
 * settled value lie on either side of it, those of earlier ones before it.
 */
export function delayedPolicies(
  leavers: readonly Leaver[],
  readUs: readonly number[],
  noticeUs: number,
): readonly Ranges[] {
  const count = readUs.length - 1
  const policies: Ranges[] = []
  const earliest = new Int32Array(leavers.length).fill(-1)
  const latest = new Int32Array(leavers.length).fill(-1)
  const moveTo = (stretches: Int32Array, nth: number, us: number) => {
    while ((readUs[stretches[nth]! + 1] ?? Infinity) < us) stretches[nth]!++
  }
  for (const delayUs of delaysOf(leavers, readUs)) {
    const [delayed, held] = [ranges(count), ranges(count)]
    const near: number[] = []
    for (let nth = 0; nth < leavers.length; nth++) {
      const us = leavers[nth]!.anchorUs + delayUs
      moveTo(earliest, nth, us - noticeUs)
      moveTo(latest, nth, us + noticeUs)
      if (earliest[nth] === latest[nth]) chargeAt(delayed, held, leavers[nth]!, earliest[nth]!)
      else near.push(nth)
    }
    for (const after of sidesOf(near)) {
      const sides = { delayed: copyOf(delayed), held: copyOf(held) }
      for (const nth of near) {
        const at = (after.has(nth) ? latest : earliest)[nth]!
        chargeAt(sides.delayed, sides.held, leavers[nth]!, at)
      }
      policies.push(sides.delayed, sides.held)
    }
  }
  return policies
}

function chargeAt(
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

function copyOf({ least, most }: Ranges): Ranges {
  return { least: least.slice(), most: most.slice() }
}

/** Which of those about settled values come after them: in any way for a few, else the last ones. */
function sidesOf(near: readonly number[]): readonly ReadonlySet<number>[] {
  if (near.length > fewNear) {
    return Array.from({ length: near.length + 1 }, (_, at) => new Set(near.slice(at)))
  }
  return Array.from(
    { length: 1 << near.length },
    (_, sides) => new Set(near.filter((_, at) => (sides >> at) & 1)),
  )
}

/** Delays at which some attempt moves from one stretch to the next, and some between, rising. */
function delaysOf(leavers: readonly Leaver[], readUs: readonly number[]): readonly number[] {
  const edges = Float64Array.from(
    leavers.flatMap(({ anchorUs }) => readUs.map((us) => us - anchorUs)).filter((us) => us > 0),
  ).sort()
  const delays = Array.from(edges, (edge, at) => [
    edge,
    (edge + (edges[at + 1] ?? edge + 2)) / 2,
  ]).flat()
  return [0, ...new Set(delays)]
}
