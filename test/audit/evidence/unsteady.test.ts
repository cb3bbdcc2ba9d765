import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { Stretch } from '../../../src/audit/evidence/billing/conservation.ts'
import { lags, rises, unsteadyOf } from '../../../src/audit/evidence/unsteady.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { appendAttempts, Recorder } from '../../../src/store/attempts/recorder.ts'
import { enterEndedRun } from '../../report/attempts.ts'
import { inEmptyStore } from '../../store/opened.ts'
import { inFlight, read } from '../in-flight.ts'
import { verdictOver } from '../verdict-over.ts'
import { historyOf } from './billing/made-history.ts'

const refused = { outcome: 'http_error', status: 400 } as const

/** Two workers in turn, each of which subtracts only its own charges from the 100 credits. */
const byWorkers: readonly AttemptRow[] = [
  read(0, 0, 100),
  inFlight(1, 1, 2, 99),
  read(2, 3, 100),
  inFlight(3, 4, 5, null, refused),
  read(4, 6, 99),
  read(5, 7, 100),
  inFlight(6, 8, 9, null, refused),
  read(7, 10, 99),
  read(8, 11, 100),
  read(9, 12, 100),
  read(10, 13, 100),
]

test('balances kept by each worker accuse no refused request of a charge', {
  tags: 'whole',
}, async () => {
  const failures = await verdictOver('BILL-05', byWorkers)
  expect(failures).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(
      'account main shows values that are not those of one balance: it rose 3 times, and nothing came in (BILL-11)',
    ),
  })
  expect((await verdictOver('BILL-11', byWorkers)).verdict).not.toBe('pass')
})

test('a charge for refused requests still fails where the balance only falls', async () => {
  const rows = [
    read(0, 0, 100),
    inFlight(1, 1, 2, 99, refused),
    read(2, 3, 99),
    inFlight(3, 4, 5, 98, refused),
    read(4, 6, 98),
  ]
  expect(await verdictOver('BILL-05', rows)).toMatchObject({ verdict: 'fail' })
})

/** A stretch of an account between idle values, from one row of `reading` to the next. */
type Part = Partial<Stretch> & Pick<Stretch, 'excess'>

/** A reading with these stretches, and a whole of `excess`; row `n` has slot `10 n`. */
function reading(parts: readonly Part[], excess: number | null = 0, giftCredits?: number) {
  const rest = { ambiguous: 0, sure: 0, charges: 0, between: { least: 0, most: 0 } }
  const stretches = parts.map((part, at) => ({
    ...{ from: at, to: at + 1, taken: part.excess, ...rest, ...part },
  }))
  const whole = excess === null ? null : { from: 0, to: parts.length, taken: 0, ...rest, excess }
  const rows = Array.from({ length: parts.length + 1 }, (_, at) => ({
    ...({ slot: 10 * at, callUs: at, endUs: at, effect: 'read', costCredits: 0 } as const),
  }))
  return {
    history: historyOf(rows),
    conservation: { idle: new Int32Array(), balance: new Float64Array(), stretches, whole },
    gifts: giftCredits === undefined ? [] : [{ afterUs: 0, byUs: 1, credits: giftCredits, row: 0 }],
  } as unknown as Parameters<typeof lags>[0]
}
const by = (...excesses: readonly number[]) => excesses.map((excess) => ({ excess }))

test('an account that rises twice, and nothing came in, has several balances', () => {
  expect(rises(reading(by(-1, 0, 1, -2)))).toEqual([
    {
      runId: 'run',
      why: 'account main shows values that are not those of one balance: it rose 2 times, and nothing came in (BILL-11)',
      witnesses: [
        { runId: 'run', slot: 10, retry: 0, shows: 'rose by 1 credit' },
        { runId: 'run', slot: 40, retry: 0, shows: 'rose by 2 credits' },
      ],
    },
  ])
  expect(rises(reading(by(-1, -1, -1, -1)))[0]!.witnesses.map(({ slot }) => slot)).toEqual([
    10, 20, 30,
  ])
})

test.each([
  ['one rise', reading(by(-1, 1))],
  ['a purchase', reading(by(-1, -1), 0, 5)],
  ['what abandoned requests return', reading([{ excess: -1 }, { excess: -1, ambiguous: 1 }])],
  ['what was held before', reading([{ excess: -1 }, { excess: 0, taken: -1 }])],
  ['a charge that is missing', reading([{ excess: -1 }, { excess: -1, taken: 0 }])],
  [
    'a small charge that is missing',
    reading([{ excess: -1 }, { excess: -1, taken: 1, ambiguous: 0 }]),
  ],
])('%s is no second rise of an account', (_, account) => {
  expect(rises(account)).toEqual([])
})

