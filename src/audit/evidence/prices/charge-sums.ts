import { type Rational, rational } from '../../../money/rational.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { countBelow, countUpTo } from '../../../user/count-below.ts'

export interface ChargeBounds {
  readonly request: PricedRequest
  readonly low: Rational
  /** Null without an upper bound. */
  readonly high: Rational | null
  /** Whether the prices alone say exactly this cost. */
  readonly isComputed: boolean
  /** Whether both bounds are whole numbers of the smallest unit, which no rounding moves. */
  readonly isWhole: boolean
}

export interface ChargeSum {
  readonly count: number
  readonly low: Rational
  /** Null if one of them has no upper bound. */
  readonly high: Rational | null
  readonly open: number
  readonly notComputed: number
  readonly notWhole: number
}

/** Sums in units that all costs have in common. */
interface Units {
  count: number
  low: bigint
  high: bigint
  open: number
  notComputed: number
  notWhole: number
}

/**
 * Sums of charges between two moments, each in O(log n): prefix sums over the starts and the ends of requests, and a tree of
 * ends for the requests that span a moment. A sum for each pair of readings then takes no longer than the readings and requests.
 */
export class ChargeSums {
  /** By their start. */
  private readonly charges: readonly ChargeBounds[]
  private readonly withinMs: number
  private readonly units: readonly Units[]
  private readonly scale: bigint
  private readonly starts: Float64Array
  private readonly ends: Float64Array
  /** The latest end of a charge and all that began before it. */
  private readonly latest: Float64Array
  private readonly byStart: readonly Units[]
  private readonly byEnd: readonly Units[]
  /** Place of each charge among the ends. */
  private readonly rank: Int32Array
  private readonly tree: Units[]
  private taken = 0

  /** @param withinMs how long after its end a request may be charged */
  constructor(charges: readonly ChargeBounds[], withinMs: number) {
    this.withinMs = withinMs
    this.charges = charges.toSorted((a, b) => a.request.startMs - b.request.startMs)
    this.scale = commonScale(charges)
    this.units = this.charges.map((charge) => this.unitsOf(charge))
    this.starts = Float64Array.from(this.charges, ({ request }) => request.startMs)
    this.latest = new Float64Array(this.charges.length)
    for (let at = 0; at < this.charges.length; at++)
      this.latest[at] = Math.max(this.endOf(at), this.latest[at - 1] ?? Number.NEGATIVE_INFINITY)
    const order = this.charges.map((_, at) => at).toSorted((a, b) => this.endOf(a) - this.endOf(b))
    this.ends = Float64Array.from(order, (at) => this.endOf(at))
    this.byStart = prefixSums(this.units)
    this.byEnd = prefixSums(order.map((at) => this.units[at]!))
    this.rank = new Int32Array(order.length)
    for (const [rank, at] of order.entries()) this.rank[at] = rank
    this.tree = Array.from({ length: order.length + 1 }, none)
  }

  /** Requests that may be charged in a time: they began before its end, and were not over before its start. */
  touching(fromMs: number, untilMs: number): ChargeSum {
    const begun = this.byStart[countUpTo(this.starts, untilMs)]!
    return this.said(less(begun, this.byEnd[countBelow(this.ends, fromMs)]!))
  }

  /** The same as a list: those that are surely charged from `sureMs` to `endMs` first. */
  listed(fromMs: number, untilMs: number, sureMs: number, endMs: number): readonly PricedRequest[] {
    const all: PricedRequest[] = []
    const begun = countUpTo(this.starts, untilMs)
    for (let at = begun; at > 0 && this.latest[at - 1]! >= fromMs; at--)
      if (this.endOf(at - 1) >= fromMs) all.push(this.charges[at - 1]!.request)
    all.reverse()
    const isSure = (request: PricedRequest) =>
      request.startMs >= sureMs && request.endMs + this.withinMs <= endMs
    return [...all.filter(isSure), ...all.filter((request) => !isSure(request))]
  }

