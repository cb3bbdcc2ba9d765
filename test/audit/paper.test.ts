import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, enterRun, novemberUs } from '../report/attempts.ts'
import { deleteAttempts } from '../store/edit-attempts.ts'
import { openExistingStore, openStore, type Store } from '../store/opened.ts'
import { inFlight, read } from './in-flight.ts'

/**
 * Histories worked out on paper: impossible balances, and the verdict that each must get. They are
 * recorded in a database file, which is closed and reopened before the audit.
 */
let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-paper-'))
  store = await openStore(join(folder, 'paper.duckdb'))
  await enterEndedRun(store)
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

async function verdictOf(rule: string, rows: readonly AttemptRow[]): Promise<Verdict> {
  await appendAttempts(store, rows)
  store.close()
  store = await openExistingStore(join(folder, 'paper.duckdb'))
  const report = await audit(store, {
    contract: defaultContract,
    rules: [rule],
    auditId: 'paper',
    auditedAt: new Date(0),
  })
  return report.findings[0]!.verdict
}

const slots = (verdict: Verdict) =>
  verdict.verdict === 'fail' ? verdict.witnesses.map((witness) => witness.slot) : []

test('T0: three successes between two reads that differ by 4 are a failure', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-10', [
    read(0, 0, 100),
    inFlight(1, 1, 9, 99),
    inFlight(2, 2, 8, 98),
    inFlight(3, 3, 7, 97),
    read(4, 10, 96),
  ])
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observations: 1,
    expected: 'account main: a fall by 3 for 3 successes',
    observed: 'a fall by 4: 1 credit too much',
  })
  expect(slots(verdict)).toEqual([4, 0])
})

test('T0: a rising balance is reported as a rise, without the note about other users', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-10', [
    read(0, 0, 100),
    inFlight(1, 1, 9, 101),
    read(2, 10, 101),
  ])
  expect(verdict).toMatchObject({ verdict: 'fail', observed: 'a rise by 1: 2 credits too little' })
  expect(verdict).not.toHaveProperty('note')
})

test('T0: an aborted stream may have cost its price, but no more', { tags: 'whole' }, async () => {
  const aborted = { outcome: 'aborted', reason: 'first-event', streamed: 1, status: 200 } as const
  const rows = [
    read(0, 0, 100),
    inFlight(1, 1, 5, 99),
    { ...inFlight(2, 2, 3, 0, aborted), creditsRemaining: null },
  ]
  expect(await verdictOf('BILL-10', [...rows, read(3, 10, 98)])).toMatchObject({ verdict: 'pass' })
  await deleteAttempts(store)
  expect(await verdictOf('BILL-10', [...rows, read(3, 10, 97)])).toMatchObject({ verdict: 'fail' })
})

test('T1: two concurrent requests that both show 99 of 100 lost an update', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 5, 99),
    inFlight(2, 2, 6, 99),
    inFlight(3, 7, 8, 98),
    read(4, 9, 98),
  ])
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: '2 charges that cost 2 together lowered the balance by 1: 1 credit lost',
  })
  expect(slots(verdict)).toEqual([2, 1])
})

test('T1: header values shown a moment late are legal, though none is exact', {
  tags: 'whole',
}, async () => {
  // Both of each pair were charged before either header was read: 100 -> 99 -> 98, and each shows
  // 98, and so on. Sorted: those of 98 or more cost 2 together, and 100 - 98 allows 2; of 96 or
  // more 4; of 94 or more 6. No request shows more than the balance before its call. One such pair
  // alone is inconclusive.
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 5, 98),
    inFlight(2, 2, 6, 98),
    inFlight(3, 7, 9, 96),
    inFlight(4, 8, 10, 96),
    inFlight(5, 11, 13, 94),
    inFlight(6, 12, 14, 94),
    read(7, 15, 94),
  ])
  expect(verdict).toMatchObject({ verdict: 'pass', observations: 8 })
  expect(verdict).toHaveProperty('note', expect.stringContaining('not an exact balance'))
})

test('T1: charges that settle late are not lost, and the verdict is inconclusive', {
  tags: 'whole',
}, async () => {
  // Each shows the balance without the charges of the last seconds: 100, 100, 99. Read as balances
  // after their own charge, they lost updates; but the read long after shows all four charges.
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 2, 100),
    inFlight(2, 1.5, 2.5, 100),
    inFlight(3, 3, 4, 99),
    inFlight(4, 3.2, 4.2, 99),
    read(5, 60, 96),
  ])
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
  expect(verdict).toHaveProperty('why', expect.stringContaining('settle up to'))
})

