import { expect, test } from 'vitest'
import { bill09 } from '../../../src/audit/rules/billing/header.ts'
import type { Store } from '../../../src/store/open.ts'
import { evidenceOf, rowOf } from '../rates/evidence.ts'

test('a header that is no plain integer is shown as it came', async () => {
  const rows = [
    rowOf(0, 0, { creditsRemaining: 1_500 }),
    // 1499.0 is read as a number, and flagged for how it was written.
    rowOf(1, 100, { creditsRemaining: 1_499, flags: 2 }),
    rowOf(2, 200, { creditsRemaining: 1_498.5 }),
  ]
  const evidence = await evidenceOf(rows)
  await (evidence.store as Store).execute(
    `INSERT INTO bodies VALUES ('run-1', 1, 0, 'content-type: application/json
X-Credits-Remaining: 1499.0', '{}', false, NULL)`,
  )
  expect(await bill09.decide(evidence)).toMatchObject({
    verdict: 'fail',
    came: 'malformed on 2 of chat',
    witnesses: [{ slot: 1, shows: 'malformed: 1499.0' }],
  })
})
