import type { Band, Window } from '../contract/contract.ts'

/**
 * Whether paid traffic can hit a limit at all: each success costs a credit at least, so a band may
 * end before its hour's or day's limit does.
 */
export type Reach =
  | { readonly reachable: false; readonly why: string }
  | {
      readonly reachable: true
      /** Balance to start from, so that the band does not end first. */
      readonly credits: number
      /** Shortest time at the limits of the shorter windows. */
      readonly minutes: number
    }

/** Without top-ups and at the lowest price; see the rulebook's arithmetic, 3.1. */
export function reachOf(band: Band, window: Window): Reach {
  const needed = band.requests[window]
  const inBand = (band.maxBalance ?? Infinity) - band.minBalance + 1
  if (needed > inBand) {
    return {
      reachable: false,
      why: `band ${band.name} holds ${inBand} credits, which end before ${needed} requests`,
    }
  }
  const byMinute = needed / band.requests.minute
  const byHour = (needed / band.requests.hour) * 60
  const minutes = { minute: 1, hour: byMinute, day: Math.max(byMinute, byHour) }[window]
  return { reachable: true, credits: band.minBalance + needed, minutes: Math.round(minutes) }
}
