import {
  add,
  compare,
  divide,
  multiply,
  rational,
  roundWhole,
  subtract,
} from '../../money/rational.ts'
import { outputParts } from '../../tokens/usage.ts'
import { calculate } from '../calculate.ts'
import type { Judged } from './judge.ts'
import { isExactly } from './tolerance.ts'

/** What was charged for an answer that the client left, as tokens of output. */
interface LeftCount {
  readonly tokens: number
  /** Whether it is all that the request allows. */
  readonly isMost: boolean
}

/**
 * The whole number of output tokens that gives exactly what was charged for an answer that the client left: more than arrived, and
 * no more than the request allows. The price of a token must be larger than the unit of the amount, else some number gives any.
 */
function leftCount({ request, statement, expected, unit }: Judged): LeftCount | null {
  const reading = expected.readings[0] ?? expected.left ?? undefined
  if (request.outcomes[0] !== 'abort' || expected.between === null || reading === undefined)
    return null
  const { usage, context, model } = reading
  const inFull = { ...model, charged: { ...model.charged, [context.outcome]: 'full' as const } }
  const none = Object.fromEntries(outputParts.map((part) => [part, 0]))
  const costOf = (output_visible: number) => {
    const parts = { ...usage.parts, ...none, output_visible }
    return calculate(inFull, { ...usage, parts }, context).cost
  }
  const [prompt, one] = [costOf(0), costOf(1)]
  if (prompt === null || one === null || model.round !== null) return null
  const each = subtract(one, prompt)
  if (compare(each, multiply(unit, rational(2n))) < 0) return null
  const tokens = Number(roundWhole(divide(subtract(statement.value, prompt), each), 'half_even'))
  const most = request.maxOutputTokens
  if (tokens <= request.receivedEvents || (most !== null && tokens > most)) return null
  const cost = add(prompt, multiply(each, rational(BigInt(tokens))))
  return isExactly(statement.value, cost, unit) ? { tokens, isMost: tokens === most } : null
}

/** `charged in full: 39 tokens of output, where 17 pieces came before the client left`; null if not all wrong costs are such charges. */
export function chargedBeyondLeft(wrong: readonly Judged[]): string | null {
  const counts = wrong.map(leftCount)
  const [first] = counts
  if (first == null || counts.includes(null)) return null
  const came = wrong[0]!.request.receivedEvents
  const name = counts.every((each) => each?.isMost) ? 'charged for max_tokens' : 'charged in full'
  return `${name}: ${first.tokens} tokens of output, where ${came} pieces of text came before the client left`
}
