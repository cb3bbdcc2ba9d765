import { expect, test } from 'vitest'
import { verdictOfAnswers } from './answers.ts'

/** The credits in three answers: for a range, and for its two parts. */
function verdictOf(whole: number, first: number, second: number) {
  const answer = (from: number, to: number, consumed: number) => ({
    path: `/user/credits?from=2026-11-0${from}&to=2026-11-0${to}`,
    body: { consumed, remaining: 50 },
  })
  return verdictOfAnswers('USE-06', [
    answer(1, 3, whole),
    answer(1, 2, first),
    answer(2, 3, second),
  ])
}

test('USE-06 fails if the parts of a range add up to less than the range', async () => {
  expect(await verdictOf(50, 20, 20)).toMatchObject({
    verdict: 'fail',
    came: '50 credits in all, 20 and 20 in its parts',
  })
  expect(await verdictOf(50, 20, 30)).toMatchObject({ verdict: 'pass' })
})

test('USE-06 is not observed if the service gives the same for every range', async () => {
  expect(await verdictOf(50, 50, 50)).toMatchObject({ verdict: 'not-observed' })
})
