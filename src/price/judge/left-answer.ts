import type { ModelPrice } from '../../contract/prices.ts'
import { compare, type Rational } from '../../money/rational.ts'
import type { Parts, Usage } from '../../tokens/usage.ts'
import { entryOf } from '../../user/lookup.ts'
import { calculate, type PriceContext } from '../calculate.ts'
import { pricesCalls } from '../calls.ts'
import { usageField } from '../price-at.ts'
import { outputOfLeft } from './left-output.ts'
import { promptOfLeft } from './left-prompt.ts'
import type { PriceJudge } from './price-judge.ts'
import type { PricedRequest } from './request.ts'

/** The least and the most that something may cost. */
export type Bounds = readonly [Rational, Rational]

/** Why an answer that the client left has no bounds. */
const noBounds = {
  tokens: 'the tokens of an answer that the client left',
  calls: 'the calls of an answer that the client left',
  cost: 'the cost of an answer that the client left',
} as const

/**
 * Bounds of what an answer costs whose client left before its end: the cheapest and the dearest of all that it may have been. Its
 * prompt is bounded in `left-prompt.ts`, its output in `left-output.ts`.
 *
 * @returns why there are none, in words, if there are none
 */
export function boundsOfLeft(
  request: PricedRequest,
  model: ModelPrice,
  context: PriceContext,
  judge: Omit<PriceJudge, 'currency' | 'priceOf' | 'choices' | 'clockErrorMs' | 'others'>,
): Bounds | string {
  const charge = model.charged[context.outcome]
  const twinUsage = judge.twinOf(request)
  const ownUsage = request.usage?.parts.input_uncached == null ? null : request.usage
  const logged = judge.loggedOf?.(request)?.prompt ?? null
  const { likely, isStrict = false } = judge
  // Strictly, a service counts no longer prompt than others let expect, and no thoughts that it does not show.
  const strictPrompt = isStrict && likely !== undefined ? likely : null
  const prompt = promptOfLeft(request, ownUsage, twinUsage, logged, strictPrompt)
  // Each pass has a prompt and an output of its own.
  if (prompt === null || prompt.usage.passes.length > 0) return noBounds.tokens
  const field = fieldThatMayCome(ownUsage, model, judge)
  if (field !== undefined) return usageField(field)
  if (charge !== 'input' && [ownUsage, twinUsage].some(hasMedia)) return noBounds.tokens
  if (request.mayCall && charge !== 'input' && pricesCalls(model)) return noBounds.calls
  const twin =
    twinUsage === null ? null : { usage: twinUsage, bytes: judge.twinBytesOf?.(request) ?? null }
  const mayThink = !isStrict && likely?.hidesThoughts(model, request) === true
  const outputs = outputOfLeft(request, charge, ownUsage, twin, mayThink)
  if (outputs === null) return noBounds.tokens
  const mayBe = prompt.mayBe
    .flatMap((parts) => outputs.flatMap((output) => textOrReasoning(parts, output)))
    .map((parts) => calculate(model, { ...prompt.usage, parts, calls: {} }, context))
  const costs = mayBe.map(({ cost }) => cost)
  // It may have cost any amount where it may have had a part whose price is open at that moment.
  if (costs.length === 0 || costs.includes(null)) return noBounds.cost
  const sorted = costs.filter((cost) => cost !== null).toSorted(compare)
  return [sorted[0]!, sorted.at(-1)!]
}

/**
 * A field of the usage that chooses the price, and that may still come: names may stand at the end of an answer. An equal request may
 * have had another one.
 */
function fieldThatMayCome(
  ownUsage: Usage | null,
  model: ModelPrice,
  { namesOf }: Pick<PriceJudge, 'namesOf'>,
): string | undefined {
  if (ownUsage !== null && ownUsage.parts.output_visible !== null) return undefined
  return [...Object.keys(model.by), ...(namesOf?.(model).fields ?? [])].find(
    (field) => entryOf(ownUsage?.named ?? {}, field) === undefined,
  )
}

/** Whether an answer had sound or pictures: how much of them was sent does not show. */
const hasMedia = (usage: Usage | null) =>
  (usage?.parts.output_audio ?? 0) + (usage?.parts.output_image ?? 0) > 0

/** All that was generated may be text, or the reasoning before it. */
function textOrReasoning(prompt: Parts, output: number): readonly Parts[] {
  const none = { ...prompt, output_visible: 0, reasoning: 0, output_audio: 0, output_image: 0 }
  return [
    { ...none, output_visible: output },
    { ...none, reasoning: output },
  ]
}
