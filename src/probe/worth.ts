import type { GapId } from '../contract/profile.ts'
import type { Circumstances, Question } from './question.ts'

/** Answers that an audit reads from the profile (G-14, G-15, G-18, G-21, G-22), or that those take (G-09, G-17). */
const worthMost: readonly GapId[] = ['G-09', 'G-17', 'G-18', 'G-14', 'G-15', 'G-21', 'G-22']

const isWorthMost = ({ gaps }: Question) => gaps.some((gap) => worthMost.includes(gap))

/**
 * The next question: the first in their order that leaves enough for those that are worth most. The others wait until
 * these are asked, and show what they cost; usually that is less than their price.
 *
 * @param waiting questions in the order of asking, at least one
 * @param credits that may still be spent
 */
export function nextQuestion(
  waiting: readonly Question[],
  circumstances: Circumstances,
  credits: number,
): Question {
  const priceOf = (question: Question) =>
    (question.obstacle?.(circumstances) ?? null) === null ? question.price(circumstances) : 0
  // A question that cannot be paid anyway keeps nothing from the others.
  const kept = waiting
    .filter(isWorthMost)
    .map(priceOf)
    .reduce((sum, price) => (sum + price <= credits ? sum + price : sum), 0)
  const isNext = (question: Question) =>
    isWorthMost(question) || priceOf(question) === 0 || priceOf(question) + kept <= credits
  return waiting.find(isNext) ?? waiting[0]!
}