test('values that miss charges which later values have are behind', () => {
  expect(lags(reading(by(-1, 0, -1, 2)))).toEqual([
    {
      runId: 'run',
      why: 'account main shows values that are behind its charges: 2 miss some that later values have (BILL-08, BILL-11)',
      witnesses: [{ runId: 'run', slot: 40, retry: 0, shows: 'has 2 credits of before' }],
    },
  ])
  // The first value may miss charges of before.
  expect(lags(reading(by(1, -1, -1, 1, 0)))).toHaveLength(1)
  const often = lags(reading(by(-9, 1, -9, 2, 3, 4), -1))
  expect(often[0]!.witnesses.map(({ slot }) => slot)).toEqual([20, 40, 50])
})

test('the last value may be as far behind as one before it was', () => {
  expect(lags(reading(by(-1, -2, 2, -1), -2))).toHaveLength(1)
  expect(lags(reading(by(-1, -2, 2, -1), -3))).toEqual([])
})

test.each([
  ['one late value', reading(by(-1, 0, 1))],
  ['two values that no later one makes up for', reading(by(-1, -1, 0))],
  ['a purchase', reading(by(-1, -1, 2), 0, 5)],
  ['a whole that nobody knows', reading(by(-1, -1, 2), null)],
  ['more taken in the whole', reading(by(-1, -1, 2), 1)],
  ['more taken than was due by then', reading(by(-1, 2, -1))],
  ['more taken after a late first value', reading(by(-1, 2, -1, 0))],
  ['more taken after a right first value', reading(by(0, 1, -1, -1, 1))],
  ['the first of two charges twice', reading(by(0, 1, -1, -1))],
])('%s is no lag', (_, account) => {
  expect(lags(account)).toEqual([])
})

test('answers of the credits endpoint whose body and header differ while nothing is in flight show no balance', async () => {
  const remainsIn = (remaining: number | null, header: number | null) => ({
    headers: header === null ? '' : `x-credits-remaining: ${header}`,
    body: JSON.stringify({ remaining }),
  })
  const told: Readonly<Record<number, ReturnType<typeof remainsIn>>> = {
    0: remainsIn(100, 100),
    2: remainsIn(98, 100),
    5: remainsIn(97, 100),
    8: remainsIn(null, 100),
    9: remainsIn(96, null),
    10: remainsIn(95, 100),
    11: remainsIn(94, 100),
    // Not idle, and of a part of the account.
    12: remainsIn(93, 100),
    13: remainsIn(92, 100),
  }
  const rows = [
    ...byWorkers.map((row) => (row.endpoint === 'credits' ? { ...row, template: 2 } : row)),
    read(11, 14, 100, { template: 2 }),
    read(12, 15, 100, { template: 2 }),
    inFlight(14, 15, 16, null, refused),
    read(13, 17, 100, { template: 3 }),
  ]
  const unsteady = await inEmptyStore(async (store) => {
    await enterEndedRun(store, 'a', { baseUrl: 'http://a' })
    await store.execute(`UPDATE runs SET attempt_counts_json = '{}'`)
    await appendAttempts(store, rows)
    const recorder = await Recorder.open(store)
    const credits = { runId: 'a', step: 's', method: 'GET', headers: '{}', body: null }
    const empty = { maxTokens: null, n: null, promptHash: null }
    recorder.append('templates', [
      { ...credits, template: 2, path: '/user/credits', ...empty },
      { ...credits, template: 3, path: '/user/credits?model=m', ...empty },
    ])
    recorder.appendBodies(
      Object.entries(told).map(([slot, answer]) => ({
        ...{ runId: 'a', slot: Number(slot), retry: 0, truncated: false, ...answer },
      })),
    )
    recorder.flush()
    await recorder.close()
    return unsteadyOf({ store, runIds: ['a'], contract: defaultContract })
  })
  expect(unsteady.map(({ why }) => why)).toEqual([
    expect.stringContaining('it rose 3 times'),
    expect.stringContaining('values that are behind its charges: 3 miss some'),
    'in 4 answers of the credits endpoint the body and the header differ, so one of them is no balance (BILL-12)',
  ])
  expect(unsteady[2]!.witnesses).toMatchObject([
    { slot: 2, shows: 'remaining 98, and 100 in its header' },
    { slot: 5, shows: 'remaining 97, and 100 in its header' },
    { slot: 10, shows: 'remaining 95, and 100 in its header' },
  ])
})
