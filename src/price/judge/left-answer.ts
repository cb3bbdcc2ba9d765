import type { ModelPrice } from '../../contract/prices.ts'
import { tokenPrices } from '../../contract/prices.ts'
import { compare, type Rational } from '../../money/rational.ts'
import type { Parts, Usage } from '../../tokens/usage.ts'
import { calculate, type PriceContext } from '../calculate.ts'
import type { PricedRequest } from './request.ts'

/** The least and the most that something may cost. */
export type Bounds = readonly [Rational, Rational]

/**
 * Bounds of what an answer costs whose client left before its end.
 *
 * Its prompt is the one that it reports itself, or that of an equal request, which may have been written to a cache or read
 * from one. Its output is what was received and was on its way, or, charged in full, anything from that to what it was
 * allowed: nobody knows how long it would have become.
 *
 * @param twin the usage of a complete answer to an equal request
 * @returns why there are none, if there are none
 */
export function boundsOfLeft(
  request: PricedRequest,
  model: ModelPrice,
  context: PriceContext,
  twin: Usage | null,
): Bounds | string {
  const own = request.usage?.parts.input_uncached == null ? null : request.usage
  const known = own ?? twin
  const charge = model.charged[context.outcome]
  if (known === null) return 'the tokens of an answer that the client left'
  if (request.mayCall && charge !== 'input' && hasCalls(model))
    return 'the calls of an answer that the client left'
  const outputs = outputsOf(request, charge === 'full', twin)
  if (outputs === null) return 'the tokens of an answer that the client left'
  const prompts = own === null ? splitsOf(known.parts) : [known.parts]
  const costs = prompts
    .flatMap((prompt) =>
      (charge === 'input' ? [0] : outputs).flatMap((output) => wholesOf(prompt, output)),
    )
    .flatMap((parts) => calculate(model, { ...known, parts, calls: {} }, context).cost ?? [])
    .toSorted(compare)
  return costs.length === 0
    ? 'the cost of an answer that the client left'
    : [costs[0]!, costs.at(-1)!]
}

const hasCalls = ({ price }: ModelPrice) =>
  Object.keys(price).some((name) => name !== 'request' && !Object.hasOwn(tokenPrices, name))

/** The fewest and the most tokens of output that are charged; null without a limit. */
function outputsOf(
  { receivedEvents, maxOutputTokens }: PricedRequest,
  isFull: boolean,
  twin: Usage | null,
): readonly [number, number] | null {
  const whole = (twin?.parts.output_visible ?? 0) + (twin?.parts.reasoning ?? 0)
  if (!isFull)
    return [0, Math.max(receivedEvents, Math.min(whole, receivedEvents + onTheirWay(whole)))]
  if (maxOutputTokens === null) return null
  return [Math.min(receivedEvents, maxOutputTokens), Math.max(whole, maxOutputTokens)]
}

/** Tokens that a service sends before it knows that its client is gone. */
const onTheirWay = (whole: number) => Math.max(16, Math.ceil(whole / 4))

/** What was generated may be text, or the reasoning before it. */
function wholesOf(prompt: Parts, output: number): readonly Parts[] {
  const none = { ...prompt, output_visible: 0, reasoning: 0, output_audio: 0, output_image: 0 }
  return [
    { ...none, output_visible: output },
    { ...none, reasoning: output },
  ]
}

/** The same prompt as it was counted, and all of its text without a cache, read from one, and written to one. */
function splitsOf(parts: Parts): readonly Parts[] {
  const moved = ['input_uncached', 'cache_read', 'cache_write', 'cache_write_1h'] as const
  const text = moved.reduce((sum, part) => sum + (parts[part] ?? 0), 0)
  const none = Object.fromEntries(moved.map((part) => [part, 0]))
  return [parts, ...moved.map((part) => ({ ...parts, ...none, [part]: text }))]
}
