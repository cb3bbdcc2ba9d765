import type { BoardData } from './data.ts'

export interface Bar {
  /** Local hours since 1970; the end is not part of it. */
  readonly start: number
  readonly end: number
  readonly measured: boolean
  /** Not over, or not measured to its end. */
  readonly open: boolean
}

export const mostBars: number
export function bucketOf(data: BoardData, from: number, to: number): BoardData['finest']
export function barsOf(
  data: BoardData,
  from: number,
  to: number,
): { readonly name: BoardData['finest']; readonly bars: readonly Bar[] }

/** Latencies are counted in steps of a tenth: step `n` reaches from 1.1^n to 1.1^(n + 1) milliseconds. */
export const latencyStep: number
