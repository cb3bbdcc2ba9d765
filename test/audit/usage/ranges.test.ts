import { expect, test } from 'vitest'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'
import { verdictOfAnswers } from './answers.ts'

const page = { model: null, endpoint: 'credits' } as const

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

test('USE-06 fails if the parts of a range add up to less than the range', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(50, 20, 20)).toMatchObject({
    verdict: 'fail',
    observed: '50 credits in all, 20 and 20 in its parts',
  })
  expect(await verdictOf(50, 20, 30)).toMatchObject({ verdict: 'pass' })
})

test('USE-06 is not observed if the service gives the same for every range', async () => {
  expect(await verdictOf(50, 50, 50)).toMatchObject({ verdict: 'not-observed' })
})

test('USE-06 compares no ranges between which a request was sent, though it was free', {
  tags: 'whole',
}, async () => {
  const ranges = ['1/3', '1/2', '2/3'].map((range) => range.split('/'))
  const bodies = [16, 9, 6].map((requests) => ({ remaining: 50, requests }))
  const answersAt = (...slots: readonly number[]) =>
    verdictOver(
      'USE-06',
      [
        ...slots.map((slot, at) => attempt(slot, { ...page, template: at })),
        attempt(1, { template: 9 }),
      ],
      {
        templates: ranges.map(([from, to], template) => ({
          ...{ runId: 'a', template, step: 's', method: 'GET', headers: '{}', body: null },
          path: `/user/credits?from=2026-11-0${from}&to=2026-11-0${to}`,
          ...{ maxTokens: null, n: null, promptHash: null },
        })),
        bodies: bodies.map((body, at) => ({
          ...{ runId: 'a', slot: slots[at]!, retry: 0, headers: '', truncated: false },
          body: JSON.stringify({ ...body, consumed: [6, 4, 2][at] }),
        })),
      },
    )
  expect(await answersAt(0, 2, 3)).toMatchObject({ verdict: 'not-observed' })
  expect(await answersAt(2, 3, 4)).toMatchObject({
    verdict: 'fail',
    observed: '16 requests in all, 9 and 6 in its parts',
  })
})

test('USE-06 does not decide if the day between two ranges may be in both, or if no figure is known', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(30, 20, 20)).toMatchObject({ verdict: 'not-observed' })
  const answer = (from: number, to: number, body: object) => ({
    path: `/user/credits?from=2026-11-0${from}&to=2026-11-0${to}`,
    body,
  })
  const unknown = [
    answer(1, 3, { consumed: 5, remaining: 50 }),
    answer(1, 2, { remaining: 50 }),
    answer(2, 3, { remaining: 50 }),
  ]
  expect(await verdictOfAnswers('USE-06', unknown)).toMatchObject({ verdict: 'not-observed' })
})

test('USE-06: sums of fractions are those of their decimals', async () => {
  expect(await verdictOf(0.3, 0.1, 0.2)).toMatchObject({ verdict: 'pass' })
})
