import { expect, test } from 'vitest'
import { attempt } from '../report/attempts.ts'
import { failuresOver } from './verdict-over.ts'

/** Requests that each show the same balance, or one that falls. */
const failed = async (first: number, by: number) =>
  Object.keys(
    await failuresOver(
      Array.from({ length: 6 }, (_, slot) =>
        attempt(slot, { creditsRemaining: first - slot * by }),
      ),
    ),
  )

test('a balance of -1 for an account without a limit is no overdrawn one', async () => {
  // The header is promised to be 0 or more.
  expect(await failed(-1, 0)).toEqual(['BILL-09'])
})

test('a balance that falls below 0, or stays elsewhere, is a fault', async () => {
  expect(await failed(2, 1)).toContain('BILL-15')
  expect(await failed(-5, 0)).toContain('BILL-15')
  expect((await failed(7, 0)).length).toBeGreaterThan(0)
})
