import type { LikelyLeft, PriceOf } from '../../../price/judge/price-judge.ts'
import { notToThink, type PricedRequest } from '../../../price/judge/request.ts'
import { promptOf } from '../../../tokens/usage.ts'

/** What whole answers of a model say of others. */
interface Seen {
  /** Tokens of a prompt for each byte of its request, at most. */
  tokensForByte: number
  /**
   * By what was asked of the model's thinking, where whole answers count what was thought, though it be nothing: whether one showed less
   * text than it counts, with its thoughts.
   */
  readonly hasHidden: Map<string, boolean>
}

/** A text with fewer bytes for each token is not all that was counted. */
const leastBytes = 2
/** Another prompt may have so many times the tokens for a byte, and so many more. */
const spread = 1.25
const few = 16

/**
 * What the answers of a run say of those that the client left: whether the model thinks without showing it, and how many tokens a prompt of
 * so many bytes has.
 */
export function likelyLeft(requests: readonly PricedRequest[], priceOf: PriceOf): LikelyLeft {
  const byModel = new Map<string, Seen>()
  for (const request of requests) {
    const { requestedModel, usage, outcomes, receivedBytes, askedBytes, thinking } = request
    const id = priceOf(requestedModel)?.id
    if (id === undefined || usage === null) continue
    const seen = byModel.get(id) ?? { tokensForByte: 0, hasHidden: new Map() }
    byModel.set(id, seen)
    const prompt = promptOf(usage.parts)
    if (prompt !== null && askedBytes !== null && askedBytes > 0)
      seen.tokensForByte = Math.max(seen.tokensForByte, prompt / askedBytes)
    const { reasoning, output_visible: visible } = usage.parts
    if (outcomes[0] !== 'success' || reasoning === null) continue
    const tokens = (visible ?? 0) + reasoning
    const isShown = receivedBytes !== null && receivedBytes >= leastBytes * tokens
    const isHidden = reasoning > 0 && !isShown
    seen.hasHidden.set(thinking, isHidden || seen.hasHidden.get(thinking) === true)
  }
  return {
    hidesThoughts({ id, price }, { thinking }) {
      const hasHidden = byModel.get(id)?.hasHidden ?? new Map<string, boolean>()
      // Asked otherwise, it may think longer than in any answer that is known.
      const isAsked = !['', notToThink].includes(thinking) || [...hasHidden.values()].includes(true)
      return hasHidden.get(thinking) ?? (isAsked || price.reasoning !== undefined)
    },
    mostPrompt({ requestedModel, askedBytes }) {
      const { tokensForByte = 0 } = byModel.get(priceOf(requestedModel)?.id ?? '') ?? {}
      return tokensForByte === 0 || askedBytes === null
        ? null
        : Math.min(askedBytes, Math.ceil(spread * tokensForByte * askedBytes) + few)
    },
  }
}
