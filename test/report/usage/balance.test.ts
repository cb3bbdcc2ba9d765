import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBalance, readGrants } from '../../../src/report/usage/balance.ts'
import { prepareUsage } from '../../../src/report/usage/prepare.ts'
import type { UsageOptions } from '../../../src/report/usage/shape.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { attempt, enterRun, novemberUs } from '../attempts.ts'
import { usageOptions } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

/** An answer this many seconds into the run, with its remaining credits. */
const answer = (slot: number, creditsRemaining: number | null, change = {}) =>
  attempt(slot, { headersUs: slot * 1e6, creditsRemaining, ...change })
const poll = (
  seconds: number,
  remaining: number | null,
  keyFp = '0123456789ab',
  grants: unknown = null,
) =>
  store.execute(
    `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, remaining, grants_json)
     VALUES (${novemberUs + seconds * 1e6}, 'u', '${keyFp}', 200, ${remaining}, ${grants === null ? 'NULL' : `'${JSON.stringify(grants)}'`})`,
  )
const balance = async (change: Partial<UsageOptions> = {}) => {
  await prepareUsage(store, usageOptions(change))
  const points = await readBalance(store)
  return points.map(({ atUs, account, remaining, from }) => [
    (atUs - novemberUs) / 1e6,
    account,
    remaining,
    from,
  ])
}

test('the balance is the last of each quarter and account, from headers and polls', async () => {
  await enterRun(store)
  await appendAttempts(store, [
    answer(1, 100),
    answer(3, 99),
    answer(2, 90),
    answer(4, null),
    answer(5, 80, { headersUs: null }),
    answer(899, 98),
    answer(900, 97),
    answer(6, 50, { account: null, keyFp: 'bbbbbbbbbbbb' }),
    answer(7, 40, { account: null, keyFp: null }),
  ])
  await poll(5, 70)
  await poll(901, 60)
  await poll(902, null)
  await poll(8, 30, 'cccccccccccc')
  expect(await balance()).toEqual([
    [6, 'bbbbbbbbbbbb', 50, 'header'],
    [7, '(unknown)', 40, 'header'],
    [8, 'cccccccccccc', 30, 'poll'],
    [899, 'main', 98, 'header'],
    [901, 'main', 60, 'poll'],
  ])
})

test('balances are those of the period and of the named runs', { tags: 'whole' }, async () => {
  await enterRun(store)
  await enterRun(store, 'b')
  await appendAttempts(store, [
    answer(899, 9),
    answer(900, 8),
    answer(1799, 7),
    answer(1800, 6),
    answer(1000, 5, { runId: 'b', account: 'other' }),
  ])
  const period = { fromUs: novemberUs + 900e6, toUs: novemberUs + 1800e6 }
  expect(await balance({ ...period, runIds: ['a'] })).toEqual([[1799, 'main', 7, 'header']])
  expect(await balance(period)).toEqual([
    [1000, 'other', 5, 'header'],
    [1799, 'main', 7, 'header'],
  ])
  const first = { fromUs: novemberUs + 900e6, toUs: novemberUs + 2700e6, runIds: ['a'] }
  expect(await balance(first)).toEqual([
    [1799, 'main', 7, 'header'],
    [1800, 'main', 6, 'header'],
  ])
})

test('the time of a header is that of the service, in a scaled run', async () => {
  await enterRun(store, 'a', { timeScale: 60 })
  await appendAttempts(store, [answer(10, 5)])
  expect(await balance()).toEqual([[600, 'main', 5, 'header']])
})

test('the credits held are the grants of the last poll of each key, or else its balance', async () => {
  await enterRun(store)
  await appendAttempts(store, [answer(1, 100)])
  const grants = [{ name: 'Standard', credits: 7, expiresUs: 5 }]
  await poll(1, 1_000, 'a', [{ name: 'old', credits: 1, expiresUs: null }])
  await poll(2, 900, 'a', grants)
  await poll(3, null, 'a')
  await poll(1, 50, 'b', [])
  await poll(1, 100, 'c', grants)
  await poll(2, 3, 'c')
  await prepareUsage(store, usageOptions())
  const held = [...(await readGrants(store, novemberUs))!].sort((a, b) => a.credits - b.credits)
  expect(held).toEqual([
    { name: 'balance', credits: 3, expiresUs: null },
    ...grants,
    { name: 'balance', credits: 50, expiresUs: null },
  ])
})

test('without a poll they are the last header of each account so far, and null without one', async () => {
  await enterRun(store)
  await appendAttempts(store, [
    answer(1, 100),
    answer(2, 99),
    answer(3, 98),
    answer(1, 20, { account: 'other' }),
  ])
  await poll(1, null)
  await prepareUsage(store, usageOptions())
  const held = (name: string, credits: number) => ({ name, credits, expiresUs: null })
  expect(await readGrants(store, novemberUs + 2e6)).toEqual([held('main', 99), held('other', 20)])
  expect(await readGrants(store, novemberUs + 0.5e6)).toBeNull()
})

test('of balances at the same time the lower is the later', { tags: 'whole' }, async () => {
  await enterRun(store)
  const together = { headersUs: 3e6 }
  await appendAttempts(store, [
    answer(1, 100),
    answer(2, 98, together),
    answer(3, 96, together),
    answer(4, 97, together),
    answer(901, 96),
    answer(902, 95),
  ])
  await poll(3, 95)
  await poll(902, 96)
  expect(await balance()).toEqual([
    [3, 'main', 95, 'poll'],
    [902, 'main', 95, 'header'],
  ])
  await store.execute('DELETE FROM usage_polls')
  await prepareUsage(store, usageOptions())
  expect(await readGrants(store, novemberUs + 3e6)).toEqual([
    { name: 'main', credits: 96, expiresUs: null },
  ])
})
