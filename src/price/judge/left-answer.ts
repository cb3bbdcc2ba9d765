import type { ModelPrice } from '../../contract/prices.ts'
import { tokenPrices } from '../../contract/prices.ts'
import { compare, type Rational } from '../../money/rational.ts'
import {
  outputOf,
  type Part,
  type Parts,
  parts,
  type Usage,
  unknownUsage,
} from '../../tokens/usage.ts'
import { entryOf } from '../../user/lookup.ts'
import { calculate, type PriceContext } from '../calculate.ts'
import { usageField } from '../price-at.ts'
import type { PriceJudge } from './price-judge.ts'
import type { PricedRequest } from './request.ts'

/** The least and the most that something may cost. */
export type Bounds = readonly [Rational, Rational]

/**
 * Bounds of what an answer costs whose client left before its end.
 *
 * Its prompt is the one that it reports itself, or that of an equal request, which may have been written to a cache or read
 * from one. Without either, it is the one in the service's log, or has at most a token for each byte that was asked: what the
 * service charged is no bound, else every charge would be right. Its output is what was received and was on its way, or, charged in full,
 * anything from that to what it was allowed: nobody knows how long it would have become. If the whole answer arrived in the read
 * in which the client left, its output is the one that it reports, at most.
 *
 * A name that chooses the price may come at the end of an answer. What has not come is unknown: an equal request may have had
 * another one.
 *
 * @returns why there are none, if there are none
 */
export function boundsOfLeft(
  request: PricedRequest,
  model: ModelPrice,
  context: PriceContext,
  judge: Pick<PriceJudge, 'twinOf' | 'loggedOf' | 'namesOf'>,
): Bounds | string {
  const twin = judge.twinOf(request)
  const own = request.usage?.parts.input_uncached == null ? null : request.usage
  const logged = judge.loggedOf?.(request)?.prompt ?? null
  const asked = logged ?? (request.receivedBytes === null ? null : request.askedBytes)
  // Thoughts before the text are on no one's account but the service's.
  const isHidden = model.price.reasoning !== undefined
  const known = own ?? twin ?? (asked === null || isHidden ? null : promptAlone(asked))
  const charge = model.charged[context.outcome]
  if (known === null) return 'the tokens of an answer that the client left'
  const hidden = hiddenField(own, model, judge)
  if (hidden !== undefined) return usageField(hidden)
  if (request.mayCall && charge !== 'input' && hasCalls(model))
    return 'the calls of an answer that the client left'
  const sent = own === null ? null : outputOf(own.parts)
  const outputs: readonly [number, number] | null =
    sent === null ? outputsOf(request, charge === 'full', twin) : [0, sent]
  if (outputs === null) return 'the tokens of an answer that the client left'
  const unread = own === null && twin === null && logged === null ? [promptAlone(0).parts] : []
  const prompts = own === null ? [...splitsOf(known.parts), ...unread] : [known.parts]
  const costs = prompts
    .flatMap((prompt) =>
      (charge === 'input' ? [0] : outputs).flatMap((output) => wholesOf(prompt, output)),
    )
    .flatMap((each) => calculate(model, { ...known, parts: each, calls: {} }, context).cost ?? [])
    .toSorted(compare)
  return costs.length === 0
    ? 'the cost of an answer that the client left'
    : [costs[0]!, costs.at(-1)!]
}

/** A field with which a price is chosen, and which is not in the usage that came, as long as there may be more of it. */
function hiddenField(
  own: Usage | null,
  model: ModelPrice,
  { namesOf }: Pick<PriceJudge, 'namesOf'>,
): string | undefined {
  if (own !== null && own.parts.output_visible !== null) return undefined
  return [...Object.keys(model.by), ...(namesOf?.(model).fields ?? [])].find(
    (field) => entryOf(own?.named ?? {}, field) === undefined,
  )
}

/** A prompt of so many tokens, and nothing else. */
function promptAlone(tokens: number): Usage {
  const none = Object.fromEntries(parts.map((part) => [part, 0])) as Record<Part, number>
  return { ...unknownUsage, parts: { ...none, input_uncached: tokens }, named: {} }
}

const hasCalls = ({ price }: ModelPrice) =>
  Object.keys(price).some((name) => name !== 'request' && !Object.hasOwn(tokenPrices, name))

/** The fewest and the most tokens of output that are charged; null without a limit. */
function outputsOf(
  { receivedEvents, receivedBytes, maxOutputTokens }: PricedRequest,
  isFull: boolean,
  twin: Usage | null,
): readonly [number, number] | null {
  const whole = (twin?.parts.output_visible ?? 0) + (twin?.parts.reasoning ?? 0)
  if (!isFull) {
    const most =
      twin === null && receivedBytes !== null
        ? Math.max(receivedEvents, receivedBytes) + onTheirWay(0)
        : // An equal request may have had a shorter answer. A token for each byte would allow a charge of its whole answer.
          receivedEvents + onTheirWay(Math.max(whole, receivedEvents))
    return [0, maxOutputTokens === null ? most : Math.min(most, maxOutputTokens)]
  }
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
function splitsOf(prompt: Parts): readonly Parts[] {
  const moved = ['input_uncached', 'cache_read', 'cache_write', 'cache_write_1h'] as const
  const text = moved.reduce((sum, part) => sum + (prompt[part] ?? 0), 0)
  const none = Object.fromEntries(moved.map((part) => [part, 0]))
  return [prompt, ...moved.map((part) => ({ ...prompt, ...none, [part]: text }))]
}