test('T2: an early header bounds the balance and contradicts nothing', {
  tags: 'whole',
}, async () => {
  // 3 was called after 2 had shown 98, and shows 97: no rise. 1 was in flight throughout: any
  // order.
  const verdict = await verdictOf('BILL-11', [
    inFlight(1, 1, 9, 99),
    inFlight(2, 2, 3, 98),
    inFlight(3, 6, 7, 97),
  ])
  expect(verdict).toMatchObject({ verdict: 'pass', observations: 3 })
})

test('T2: a fall by far more than the charges may be an expiry, so it decides nothing', {
  tags: 'whole',
}, async () => {
  // 500 credits are missing between two requests of 1: no bound at the start fits both, but an
  // expired package would look the same.
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 1000),
    inFlight(1, 1, 4, 999),
    inFlight(2, 2, 5, 998),
    inFlight(3, 6, 8, 497),
    inFlight(4, 7, 9, 496),
    read(5, 10, 496),
  ])
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
  expect(verdict).toHaveProperty('why', expect.stringContaining('expired'))
})

test('T2: a balance above one that was shown before the call is a failure', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-11', [
    inFlight(1, 1, 5, 97),
    inFlight(2, 2, 3, 98),
    inFlight(3, 6, 7, 99),
  ])
  expect(verdict.verdict).toBe('fail')
  expect(slots(verdict)).toEqual([3, 1])
})

test('T3: a balanceGap of one credit is located between its neighbours', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 4, 99),
    inFlight(2, 2, 5, 98),
    inFlight(3, 4.5, 8, 96),
    inFlight(4, 6, 9, 95),
    read(5, 10, 95),
  ])
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed:
      '1 credit missing between 98 and 96 without a request that explains it, between 2.000000 s and 8.000000 s of the run with 4 in flight',
  })
  // First the request that showed the missing credits, then by distance of their ends from the
  // middle of the balance gap (5 s): 5, 4, 9 s.
  expect(slots(verdict)).toEqual([3, 2, 1, 4])
})

test('T3: a header that lags one request is reported as lagging, not as missing credits', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 4, 99),
    inFlight(2, 2, 5, 99),
    inFlight(3, 6, 8, 97),
    inFlight(4, 7, 9, 96),
    read(5, 10, 96),
  ])
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed:
      'a header that is one request behind: 99 where the balance was 98; no credit is missing after it',
  })
  expect(verdict).not.toHaveProperty('note')
  expect(slots(verdict)).toEqual([2, 1])
})

test('T3: touching intervals in an order that the clock allows are exact', {
  tags: 'whole',
}, async () => {
  // [99,100) [98,99) [96,98) for a request of 2, [95,96): no overlap, no balance gap; 3 ended after 2 was called.
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 4, 99),
    inFlight(2, 2, 5, 98),
    inFlight(3, 3, 8, 96, { model: 'svc-k2.5' }),
    inFlight(4, 6, 9, 95),
    read(5, 10, 95),
  ])
  expect(verdict).toEqual({
    verdict: 'pass',
    observations: 6,
    note: 'Every value is exact: the header shows the balance at each charge.',
  })
})

