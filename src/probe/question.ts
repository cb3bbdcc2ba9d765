import type { Contract } from '../contract/contract.ts'
import type { Facets, GapAnswer, GapId } from '../contract/profile.ts'
import type { Asking } from './asking.ts'

/** What can be known before anything is sent. */
export interface Circumstances {
  readonly contract: Contract
  /** Requests of a minute at the balance that the key has; null where it is not known. */
  readonly minuteLimit: number | null
  readonly hasOperator: boolean
  readonly hasSecondKey: boolean
}

/** A gap of the specification, or several that the same requests answer. */
export interface Question {
  readonly gaps: readonly GapId[]
  /** Credits that asking costs at most. */
  price(circumstances: Circumstances): number
  /** Why it cannot be asked here; null when it can. */
  obstacle?(circumstances: Circumstances): string | null
  ask(asking: Asking): Promise<Partial<Record<GapId, GapAnswer>>>
}

export function answered(is: Facets, ...evidence: readonly string[]): GapAnswer {
  return { status: 'answered', is, evidence }
}

export function ambiguous(
  between: Readonly<Record<string, readonly string[]>>,
  is: Facets,
  ...evidence: readonly string[]
): GapAnswer {
  return { status: 'ambiguous', is, between, evidence }
}

export function notAskable(why: string): GapAnswer {
  return { status: 'not-askable', why }
}

/**
 * An answer of several facets, some of which may have stayed open.
 *
 * @param found each facet with its one value, or with the list of those that fit
 */
export function ofFacets(
  found: Readonly<Record<string, Facets[string] | { readonly oneOf: readonly string[] }>>,
  ...evidence: readonly string[]
): GapAnswer {
  const is: Record<string, Facets[string]> = {}
  const between: Record<string, readonly string[]> = {}
  for (const [facet, value] of Object.entries(found)) {
    if (typeof value === 'object' && 'oneOf' in value) between[facet] = value.oneOf
    else is[facet] = value
  }
  return Object.keys(between).length === 0
    ? answered(is, ...evidence)
    : ambiguous(between, is, ...evidence)
}

/** Price of a success on the cheapest model and on the dearest. */
export function pricesOf(contract: Contract): { readonly least: number; readonly most: number } {
  const costs = contract.models.map(({ costCredits }) => costCredits)
  return { least: Math.min(...costs), most: Math.max(...costs) }
}
