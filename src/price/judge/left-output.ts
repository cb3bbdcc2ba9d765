import type { Charge } from '../../contract/prices.ts'
import { outputOf, type Usage } from '../../tokens/usage.ts'
import type { PricedRequest } from './request.ts'

/** The fewest and the most tokens of output. */
type Between = readonly [least: number, most: number]

/** The answer to an equal request. */
interface Twin {
  readonly usage: Usage
  /** Bytes of its text; null if they are not known. */
  readonly bytes: number | null
}

/**
 * The tokens of output that are charged for an answer that the client left.
 *
 *     tokens   0 ├── arrived ──┤~ on their way ~┤ · · · · · · · · · ┤ max_tokens
 *     received   ├──────────────────────────────┤                      of a model that hides its thoughts: up to max_tokens
 *     full                     ├────────────────────────────────────┤  nobody knows how long it would have become
 *
 * If the whole answer arrived in the read in which the client left, it reports its output: that is the most. A plain answer is sent
 * when it is whole, and only then does the service see that its client is gone.
 *
 * @param charge what the contract charges for such an answer
 * @param mayThink whether the model may have thought before its text, which only the service counts
 * @returns null without a limit
 */
export function outputOfLeft(
  request: PricedRequest,
  charge: Charge,
  ownUsage: Usage | null,
  twin: Twin | null,
  mayThink: boolean,
): Between | null {
  if (charge === 'input') return [0, 0]
  const reported = ownUsage === null ? null : outputOf(ownUsage.parts)
  if (reported !== null) return [0, reported]
  if (charge === 'full') return inFull(request, twin)
  if (mayThink && twin === null) return [0, request.maxOutputTokens ?? longest]
  const usual = request.isStream ? asReceived(request, twin) : asMade(request, twin)
  if (usual === null || !mayThink) return usual
  // An equal request thinks about as long.
  const thoughts = 2 * (twin?.usage.parts.reasoning ?? 0)
  return [usual[0], Math.min(usual[1] + thoughts, request.maxOutputTokens ?? longest)]
}

/** No answer has more tokens. */
const longest = 1_000_000

function inFull(
  { receivedEvents, maxOutputTokens }: PricedRequest,
  twin: Twin | null,
): Between | null {
  if (maxOutputTokens === null) return null
  return [Math.min(receivedEvents, maxOutputTokens), Math.max(lengthOf(twin), maxOutputTokens)]
}

/** Nothing, or all of a plain answer: an equal request may have had one that is half as long. */
function asMade({ maxOutputTokens }: PricedRequest, twin: Twin | null): Between | null {
  const most = twin === null ? maxOutputTokens : 2 * lengthOf(twin) + onTheirWay(0)
  return most === null ? null : [0, Math.min(most, maxOutputTokens ?? most)]
}

function asReceived(
  { receivedEvents, receivedBytes, maxOutputTokens }: PricedRequest,
  twin: Twin | null,
): Between {
  const arrived = Math.max(receivedEvents, tokensIn(receivedBytes ?? 0, twin))
  const most =
    twin === null && receivedBytes !== null
      ? Math.max(receivedEvents, receivedBytes) + onTheirWay(0)
      : // An equal request may have had a shorter answer. A token for each byte would allow a charge of its whole answer.
        arrived + onTheirWay(Math.max(lengthOf(twin), arrived))
  return [0, maxOutputTokens === null ? most : Math.min(most, maxOutputTokens)]
}

/** Tokens of text and reasoning in the answer to an equal request. */
const lengthOf = (twin: Twin | null) =>
  (twin?.usage.parts.output_visible ?? 0) + (twin?.usage.parts.reasoning ?? 0)

/**
 * Tokens of so much text, if they are as long as those of the answer to an equal request, or shorter by a fifth. A text with fewer
 * than two bytes for a token is not all that was counted.
 */
function tokensIn(bytes: number, twin: Twin | null): number {
  const tokens = twin?.usage.parts.output_visible ?? 0
  return twin === null || twin.bytes === null || twin.bytes === 0 || twin.bytes < 2 * tokens
    ? 0
    : Math.ceil(((1.25 * bytes) / twin.bytes) * tokens)
}

/** Tokens of an answer of so many that a service sends before it knows that its client is gone. */
const onTheirWay = (tokens: number) => Math.max(16, Math.ceil(tokens / 4))
