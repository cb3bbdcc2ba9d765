import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DialectName } from '../../../src/tokens/dialects.ts'

/**
 * 81 worked prices: a price, a usage as a service sends it, and the exact cost. The prices are public
 * facts of November 2026, and examples of forms; two public libraries and exact fractions vouch for the costs.
 */
export interface PriceVector {
  readonly id: string
  readonly name: string
  readonly model: Readonly<Record<string, unknown>> & { readonly usage: DialectName }
  readonly context?: Readonly<Record<string, unknown>>
  readonly usage: unknown
  /** The disjoint counts that are not 0; absent if the outcome is free. */
  readonly normal?: Readonly<Record<string, number>>
  readonly flags?: readonly string[]
  readonly cost: string
  readonly unit: string
  /** What each single fault would charge, where that differs. */
  readonly wrong?: Readonly<Record<string, string>>
}

export const priceVectors = vectorsOf('vectors.jsonl')

/** Kinds of prices that those do not have, worked out by hand from the rules of public price pages. */
export const furtherVectors = vectorsOf('further.jsonl')

function vectorsOf(file: string): readonly PriceVector[] {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PriceVector)
}
