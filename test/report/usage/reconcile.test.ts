import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readUsage } from '../../../src/report/usage/read.ts'
import { judge } from '../../../src/report/usage/reconcile.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { attempt, enterRun, novemberUs } from '../attempts.ts'
import { enterEvents, usageOptions } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

describe('reconciliation', () => {
  const poll = (minutes: number, consumed: number) =>
    store.execute(
      `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, consumed)
       VALUES (${novemberUs + minutes * 60e6}, 'http://127.0.0.1', '0123456789ab', 200, ${consumed})`,
    )

  test("the service's figures are compared with what was seen, including ambiguous requests", {
    tags: 'whole',
  }, async () => {
    await enterRun(store)
    await appendAttempts(store, [
      attempt(60),
      attempt(61, { model: 'svc-k2.5' }),
      attempt(62, { outcome: 'timeout', status: null, doneUs: null }),
      attempt(700),
      // Another key of the same account.
      attempt(701, { keyFp: 'ffffffffffff' }),
    ])
    // Two polls of the month before are no part of the period.
    await poll(-60 * 24 * 40, 1)
    await poll(-60 * 24 * 39, 2)
    await poll(0, 10)
    await poll(10, 14)
    await poll(20, 17)
    const { reconciliation } = await readUsage(store, usageOptions())
    expect(reconciliation).toMatchObject({
      known: true,
      verdict: 'differs',
      rows: [
        { serviceReported: 4, seen: 3, seenAtMost: 4, verdict: 'agrees', difference: 0 },
        { serviceReported: 3, seen: 2, seenAtMost: 2, verdict: 'differs', difference: 1 },
      ],
    })
  })

  test.each([
    ['credits', 'EUR', [{ serviceReported: 3, seen: 2, seenAtMost: 2, difference: 1 }]],
    ['EUR', 'EUR', [{ serviceReported: 3, seen: 7, seenAtMost: 7, difference: -4 }]],
  ])('lines in %s and in %s are not added up', async (unit, other, rows) => {
    const line = (minutes: number, credits: number, of: string) => ({
      atUs: novemberUs + minutes * 60e6,
      ...{ credits, unit: of, keyFp: '0123456789ab' },
    })
    await enterEvents(store, [line(12, 2, unit), line(13, 5, other), line(14, 1, 'USD')])
    await poll(10, 14)
    await poll(20, 17)
    const { reconciliation } = await readUsage(store, usageOptions())
    expect(reconciliation).toMatchObject({ known: true, verdict: 'differs', rows })
  })

  const interval = (after: number, seen: number, seenAtMost: number) => ({
    account: 'k',
    fromUs: 1,
    toUs: 2,
    before: 1_000,
    after: 1_000 + after,
    seen,
    seenAtMost,
  })

  test.each([
    { summary: 5, seen: 5, most: 7, difference: 0 },
    { summary: 7, seen: 5, most: 7, difference: 0 },
    { summary: 8, seen: 5, most: 7, difference: 1 },
    { summary: 3, seen: 5, most: 7, difference: -2 },
  ])(
    '$says of $seen to $most seen differ by $difference',
    ({ summary, seen, most, difference }) => {
      const { rows } = judge([interval(summary, seen, most)]) as { rows: unknown }
      expect(rows).toEqual([
        {
          fromUs: 1,
          toUs: 2,
          account: 'k',
          serviceReported: summary,
          seen,
          seenAtMost: most,
          verdict: difference === 0 ? 'agrees' : 'differs',
          difference,
        },
      ])
    },
  )

  test('the sentence has the sums of all intervals', () => {
    const agreeing = [interval(1_500, 1_500, 1_500), interval(7, 5, 9)]
    expect(judge(agreeing)).toMatchObject({
      known: true,
      verdict: 'agrees',
      summary: 'The service reported 1,507 credits, and this store saw 1,505, over 2 intervals.',
    })
    expect(judge([...agreeing, interval(100, 1, 1)])).toMatchObject({
      known: true,
      verdict: 'differs',
      summary:
        '1 of 3 intervals differ: the service reported 1,607 credits, and this store saw 1,506. Traffic outside this store looks the same.',
    })
  })

  test('without two polls, reconciliation is not possible', () => {
    expect(judge([])).toEqual({
      known: false,
      summary: 'Two polls of GET /user/credits are needed: assay usage watch makes them.',
    })
  })

  test('an interval counts if a part of it is in the period', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(3600)])
    for (const [at, minutes] of [-60, 0, 60, 120, 180, 240].entries()) await poll(minutes, at)
    await store.execute(
      `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, remaining)
       VALUES (${novemberUs + 150 * 60e6}, 'http://127.0.0.1', '0123456789ab', 200, 9)`,
    )
    const { reconciliation } = await readUsage(
      store,
      usageOptions({ fromUs: novemberUs + 60 * 60e6, toUs: novemberUs + 180 * 60e6 }),
    )
    expect(reconciliation).toMatchObject({
      rows: [
        {
          fromUs: novemberUs + 3600e6,
          toUs: novemberUs + 7200e6,
          serviceReported: 1,
          seen: 1,
          account: '0123456789ab',
        },
        {
          fromUs: novemberUs + 7200e6,
          toUs: novemberUs + 10_800e6,
          serviceReported: 1,
          seen: 0,
          seenAtMost: 0,
        },
      ],
    })
  })

  test('all polls are judged, even more than one query takes', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(5_200.5)])
    await store.execute(
      `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, consumed)
       SELECT ${novemberUs} + i * 1000000, 'http://127.0.0.1', '0123456789ab', 200, CASE WHEN i > 5200 THEN 1 ELSE 0 END
       FROM range(10003) AS t(i)`,
    )
    const { reconciliation } = await readUsage(store, usageOptions())
    expect(reconciliation).toMatchObject({
      known: true,
      verdict: 'agrees',
      summary: 'The service reported 1 credits, and this store saw 1, over 10002 intervals.',
    })
    const rows = reconciliation.known ? reconciliation.rows : []
    expect(rows.map(({ fromUs }) => (fromUs - novemberUs) / 1e6)).toEqual(rows.map((_, at) => at))
  })
})
