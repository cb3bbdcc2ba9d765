import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { GapId } from '../../src/contract/profile.ts'
import type { Circumstances, Question } from '../../src/probe/question.ts'
import { questions } from '../../src/probe/questions/list.ts'
import { nextQuestion } from '../../src/probe/worth.ts'

const circumstances: Circumstances = {
  contract: defaultContract,
  minuteLimit: 20,
  readCredits: 1,
  hasOperator: false,
  secondKey: 'none',
}
const question = (gap: GapId, credits: number, obstacle: string | null = null): Question => ({
  gaps: [gap],
  price: () => credits,
  obstacle: () => obstacle,
  ask: async () => ({}),
})

/** The order in which questions are asked, if each costs its price and one that is too dear is skipped. */
function orderOf(list: readonly Question[], credits: number): readonly string[] {
  const waiting = [...list]
  const asked: string[] = []
  let left = credits
  while (waiting.length > 0) {
    const next = nextQuestion(waiting, circumstances, left)
    waiting.splice(waiting.indexOf(next), 1)
    const price = next.obstacle?.(circumstances) == null ? next.price(circumstances) : 0
    if (price > left) continue
    left -= price
    asked.push(next.gaps.join(' '))
  }
  return asked
}

test('with enough credits the order of asking stays as it is', () => {
  const free = questions.map(({ gaps }) => gaps.join(' '))
  expect(orderOf(questions, 10_000)).toEqual(free)
})

test('with too few, those that an audit reads are asked first', () => {
  const list = [question('G-01', 30), question('G-14', 40), question('G-33', 30)]
  expect(orderOf(list, 100)).toEqual(['G-01', 'G-14', 'G-33'])
  expect(orderOf(list, 69)).toEqual(['G-14'])
  expect(orderOf(list, 70)).toEqual(['G-01', 'G-14'])
})

test('one that cannot be paid keeps nothing from the others', () => {
  expect(orderOf([question('G-01', 30), question('G-22', 80)], 62)).toEqual(['G-01'])
})

test('one that cannot be asked keeps nothing from the others', () => {
  const list = [question('G-01', 30), question('G-22', 40, 'it needs an operator')]
  expect(orderOf(list, 62)).toEqual(['G-01', 'G-22'])
})
