import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** A request each tenth of a second, every third without a key, and what those get. */
const rowsOf = (statuses: readonly number[], withKey = 200): readonly AttemptRow[] =>
  statuses.flatMap((status, nth) =>
    [0, 1, 2].map((at) => {
      const slot = 3 * nth + at
      const got = at === 1 ? status : withKey
      return attempt(slot, {
        ...{ sentUs: slot * 100_000, status: got, expects: at === 1 ? 'missing-key' : 'ok' },
        outcome: got === 200 ? 'ok' : 'http_error',
      })
    }),
  )
const each = (status: number, count = 8) => Array.from({ length: count }, () => status)

test('requests with no key that always fail, among others that are served, are not refused with 401', async () => {
  expect(await verdictOver('AUTH-03', rowsOf(each(500)))).toMatchObject({
    verdict: 'fail',
    observations: 8,
    came: '8 of 8 generation requests with no key got 500; of 14 with a key meanwhile, 0 failed so',
    witnesses: [{ slot: 1 }],
  })
})

test.each([
  ['two alone may fail by accident', rowsOf(each(500, 2)), '2 of 2', '500'],
  ['others fail too', rowsOf(each(503), 503), '8 of 8', '503'],
  ['the limit came first', rowsOf(each(429)), '8 of 8', '429'],
])('%s: what came instead is said, and decides nothing', async (_, rows, counts, statuses) => {
  expect(await verdictOver('AUTH-03', rows)).toMatchObject({
    verdict: 'inconclusive',
    why: `${counts} generation requests with no key got ${statuses}, which may come before the key is looked at`,
  })
})

test('one that was refused with 401 shows that the key is looked at', async () => {
  expect(await verdictOver('AUTH-03', rowsOf([...each(500), 401]))).toEqual({
    ...{ verdict: 'pass', observations: 1 },
  })
})

test('a run without such requests observes nothing', async () => {
  expect(await verdictOver('AUTH-03', [attempt(0)])).toMatchObject({ verdict: 'not-observed' })
})
