import type { RequestId } from '../../../price/judge/request.ts'
import { inconclusive, type Verdict, witnessAt } from '../../verdict.ts'
import { amountOf } from './answer-json.ts'

/** A cost that a service wrote, and that is no number: `$0.002`, `0,002`. */
export interface UnreadableCost {
  readonly request: RequestId
  readonly place: string
  readonly text: string
}

/** Words that say that there is no cost, as some services write them. */
const noCost = /^(?:-|n\/?a|nil|none|null|undefined)?$/i

/** The text of a value that should be an amount and is not; null if it is one, or says that there is none. */
export function unreadableText(value: unknown): string | null {
  if (typeof value !== 'string' || amountOf(value) !== null) return null
  const text = value.trim()
  return noCost.test(text) ? null : text
}

/** Costs that nobody can read are no pass: what the contract promises at a place is not dropped because it is wrong. */
export function unlessUnreadable(
  verdict: Verdict,
  costs: readonly UnreadableCost[],
  readable: number,
): Verdict {
  const [first] = costs
  if (first === undefined || verdict.verdict === 'fail') return verdict
  const all = costs.length + readable
  return inconclusive(
    all,
    `${costs.length} of ${all} costs at ${first.place} ${costs.length === 1 ? 'is' : 'are'} no number: ${JSON.stringify(first.text)}`,
    costs
      .slice(0, 3)
      .map(({ request, place, text }) => witnessAt(request, `${place} ${JSON.stringify(text)}`)),
  )
}
