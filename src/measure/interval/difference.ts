import type { Interval } from './interval.ts'

/**
 * How b differs from a: bounds of the difference from those of both (MOVER: Zou and Donner 2008). Null: no bound on
 * that side.
 */
export interface DifferenceInterval {
  readonly change: number
  readonly low: number | null
  readonly high: number | null
}

/** `b / a - 1`; null if a figure is not above 0. */
export function ratioInterval(a: Interval, b: Interval): DifferenceInterval | null {
  if (a.value <= 0 || b.value <= 0) return null
  const log = (value: number | null) => (value === null || value <= 0 ? null : Math.log(value))
  const logs = ({ value, low, high }: Interval) => ({
    value: Math.log(value),
    low: log(low),
    high: log(high),
  })
  const { change, low, high } = apart(logs(a), logs(b))
  const back = (value: number | null) => (value === null ? null : Math.expm1(value))
  return { change: Math.expm1(change), low: back(low), high: back(high) }
}

/** `b - a`. */
export const pointsInterval = (a: Bounds, b: Bounds): DifferenceInterval => apart(a, b)

type Bounds = Pick<Interval, 'value' | 'low' | 'high'>

function apart(a: Bounds, b: Bounds): DifferenceInterval {
  const change = b.value - a.value
  const bound = (of: number | null, other: number | null, sign: -1 | 1) =>
    of === null || other === null ? null : change + sign * Math.hypot(b.value - of, a.value - other)
  return { change, low: bound(b.low, a.high, -1), high: bound(b.high, a.low, 1) }
}
