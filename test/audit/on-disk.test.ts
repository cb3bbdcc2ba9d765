import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import { decideInOrder } from '../../src/audit/decide.ts'
import { decideInWorker } from '../../src/audit/rate-worker.ts'
import type { Evidence } from '../../src/audit/rule.ts'
import { historyOf, type RateEvent } from '../../src/audit/rules/rates/history.ts'
import { selectRules } from '../../src/audit/rules/select.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { ColumnFile } from '../../src/store/read/column-file.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { openStore, type Store } from '../store/opened.ts'

let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
  await enterEndedRun(store, 'a')
  await enterEndedRun(store, 'b', { startedAtUs: 40e6 })
})
afterEach(() => store.close())

/** Requests of a few accounts and keys, at most a few in flight; the service is right, or wrong in many ways. */
const drawnRows = fc.array(
  fc.record({
    run: fc.constantFrom('a', 'b'),
    account: fc.constantFrom('one', 'two', null),
    key: fc.nat(2),
    gapMs: fc.constantFrom(50, 400, 1500, 130_000),
    tookMs: fc.constantFrom(20, 900),
    kind: fc.constantFrom('ok', 'ok', 'ok', 'stream', 'read', 'rejected', 'aborted', 'failed'),
    fault: fc.constantFrom(0, 0, 0, 0, 1, -1),
  }),
  { minLength: 5, maxLength: 60 },
)

function rowsOf(
  drawn: readonly (typeof drawnRows extends fc.Arbitrary<infer T> ? T : never)[number][],
) {
  const balances = new Map<string, number>()
  const used = new Map<string, number>()
  let atUs = 0
  return drawn.map(({ run, account, key, gapMs, tookMs, kind, fault }, slot): AttemptRow => {
    atUs += gapMs * 1000
    const keyFp = `${account}-${key}`
    const owner = account ?? keyFp
    const isCharged = kind === 'ok' || kind === 'stream'
    const balance = (balances.get(owner) ?? 900) - (isCharged ? 1 : 0)
    balances.set(owner, balance - fault)
    const count = (used.get(keyFp) ?? 0) + 1
    used.set(keyFp, count)
    const endUs = atUs + tookMs * 1000
    const isAnswered = kind !== 'aborted'
    return attempt(slot, {
      ...{ runId: run, account, keyFp, intendedUs: atUs, dispatchedUs: atUs, sentUs: atUs },
      headersUs: isAnswered ? endUs : null,
      ...{ doneUs: isAnswered ? endUs : null, closedUs: endUs },
      ...{ streamed: kind === 'stream' ? 1 : 0, contentEvents: kind === 'stream' ? 3 : 0 },
      ...(kind === 'read' ? { endpoint: 'credits', model: null, completionTokens: null } : {}),
      ...(kind === 'rejected' ? { outcome: 'http_error', status: 429, retryAfter: 7 } : {}),
      ...(kind === 'failed' ? { outcome: 'http_error', status: 503 } : {}),
      ...(isAnswered ? {} : { outcome: 'aborted', status: null }),
      creditsRemaining: isAnswered && kind !== 'failed' ? balance : null,
      ...(isAnswered
        ? { rateLimit: 60, rateRemaining: Math.max(0, 60 - count), rateReset: 60 - (slot % 60) }
        : {}),
      dateS: isAnswered ? Math.floor(endUs / 1e6) : null,
    })
  })
}

async function enter(rows: readonly AttemptRow[]): Promise<void> {
  await store.execute('DELETE FROM attempt_rows; DELETE FROM narrow_rows')
  await appendAttempts(store, rows)
}

const options = { contract: defaultContract, auditId: 'audit', auditedAt: new Date(0) }

test('the findings are the same if the evidence is on disk', { tags: 'whole' }, async () => {
  const verdicts = new Set<string>()
  await fc.assert(
    fc.asyncProperty(drawnRows, async (drawn) => {
      await enter(rowsOf(drawn))
      const rules = ['BILL', 'RATE']
      const inMemory = await audit(store, { ...options, rules })
      const onDisk = await audit(store, { ...options, rules, attemptsInMemory: 0 })
      for (const { verdict } of inMemory.findings) verdicts.add(verdict.verdict)
      expect(onDisk).toEqual(inMemory)
    }),
    { numRuns: 6, seed: 3 },
  )
  expect(verdicts).toEqual(
    new Set(['pass', 'fail', 'inconclusive', 'not-observed', 'not-promised']),
  )
})

describe('requests on disk', () => {
  let columns: ColumnFile
  const evidence = (): Evidence => ({ store, runIds: ['a', 'b'], contract: defaultContract })
  beforeEach(() => {
    columns = new ColumnFile(':memory:')
  })
  afterEach(() => columns.close())

  test('have the same order as in memory, by key, by account and all together', {
    tags: 'whole',
  }, async () => {
    const names = (events: Iterable<RateEvent>) =>
      Array.from(events, ({ runId, slot, key, balance }) => ({ runId, slot, key, balance }))
    await fc.assert(
      fc.asyncProperty(drawnRows, async (drawn) => {
        await enter(rowsOf(drawn))
        const [here, there] = [
          await historyOf(evidence()),
          await historyOf({ ...evidence(), columns }),
        ]
        const all = names(here.events)
        const byStart = [...here.events].map((event) => event.fromUs)
        expect(byStart).toEqual(byStart.toSorted((a, b) => a - b))
        expect(all).toHaveLength(drawn.length)
        expect(names(there.events)).toEqual(all)
        expect([...there.byAccount.values()].map(names)).toEqual(
          [...here.byAccount.values()].map(names),
        )
        const ofKeys = [...Map.groupBy(all, ({ key }) => key).values()]
        expect([...here.byKey.values()].map(names)).toEqual(ofKeys)
        expect([...there.byKey.values()].map(names)).toEqual(ofKeys)
      }),
      { numRuns: 6, seed: 3 },
    )
  })

  test('give the same verdicts in a thread of their own', async () => {
    const drawn = fc.sample(drawnRows, { numRuns: 1, seed: 7 })[0]!
    await enter(rowsOf(drawn))
    const here = await decideInOrder(selectRules(['RATE']), evidence())
    expect(await decideInWorker(['RATE'], { ...evidence(), columns })).toEqual(here)
  })
})
