import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** One request every tenth of a second, every third without a key, and the statuses of those. */
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

test('AUTH-03 fails if requests without a key always get a 500 while others are served', async () => {
  expect(await verdictOver('AUTH-03', rowsOf(each(500)))).toMatchObject({
    verdict: 'fail',
    observations: 8,
    observed:
      '8 of 8 generation requests with no key got 500; of 14 with a key meanwhile, 0 failed so',
    witnesses: [{ slot: 1 }],
  })
})

test.each([
  ['two requests may fail by accident', rowsOf(each(500, 2)), '2 of 2', '500'],
  ['other requests fail, too', rowsOf(each(503), 503), '8 of 8', '503'],
  ['the rate limit came first', rowsOf(each(429)), '8 of 8', '429'],
])('a status other than 401 decides nothing: %s', async (_, rows, counts, statuses) => {
  expect(await verdictOver('AUTH-03', rows)).toMatchObject({
    verdict: 'inconclusive',
    why: `${counts} generation requests with no key got ${statuses}, which may come before the key is looked at`,
  })
})

test('one 401 shows that the service checks the key', async () => {
  expect(await verdictOver('AUTH-03', rowsOf([...each(500), 401]))).toEqual({
    ...{ verdict: 'pass', observations: 1 },
    note: 'not tested: streamed chat, plain messages, streamed messages',
  })
})

test('without requests that lack a key, the rule is not observed', async () => {
  expect(await verdictOver('AUTH-03', [attempt(0)])).toMatchObject({ verdict: 'not-observed' })
})
