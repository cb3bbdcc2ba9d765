import { type Part, type Parts, parts, type Usage, unknownUsage } from '../../tokens/usage.ts'
import type { LikelyLeft, PriceJudge } from './price-judge.ts'
import type { PricedRequest } from './request.ts'

/** The prompt of an answer that the client left. */
export interface LeftPrompt {
  /** The usage that it is taken from. */
  readonly usage: Usage
  /** All that it may have been. */
  readonly mayBe: readonly Parts[]
}

/**
 * The prompt is the one that the answer itself reports. Without it, it is that of an equal request, or the one in the service's log, which
 * may have been written to a cache or read from one. Without any, it has a token at least, and at most one for each byte of the request. What
 * the service charged is no bound, else every charge would be right.
 *
 * @param logged tokens of the prompt in the service's log
 * @param strictly what other requests say of a prompt that the service alone counts; null: it may be any that its bytes allow
 * @returns null if nothing bounds it
 */
export function promptOfLeft(
  request: PricedRequest,
  ownUsage: Usage | null,
  twinUsage: Usage | null,
  logged: number | null,
  strictly: LikelyLeft | null,
): LeftPrompt | null {
  if (ownUsage !== null) return { usage: ownUsage, mayBe: [ownUsage.parts] }
  if (twinUsage !== null) return { usage: twinUsage, mayBe: cacheSplits(twinUsage.parts) }
  if (strictly !== null) return upTo(strictly.mostPrompt(request) ?? 0)
  // No token has less than a byte: a log that counts more is no bound either.
  if (logged !== null && (request.askedBytes === null || logged <= request.askedBytes)) {
    const usage = promptAlone(logged)
    return { usage, mayBe: cacheSplits(usage.parts) }
  }
  if (request.receivedBytes === null || request.askedBytes === null) return null
  return upTo(request.askedBytes)
}

/** A prompt of a token at least, and of so many at most, of which nobody knows how many a cache holds. */
function upTo(tokens: number): LeftPrompt {
  const [least, most] = [promptAlone(Math.min(1, tokens)), promptAlone(tokens)]
  return { usage: most, mayBe: [...cacheSplits(most.parts), ...cacheSplits(least.parts)] }
}

/** The prompt that the answer itself reports, or else the service's log; null if neither counts it. */
export function countedPrompt(
  request: PricedRequest,
  { loggedOf }: Pick<PriceJudge, 'loggedOf'>,
): Usage | null {
  if (request.usage?.parts.input_uncached != null) return request.usage
  const logged = loggedOf?.(request)?.prompt ?? null
  return logged === null ? null : promptAlone(logged)
}

/** A prompt of so many tokens, and nothing else. */
function promptAlone(tokens: number): Usage {
  const none = Object.fromEntries(parts.map((part) => [part, 0])) as Record<Part, number>
  return { ...unknownUsage, parts: { ...none, input_uncached: tokens }, named: {} }
}

/** The same prompt as it was counted, and all of its text without a cache, read from one, and written to one. */
function cacheSplits(prompt: Parts): readonly Parts[] {
  const moved = ['input_uncached', 'cache_read', 'cache_write', 'cache_write_1h'] as const
  const text = moved.reduce((sum, part) => sum + (prompt[part] ?? 0), 0)
  const none = Object.fromEntries(moved.map((part) => [part, 0]))
  return [prompt, ...moved.map((part) => ({ ...prompt, ...none, [part]: text }))]
}
