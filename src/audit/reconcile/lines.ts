import type { Rational } from '../../money/rational.ts'
import type { KindCounts } from '../../tokens/kinds.ts'

/** Why a bill differs from what the contract gives for the log, in the order in which they are looked for. */
export const causes = [
  'missing',
  'tokens',
  'price',
  'tier or discount',
  'rounding',
  'tax',
  'credit',
  'fee',
  'late',
  'unexplained',
] as const
export type Cause = (typeof causes)[number]

export interface Line {
  readonly id: string | null
  /** UTC. */
  readonly day: string
  readonly model: string
  readonly account: string | null
}

/** A line of a bill. */
export interface BillLine extends Line {
  /** `usage`, or what it is beside use: `tax`, `credit`, `discount`, `fee` … */
  readonly type: string
  readonly amount: Rational
  /** Null if the bill does not say it. */
  readonly requests: number | null
  readonly counts: KindCounts | null
}

/** A request of the own log. */
export interface LogLine extends Line {
  readonly counts: KindCounts | null
  /** What the log says that it cost; null if it does not. */
  readonly logged: Rational | null
  /** What the contract gives; null if that is not known. */
  readonly expected: Rational | null
}

/** What explains an amount that is not the expected one. */
export interface Explained {
  readonly cause: 'price' | 'tier or discount'
  readonly summary: string
}

export interface Pricing {
  /** The cost of other tokens than a line of the log has, or of the sum of lines; null if that is not known. */
  costOf(counts: KindCounts, like: Line, requests: number): Rational | null
  /** The single change to the prices that gives an amount exactly. */
  explain(amount: Rational, counts: KindCounts, like: Line, requests: number): Explained | null
  /** Takes note of an amount that is right: a change that would have moved it explains others only if no other change does. */
  keepRight(counts: KindCounts, like: Line): void
  /** The smallest unit that the bill shows. */
  readonly unit: Rational
}

export interface Cell {
  readonly day: string
  readonly model: string
  readonly account: string | null
  /** All that the bill charges, with what is no use. */
  readonly bill: Rational
  /** Null if no line of the log has a cost. */
  readonly logged: Rational | null
  /** Null if the log has lines, and the contract says the cost of none. */
  readonly expected: Rational | null
  /** Lines of the log whose cost the contract does not say: they are in no sum. */
  readonly unknown: number
  /** bill - expected, as far as that is known: the sum of the causes. */
  readonly difference: Rational
  readonly causes: Readonly<Partial<Record<Cause, Rational>>>
  /** What the causes are, in words, with the ids of some requests. */
  readonly notes: readonly string[]
}

export interface Reconciliation {
  readonly joinedBy: 'id' | 'day and model'
  readonly cells: readonly Cell[]
}

/** Lines of a bill and of a log. All lines of one id are in one part, so that one part at a time is in memory. */
export interface Part {
  readonly bill: readonly BillLine[]
  readonly log: readonly LogLine[]
}
