import { type GapId, gaps } from '../contract/profile.ts'
import type { Circumstances } from './question.ts'
import { questions } from './questions/list.ts'

/** The price of a probe, announced before its first question. */
export interface Price {
  /** Upper bound in credits, for the questions that can be asked and the first reads of the balance. */
  readonly credits: number
  /** The part for those reads. */
  readonly firstReadsCredits: number
  readonly maxCredits: number
  /** Null if it cannot be read. */
  readonly balance: number | null
  readonly questions: readonly PricedQuestion[]
}

export interface PricedQuestion {
  readonly gaps: readonly GapId[]
  readonly asks: string
  readonly credits: number
  /** Why it cannot be asked; null if it can. */
  readonly obstacle: string | null
}

/**
 * @param only gaps to ask; empty for all
 * @param firstReadsCredits upper bound of what the first reads of the balance cost
 */
export function priceOf(
  circumstances: Circumstances,
  only: readonly GapId[],
  balance: number | null,
  maxCredits: number,
  firstReadsCredits: number,
): Price {
  const priced = questions
    .filter((question) => only.length === 0 || question.gaps.some((gap) => only.includes(gap)))
    .map((question) => ({
      gaps: question.gaps,
      asks: question.gaps.map((gap) => gaps[gap]).join('; '),
      credits: question.price(circumstances),
      obstacle: question.obstacle?.(circumstances) ?? null,
    }))
  const credits = priced
    .filter(({ obstacle }) => obstacle === null)
    .reduce((sum, question) => sum + question.credits, firstReadsCredits)
  return { credits, firstReadsCredits, maxCredits, balance, questions: priced }
}
