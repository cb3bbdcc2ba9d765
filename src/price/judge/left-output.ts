import type { Charge } from '../../contract/prices.ts'
import { outputOf, type Usage } from '../../tokens/usage.ts'
import type { PricedRequest } from './request.ts'

/** The fewest and the most tokens of output. */
type Between = readonly [least: number, most: number]

/**
 * The tokens of output that are charged for an answer that the client left.
 *
 *     tokens   0 ├── arrived ──┤~ on their way ~┤ · · · · · · · · · ┤ max_tokens
 *     received   ├──────────────────────────────┤
 *     full                     ├────────────────────────────────────┤  nobody knows how long it would have become
 *
 * If the whole answer arrived in the read in which the client left, it reports its output: that is the most.
 *
 * @param charge what the contract charges for such an answer
 * @returns null without a limit
 */
export function outputOfLeft(
  request: PricedRequest,
  charge: Charge,
  ownUsage: Usage | null,
  twinUsage: Usage | null,
): Between | null {
  if (charge === 'input') return [0, 0]
  const reported = ownUsage === null ? null : outputOf(ownUsage.parts)
  if (reported !== null) return [0, reported]
  return charge === 'full' ? inFull(request, twinUsage) : asReceived(request, twinUsage)
}

function inFull(
  { receivedEvents, maxOutputTokens }: PricedRequest,
  twinUsage: Usage | null,
): Between | null {
  if (maxOutputTokens === null) return null
  return [Math.min(receivedEvents, maxOutputTokens), Math.max(lengthOf(twinUsage), maxOutputTokens)]
}

function asReceived(
  { receivedEvents, receivedBytes, maxOutputTokens }: PricedRequest,
  twinUsage: Usage | null,
): Between {
  const most =
    twinUsage === null && receivedBytes !== null
      ? Math.max(receivedEvents, receivedBytes) + onTheirWay(0)
      : // An equal request may have had a shorter answer. A token for each byte would allow a charge of its whole answer.
        receivedEvents + onTheirWay(Math.max(lengthOf(twinUsage), receivedEvents))
  return [0, maxOutputTokens === null ? most : Math.min(most, maxOutputTokens)]
}

/** Tokens of text and reasoning in the answer to an equal request. */
const lengthOf = (twinUsage: Usage | null) =>
  (twinUsage?.parts.output_visible ?? 0) + (twinUsage?.parts.reasoning ?? 0)

/** Tokens of an answer of so many that a service sends before it knows that its client is gone. */
const onTheirWay = (tokens: number) => Math.max(16, Math.ceil(tokens / 4))
