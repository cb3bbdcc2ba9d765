import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** The same slot in two runs, and again as a retry, each with the same fault. */
const alike = (change: Partial<AttemptRow>): readonly AttemptRow[] => [
  attempt(3, { runId: 'b', ...change }),
  attempt(3, { runId: 'a', retry: 1, ...change }),
  attempt(3, { runId: 'a', ...change }),
]

test.each([
  ['AUTH-03', { expects: 'missing-key' }],
  ['BILL-09', { creditsRemaining: -1 }],
] as const)('%s names the same witness for any order of the rows', async (rule, change) => {
  const rows = alike(change)
  for (const order of [rows, rows.toReversed()]) {
    expect(await verdictOver(rule, order)).toMatchObject({
      verdict: 'fail',
      witnesses: [{ runId: 'a', slot: 3, retry: 0 }],
    })
  }
})
