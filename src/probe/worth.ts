import type { GapId } from '../contract/profile.ts'
import type { Circumstances, Question } from './question.ts'

/** Gaps whose answers an audit needs (G-14, G-15, G-18, G-21, G-22), and those that must be answered first (G-09, G-17). */
const neededGaps: readonly GapId[] = ['G-09', 'G-17', 'G-18', 'G-14', 'G-15', 'G-21', 'G-22']

const isNeeded = ({ gaps }: Question) => gaps.some((gap) => neededGaps.includes(gap))

/**
 * The next question: the first in order that leaves enough for all needed ones that can be paid. Others wait, as real costs are
 * usually below the price. `credits` may still be spent.
 */
export function nextQuestion(
  waiting: readonly Question[],
  circumstances: Circumstances,
  credits: number,
): Question {
  const priceOf = (question: Question) =>
    (question.obstacle?.(circumstances) ?? null) === null ? question.price(circumstances) : 0
  // A question that cannot be paid anyway reserves nothing.
  const reserved = waiting
    .filter(isNeeded)
    .map(priceOf)
    .reduce((sum, price) => (sum + price <= credits ? sum + price : sum), 0)
  const isNext = (question: Question) =>
    isNeeded(question) || priceOf(question) === 0 || priceOf(question) + reserved <= credits
  return waiting.find(isNext) ?? waiting[0]!
}
