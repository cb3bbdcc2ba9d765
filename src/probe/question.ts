import type { FullContract } from '../contract/contract.ts'
import type { Facets, GapAnswer, GapId } from '../contract/profile.ts'
import { lookup } from '../user/lookup.ts'
import type { Prober } from './prober.ts'
import type { Shown } from './shown.ts'

/** What is known before the first request. */
export interface Circumstances {
  readonly contract: FullContract
  /** Limit per minute at the key's balance; null if unknown. */
  readonly minuteLimit: number | null
  /** Most credits that a read may cost; 1 while unknown. */
  readonly readCredits: number
  readonly hasOperator: boolean
  readonly secondKey: 'none' | 'same' | 'another'
}

/** Whether a second key is usable: both variables may hold the same key. */
export function secondKeyBeside(
  apiKey: string | undefined,
  second: string | null,
): Circumstances['secondKey'] {
  if (second === null) return 'none'
  return second === apiKey ? 'same' : 'another'
}

/** Reads of a settled balance for a price: two that agree, and one while it settles. */
export const idleReads = 3

/** One or several gaps of the specification that the same requests answer. */
export interface Question {
  readonly gaps: readonly GapId[]
  /** Most credits that it costs. */
  price(circumstances: Circumstances): number
  /** Why it cannot be asked; null if it can. */
  obstacle?(circumstances: Circumstances): string | null
  ask(prober: Prober): Promise<Partial<Record<GapId, GapAnswer>>>
}

type QuestionOfOne = Omit<Question, 'gaps' | 'ask'> & { ask(prober: Prober): Promise<GapAnswer> }

/** A question of one gap, whose answer is that of the gap. */
export const oneGap = (gap: GapId, { ask, ...question }: QuestionOfOne): Question => ({
  ...question,
  gaps: [gap],
  ask: async (prober) => ({ [gap]: await ask(prober) }),
})

export const answered = (is: Facets, ...evidence: readonly string[]): GapAnswer => ({
  status: 'answered',
  is,
  evidence,
})

export function ambiguous(
  between: Readonly<Record<string, readonly string[]>>,
  is: Facets,
  ...evidence: readonly string[]
): GapAnswer {
  return { status: 'ambiguous', is, between, evidence }
}

export const notAskable = (why: string): GapAnswer => ({ status: 'not-askable', why })

/** An answer of several facets, some of which may be open; `found` is what was shown of each. */
export function ofFacets(
  found: Readonly<Record<string, Facets[string] | Shown>>,
  ...evidence: readonly string[]
): GapAnswer {
  const is: Record<string, Facets[string]> = lookup()
  const between: Record<string, readonly string[]> = lookup()
  for (const [facet, value] of Object.entries(found)) {
    if (typeof value === 'object' && 'oneOf' in value) between[facet] = value.oneOf
    else is[facet] = value
  }
  return Object.keys(between).length === 0
    ? answered(is, ...evidence)
    : ambiguous(between, is, ...evidence)
}
