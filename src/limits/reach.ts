import { type Band, type LimitWindow, limitOf } from '../contract/contract.ts'

/**
 * Whether paid traffic can reach a limit. Each success costs at least one credit, so the credits of a
 * band may run out before its hourly or daily limit.
 */
export type Reach =
  | { readonly reachable: false; readonly why: string }
  | {
      readonly reachable: true
      /** Start balance with which the band lasts. */
      readonly credits: number
      /** Shortest time at the limits of the shorter windows. */
      readonly minutes: number
    }

/** Assumes no top-ups and the lowest price; see the rulebook's arithmetic, 3.1. */
export function reachOf(band: Band, window: LimitWindow): Reach {
  const needed = limitOf(band, window)
  const inBand = (band.maxBalance ?? Infinity) - band.minBalance + 1
  if (needed > inBand) {
    return {
      reachable: false,
      why: `band ${band.name} holds ${inBand} credits, which end before ${needed} requests`,
    }
  }
  const byMinute = needed / band.requests.minute
  const byHour = (needed / band.requests.hour) * 60
  const minutes = window === 'minute' ? 1 : window === 'day' ? Math.max(byMinute, byHour) : byMinute
  return { reachable: true, credits: band.minBalance + needed, minutes: Math.round(minutes) }
}
