import { expect, test } from 'vitest'
import { gapIds } from '../../src/contract/profile.ts'
import { faults } from '../../src/service/faults/list.ts'
import { gapAnswers } from './gaps.ts'
import { randomVariants, singleVariants } from './variants.ts'

const named = new Set(
  Object.values(gapAnswers).flatMap((answers) =>
    Object.values(answers).flatMap((variants) => (typeof variants === 'string' ? [] : variants)),
  ),
)

test('every gap of the rulebook has a variant for each answer, or a reason for having none', () => {
  expect(Object.keys(gapAnswers).sort()).toEqual([...gapIds].sort())
  const known = new Set(singleVariants.map(({ name }) => name))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
  // The one variant that is not an answer by itself: the classes of G-18 together.
  const stranger = singleVariants.filter(({ name }) => !named.has(name)).map(({ name }) => name)
  expect(stranger).toEqual([
    'counts={"request":true,"credits":true,"rate":true,"models":true,"usage":true}',
  ])
})

test('every rule that a reason names has a fault', () => {
  const rules = faults.map(({ rule }) => rule)
  expect(rules).toEqual(expect.arrayContaining(['BILL-09', 'BILL-17']))
})

test('random variants eventually draw every answer', () => {
  const drawn = new Set(
    randomVariants(300, 1).flatMap(({ profile }) =>
      Object.entries(profile).map(
        ([question, answer]) =>
          `${question}=${typeof answer === 'object' ? JSON.stringify(answer) : answer}`,
      ),
    ),
  )
  expect([...named].filter((name) => !drawn.has(name))).toEqual([])
})
