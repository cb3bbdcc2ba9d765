import type { PastDay } from '../../src/report/usage/burn-model.ts'

const dayUs = 86_400e6

/** Monday, 2 November 2026. */
export const mondayUs = Date.UTC(2026, 10, 2) * 1000

/** Days with these credits from Monday on; shares of partly seen days, by index. */
export function pastDays(
  burns: readonly number[],
  shares: Readonly<Record<number, number>> = {},
): readonly PastDay[] {
  return burns.map((credits, day) => ({
    startUs: mondayUs + day * dayUs,
    weekday: (day % 7) + 1,
    credits,
    share: shares[day] ?? 1,
  }))
}

const noise = [3, -4, 1, 6, -2, 0, -5, 4, 2, -3, -1]

/** This many days at a level for each weekday, with a noise that is always the same. */
export const noisyWeeks = (days: number, levelOf: (weekday: number) => number): readonly number[] =>
  Array.from({ length: days }, (_, day) => levelOf((day % 7) + 1) + noise[day % noise.length]!)

/** Twelve days with a quiet weekend, of which the first and the last were seen only in part. */
export const unevenDays = pastDays([40, 96, 101, 106, 98, 6, 1, 104, 102, 97, 99, 30], {
  0: 0.5,
  11: 0.25,
})
