import type { ModelPrice } from '../../../contract/prices.ts'
import type { Rational } from '../../../money/rational.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { calculate, type PriceContext } from '../../calculate.ts'
import type { PricedRequest } from '../request.ts'

/** What a single change to the right calculation would charge. */
export interface Change {
  /** `cache_read at the price of input`. */
  readonly summary: string
  /** The part or step of the price that it is about: `cache_read`, `tiers`, `round`. */
  readonly about: string
  /** Null if it does not apply to the request. */
  readonly costOf: (
    request: PricedRequest,
    model: ModelPrice,
    usage: Usage,
    context: PriceContext,
  ) => Rational | null
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
export const onUsage = (summary: string, about: string, change: OnUsage): Change => ({
  summary,
  about,
  costOf(request, model, usage, context) {
    const changed = overPasses(usage, (each) => change(each, request))
    return changed === null ? null : calculate(model, changed, context).cost
  },
})
export const onModel = (summary: string, about: string, change: OnModel): Change => ({
  summary,
  about,
  costOf(_, model, usage, context) {
    const changed = change(model)
    return changed === null ? null : calculate(changed, usage, context).cost
  },
})
