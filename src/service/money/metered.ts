import type { ChargedOutcome } from '../../contract/prices.ts'
import { inputParts, outputParts, type Part } from '../../tokens/usage.ts'

/** Tokens of one answer in disjoint parts. A part that is not there is 0. */
export type Counts = Readonly<Partial<Record<Part, number>>>

/** What one answer used, and everything else that its charge depends on. */
export interface Metered {
  readonly counts: Counts
  /** Searches, images, seconds and the like, by the names of their prices. */
  readonly calls: Readonly<Record<string, number>>
  readonly outcome: ChargedOutcome
  /** The name in the request. */
  readonly asked: string
  /** The contract's entry of that name. */
  readonly meant: string
  /** The contract's entry that made the answer. */
  readonly served: string
  readonly endpoint: string
  readonly stream: boolean
  /** Upstreams that failed before one answered. */
  readonly innerFailures: number
  readonly serviceTier: string | null
  /** Choices of factors by name: `{ group: 'vip' }`. */
  readonly choices: Readonly<Record<string, string>>
  readonly startMs: number
  readonly endMs: number
}

export const sumOf = (counts: Counts, names: readonly Part[]): number =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)

/** The whole prompt, and everything generated. */
export const promptOf = (counts: Counts) => sumOf(counts, inputParts)
export const generatedOf = (counts: Counts) => sumOf(counts, outputParts)

/** Moves the tokens of one part to another, which then costs its price. */
export function movedTo(counts: Counts, from: Part, to: Part): Counts {
  const moved = counts[from] ?? 0
  return moved === 0 ? counts : { ...counts, [from]: 0, [to]: (counts[to] ?? 0) + moved }
}

/** Adds tokens to a part, on top of what it has. */
export const addedTo = (counts: Counts, to: Part, more: number): Counts =>
  more === 0 ? counts : { ...counts, [to]: (counts[to] ?? 0) + more }

export function withoutParts(counts: Counts, names: readonly Part[]): Counts {
  return { ...counts, ...Object.fromEntries(names.map((name) => [name, 0])) }
}