test('T3 alone detects a double charge that was refunded, and the verdict is inconclusive', {
  tags: 'whole',
}, async () => {
  const exact = Array.from({ length: 20 }, (_, at) =>
    inFlight(10 + at, 20 + at, 21.5 + at, 94 - at),
  )
  const verdict = await verdictOf('BILL-11', [
    read(0, 0, 100),
    inFlight(1, 1, 6, 99),
    inFlight(2, 2, 7, 97),
    inFlight(3, 3, 8, 97),
    inFlight(4, 4, 9, 96),
    inFlight(5, 5, 9, 95),
    ...exact,
    read(90, 50, 75),
  ])
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('without balances, no billing rule is observed', async () => {
  await appendAttempts(
    store,
    Array.from({ length: 30 }, (_, slot) => attempt(slot)),
  )
  const report = await audit(store, {
    contract: defaultContract,
    rules: ['BILL'],
    auditId: 'paper',
    auditedAt: new Date(0),
  })
  const decided = report.findings.filter(({ verdict }) => verdict.verdict !== 'not-observed')
  // The prices of the specification's list are not rounded in one way.
  expect(decided.map(({ rule, verdict }) => [rule, verdict.verdict])).toEqual([
    ['BILL-20', 'not-promised'],
  ])
})

test('a package bought during a run makes a balance rise inconclusive', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('BILL-10', [read(0, 0, 100), read(1, 1, 600), read(2, 2, 600)])
  expect(verdict).toMatchObject({ verdict: 'inconclusive' })
})

test('a repeated request with the same Idempotency-Key may be free or charged again', {
  tags: 'whole',
}, async () => {
  await store.execute(
    `INSERT INTO templates VALUES ('a', 1, 'keyed', 'POST', '/v1/chat/completions', '{"idempotency-key":"k"}', '{}', NULL, NULL, NULL)`,
  )
  const rows = [
    read(0, 0, 100),
    inFlight(1, 1, 2, 99, { template: 1 }),
    inFlight(2, 3, 4, 99, { template: 1 }),
  ]
  expect(await verdictOf('BILL-10', [...rows, read(3, 10, 99)])).toMatchObject({ verdict: 'pass' })
  await deleteAttempts(store)
  expect(await verdictOf('BILL-10', [...rows, read(3, 10, 98)])).toMatchObject({ verdict: 'pass' })
  await deleteAttempts(store)
  expect(await verdictOf('BILL-10', [...rows, read(3, 10, 97)])).toMatchObject({ verdict: 'fail' })
})

/** Four credits taken for three successes, in the given run. */
const oneTooMuch = (runId: string) =>
  [
    read(0, 0, 100),
    inFlight(1, 1, 9, 99),
    inFlight(2, 2, 8, 98),
    inFlight(3, 3, 7, 97),
    read(4, 10, 96),
  ].map((row) => ({ ...row, runId }))

test('lost rows of a killed run make a missing credit inconclusive', {
  tags: 'whole',
}, async () => {
  await enterRun(store, 'killed')
  expect(await verdictOf('BILL-10', oneTooMuch('killed'))).toMatchObject({
    verdict: 'inconclusive',
    observations: 1,
    why: 'a fall by 4: 1 credit too much, where expected was account main: a fall by 3 for 3 successes; but run killed did not end, and what was in flight then has no row',
  })
})

test('a failure in a run that ended is reported even if another run was killed', {
  tags: 'whole',
}, async () => {
  await enterRun(store, 'killed', { startedAtUs: novemberUs - 3600e6 })
  const rows = [...oneTooMuch('killed'), ...oneTooMuch('a')]
  expect(await verdictOf('BILL-10', rows)).toMatchObject({
    verdict: 'fail',
    witnesses: [{ runId: 'a' }, { runId: 'a' }],
  })
})

test('requests whose template was lost in a kill are not treated as equal prompts', async () => {
  const asked = (slot: number, promptTokens: number) =>
    inFlight(slot, slot, slot + 0.5, 100 - slot, { template: 7 + slot, promptTokens })
  expect((await verdictOf('CHAT-09', [asked(0, 11), asked(1, 35)])).verdict).toBe('not-observed')
})

test('USE-07: overlapping answers have no order, consecutive answers do', {
  tags: 'whole',
}, async () => {
  const told = async (slot: number, fromS: number, toS: number, consumed: number) => {
    const body = JSON.stringify({ remaining: 50, total_consumed: consumed })
    await store.execute("INSERT INTO bodies VALUES ('a', $1, 0, '', $2, false, NULL)", [
      BigInt(slot),
      body,
    ])
    const path = '/user/credits'
    await store.execute(
      `INSERT INTO templates BY NAME SELECT 'a' AS run_id, $1::INTEGER AS template, 's' AS step,
         'GET' AS method, $2 AS path, '{}' AS headers`,
      [slot, path],
    )
    return inFlight(slot, fromS, toS, 50, { endpoint: 'credits', model: null, template: slot })
  }
  const overlapping = [await told(0, 0, 4, 69), await told(1, 1, 3, 68)]
  expect((await verdictOf('USE-07', overlapping)).verdict).toBe('not-observed')
  expect(await verdictOf('USE-07', [await told(2, 5, 6, 67)])).toMatchObject({
    verdict: 'fail',
    witnesses: [{ slot: 2 }],
  })
})
