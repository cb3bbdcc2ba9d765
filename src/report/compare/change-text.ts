import type { Difference } from './differences.ts'

/** `+12.3 % [+8.0, +16.9]`, in points for shares. */
export function changeText(difference: Difference): string {
  const interval = intervalText(difference)
  return interval === null ? changeAlone(difference) : `${changeAlone(difference)} ${interval}`
}

/** `+12.3 %`, or `-` without a change. */
export const changeAlone = ({ change, unit }: Difference): string =>
  change === null ? '-' : `${percent(change)} ${unit === 'share' ? 'points' : '%'}`

/** `[+8.0, +16.9]`, in the unit of the change, a dash for a side without a bound; null without an interval. */
export function intervalText({ change, interval }: Difference): string | null {
  return change === null || interval === null
    ? null
    : `[${interval.map((end) => (end === null ? '–' : percent(end))).join(', ')}]`
}

function percent(value: number): string {
  const rounded = (value * 100).toFixed(Math.abs(value) < 0.1 ? 2 : 1)
  return value > 0 ? `+${rounded}` : rounded
}
