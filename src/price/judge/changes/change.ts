import type { ModelPrice } from '../../../contract/prices.ts'
import type { Rational } from '../../../money/rational.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { type Calculation, calculate, type PriceContext } from '../../calculate.ts'
import type { PricedRequest } from '../request.ts'

/** What a single change to the right calculation would charge. */
export interface Change {
  /** `cache_read at the price of input`. */
  readonly summary: string
  /** The part or step of the price that it is about: `cache_read`, `tiers`, `round`. */
  readonly about: string
  /** What the summary says of the requests that it is true of, by one of them: `answers that were refused`. Absent: nothing. */
  readonly whom?: (request: PricedRequest) => string
  /** Null if it does not apply to the request. */
  readonly costOf: (
    request: PricedRequest,
    model: ModelPrice,
    usage: Usage,
    context: PriceContext,
  ) => Rational | null
}

/** `charged in full: answers that were refused`, where it is told of these requests. */
export function summaryFor(
  { summary, whom }: Pick<Change, 'summary' | 'whom'>,
  requests: readonly PricedRequest[],
): string {
  return whom === undefined ? summary : `${summary}: ${[...new Set(requests.map(whom))].join(', ')}`
}

/** A change to the usage, in each pass of the answer; null if it applies to none. */
function overPasses(usage: Usage, change: (usage: Usage) => Usage | null): Usage | null {
  if (usage.passes.length === 0) return change(usage)
  const changed = usage.passes.map((pass) => (pass.usage === null ? null : change(pass.usage)))
  if (changed.every((each) => each === null)) return null
  return {
    ...usage,
    passes: usage.passes.map((pass, at) => ({ ...pass, usage: changed[at] ?? pass.usage })),
  }
}

type OnUsage = (usage: Usage, request: PricedRequest) => Usage | null
type OnModel = (model: ModelPrice) => ModelPrice | null

/** What a cost is calculated from. */
interface Terms {
  readonly model: ModelPrice
  readonly usage: Usage
  readonly context: PriceContext
}
/** The terms that another calculation has; null if it does not apply. */
export type OtherTerms = (right: Terms, request: PricedRequest) => Partial<Terms> | null

/** A calculation in which some terms are others; null without any. */
export function calculateWith(right: Terms, other: Partial<Terms> | null): Calculation | null {
  const { model, usage, context } = { ...right, ...other }
  return other === null ? null : calculate(model, usage, context)
}

/** A change to what a cost is calculated from; the next two change one term alone. */
export const onTerms = (summary: string, about: string, change: OtherTerms): Change => ({
  summary,
  about,
  costOf(request, model, usage, context) {
    const right = { model, usage, context }
    return calculateWith(right, change(right, request))?.cost ?? null
  },
})
export const onUsage = (summary: string, about: string, change: OnUsage): Change =>
  onTerms(summary, about, ({ usage }, request) => {
    const changed = overPasses(usage, (each) => change(each, request))
    return changed && { usage: changed }
  })
export const onModel = (summary: string, about: string, change: OnModel): Change =>
  onTerms(summary, about, ({ model }) => {
    const changed = change(model)
    return changed && { model: changed }
  })
