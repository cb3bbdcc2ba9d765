import { type GapId, gaps } from '../contract/profile.ts'
import type { Circumstances } from './question.ts'
import { questions } from './questions/list.ts'

/** What a probe may cost, told before its first question. */
export interface Price {
  /** Credits at most: the questions that can be asked here, and the reads of the balance before them. */
  readonly credits: number
  /** What those reads may cost of it. */
  readonly firstReadsCredits: number
  readonly maxCredits: number
  /** Null where it cannot be read. */
  readonly balance: number | null
  readonly questions: readonly PricedQuestion[]
}

export interface PricedQuestion {
  readonly gaps: readonly GapId[]
  readonly asks: string
  readonly credits: number
  /** Why it cannot be asked here; null when it can. */
  readonly obstacle: string | null
}

/**
 * @param only gaps to ask; empty for all
 * @param firstReadsCredits what the reads of the balance before the first question may cost
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