  /**
   * Requests that are surely charged from one moment to another, and those that began until it and may be charged after the
   * other: `behind`. Each request is in one of these rows, by its start and the last time of its charge:
   *
   *                 fromMs        endMs
   *       ├────────────┼────┤       │          early
   *       ├────────────┼────────────┼────┤     across    behind
   *                    ├────────────┼────┤               behind: it began at `fromMs` itself
   *                    │   ├────┤   │          surely = all that are over by `endMs`, but not early
   *
   * @param fromMs may not be less than at the call before: the tree of ends holds the requests that began until then
   */
  between(
    fromMs: number,
    endMs: number,
  ): { readonly surely: ChargeSum; readonly behind: ChargeSum } {
    this.takeUntil(fromMs)
    const behind = this.later(endMs)
    const first = countBelow(this.starts, fromMs)
    let across = behind
    for (let at = first; at < this.taken; at++)
      if (this.endOf(at) > endMs) across = less(across, this.units[at]!)
    const over = this.byEnd[countUpTo(this.ends, endMs)]!
    const early = less(this.byStart[first]!, across)
    return { surely: this.said(less(over, early)), behind: this.said(behind) }
  }

  private endOf(at: number): number {
    return this.charges[at]!.request.endMs + this.withinMs
  }

  /** Puts the requests that began until a moment into the tree. */
  private takeUntil(ms: number): void {
    const end = countUpTo(this.starts, ms)
    for (; this.taken < end; this.taken++) {
      const units = this.units[this.taken]!
      for (let at = this.rank[this.taken]! + 1; at < this.tree.length; at += at & -at)
        this.tree[at] = more(this.tree[at]!, units)
    }
  }

  /** Of the requests in the tree, those that are charged after a moment. */
  private later(ms: number): Units {
    let until = none()
    for (let at = countUpTo(this.ends, ms); at > 0; at -= at & -at)
      until = more(until, this.tree[at]!)
    return less(this.byStart[this.taken]!, until)
  }

  private unitsOf({ low, high, isComputed, isWhole }: ChargeBounds): Units {
    const scaled = ({ numerator, denominator }: Rational) => numerator * (this.scale / denominator)
    return {
      count: 1,
      low: scaled(low),
      high: high === null ? 0n : scaled(high),
      open: high === null ? 1 : 0,
      notComputed: isComputed ? 0 : 1,
      notWhole: isWhole ? 0 : 1,
    }
  }

  private said({ low, high, ...counts }: Units): ChargeSum {
    return {
      ...counts,
      low: rational(low, this.scale),
      high: counts.open > 0 ? null : rational(high, this.scale),
    }
  }
}

const none = (): Units => ({ count: 0, low: 0n, high: 0n, open: 0, notComputed: 0, notWhole: 0 })

const more = (a: Units, b: Units): Units => combined(a, b, 1)
const less = (a: Units, b: Units): Units => combined(a, b, -1)

function combined(a: Units, b: Units, sign: 1 | -1): Units {
  return {
    count: a.count + sign * b.count,
    low: a.low + BigInt(sign) * b.low,
    high: a.high + BigInt(sign) * b.high,
    open: a.open + sign * b.open,
    notComputed: a.notComputed + sign * b.notComputed,
    notWhole: a.notWhole + sign * b.notWhole,
  }
}

/** @returns the sum of the first n, at n */
function prefixSums(units: readonly Units[]): readonly Units[] {
  const sums = [none()]
  for (const each of units) sums.push(more(sums.at(-1)!, each))
  return sums
}

/** The least denominator that all costs have in common. */
function commonScale(charges: readonly ChargeBounds[]): bigint {
  const seen = new Set<bigint>()
  for (const { low, high } of charges) {
    seen.add(low.denominator)
    if (high !== null) seen.add(high.denominator)
  }
  let scale = 1n
  for (const denominator of seen) scale *= rational(denominator, scale).numerator
  return scale
}
