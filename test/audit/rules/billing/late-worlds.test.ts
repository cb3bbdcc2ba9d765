import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { readBalance } from '../../../../src/audit/evidence/billing/read-balance.ts'
import { bill11 } from '../../../../src/audit/rules/billing/concurrent-history.ts'
import { bill10 } from '../../../../src/audit/rules/billing/conservation.ts'
import { bill08 } from '../../../../src/audit/rules/billing/settlement.ts'
import type { Verdict } from '../../../../src/audit/verdict.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { historyOf } from '../../evidence/billing/made-history.ts'
import { inFlight, read } from '../../in-flight.ts'
import { historyRow } from './in-turn.ts'

/** Accounts under load whose charges come on time or late, right or wrong, with a final balance or without. */

interface World {
  /** Seconds after its response at which a request is charged; a function of its number where they differ. */
  readonly lateS?: number | ((nth: number) => number)
  /** What the nth request takes, of 40. */
  readonly takes?: (nth: number) => number
  /** Seconds after the last response at which the balance is read; null for no such read. */
  readonly finalS?: number | null
  /** Whether the balance is read between the waves. */
  readonly isReadBetween?: boolean
  /** Whether another request is in flight during the final read. */
  readonly isBusy?: boolean
  readonly account?: string
}

const [waves, width] = [8, 5]
const usual = (nth: number) => (nth === -1 ? 0 : 1)

/** Eight waves of five requests, three seconds apart: what each answer shows, and what is read between them. */
function rowsOf({
  lateS = 0,
  takes = usual,
  finalS = 30,
  isReadBetween = false,
  isBusy = false,
  account = 'main',
}: World): readonly AttemptRow[] {
  const ends = (nth: number) => 3 * Math.floor(nth / width) + 2 + (nth % width) * 0.1
  const charged = Array.from({ length: waves * width }, (_, nth) => ({
    atS: ends(nth) + (typeof lateS === 'number' ? lateS : lateS(nth)),
    taken: takes(nth),
  }))
  const leftAt = (s: number) =>
    charged.reduce((left, { atS, taken }) => (atS <= s + 1e-9 ? left - taken : left), 1000)
  const rows: AttemptRow[] = [read(0, 0, 1000)]
  for (let nth = 0; nth < waves * width; nth++) {
    if (nth > 0 && nth % width === 0 && isReadBetween) {
      const atS = ends(nth - 1) + 0.2
      rows.push(read(rows.length, atS, leftAt(atS)))
    }
    const fromS = 3 * Math.floor(nth / width) + 1 + (nth % width) * 0.05
    rows.push(inFlight(rows.length, fromS, ends(nth), leftAt(ends(nth))))
  }
  const overS = ends(waves * width - 1)
  if (isBusy)
    rows.push(inFlight(rows.length, overS + (finalS ?? 0) - 1, overS + (finalS ?? 0) + 1, null))
  if (finalS !== null) rows.push(read(rows.length, overS + finalS, leftAt(overS + finalS)))
  return rows.map((row) => ({ ...row, account }))
}

async function verdictsOf(...worlds: readonly World[]) {
  const readings = worlds.map((world, nth) => {
    const account = world.account ?? `account ${nth}`
    return readBalance(
      historyOf(rowsOf({ ...world, account }).map(historyRow), {
        ...{ runId: 'a', account, lifetimeUs: 600e6 },
      }),
    )
  })
  const nothing = async () => []
  const evidence = {
    store: { rows: nothing, doubles: nothing, doubleBatches: async () => {}, path: '' },
    ...{ runIds: ['a'], contract: defaultContract },
  }
  const of: Record<string, Verdict> = {}
  for (const rule of [bill08, bill10, bill11])
    of[rule.id] = await rule.decideBy(readings, evidence as never)
  return of
}

const failed = (of: Readonly<Record<string, Verdict>>) =>
  Object.entries(of).flatMap(([rule, { verdict }]) => (verdict === 'fail' ? [rule] : []))
const passed = (of: Readonly<Record<string, Verdict>>) =>
  Object.entries(of).flatMap(([rule, { verdict }]) => (verdict === 'pass' ? [rule] : []))
const double = (nth: number) => (nth === 29 ? 2 : 1)
const each10th = (nth: number) => (nth % 10 === 9 ? 2 : 1)
const lost = (nth: number) => (nth === 29 ? 0 : 1)
const reads: readonly (readonly [string, World])[] = [
  ['with a final balance', {}],
  ['without a final balance', { finalS: null }],
  ['with a final balance right after the last answer', { finalS: 0.1 }],
  ['with values between the waves and no final one', { finalS: null, isReadBetween: true }],
  ['with values between the waves and a final one', { isReadBetween: true }],
  ['with a final value beside another request', { isBusy: true, takes: (nth) => usual(nth) }],
]

test.each(reads)('charges on time, %s, are no fault', async (_, world) => {
  expect(failed(await verdictsOf(world))).toEqual([])
})

test.each(reads.slice(0, 5))(
  'a double charge on time, %s, fails by the sums or the history',
  async (_, world) => {
    for (const takes of [double, each10th]) {
      const of = await verdictsOf({ ...world, takes })
      expect(failed(of)).not.toContain('BILL-08')
      expect(failed(of).length).toBeGreaterThan(0)
    }
  },
)

test.each(reads)(
  'charges that are 4 s late, %s, are no pass, and accuse no sum',
  async (_, world) => {
    const of = await verdictsOf({ ...world, lateS: 4 })
    expect(passed(of)).not.toContain('BILL-08')
    // A value that was read before they settle lacks them; all others lacked some, too.
    const isSettled = world.finalS === undefined && world.isBusy !== true
    expect(failed(of)).toEqual(isSettled ? ['BILL-08'] : [])
  },
)

test.each([
  ['between one and five seconds', (nth: number) => 1 + ((nth * 7) % 11) / 2.75],
  ['up to five seconds', (nth: number) => ((nth * 7) % 11) / 2.2],
] as const)(
  'charges that are late by %s, with a last value before they have settled, accuse no sum',
  async (_, lateS) => {
    for (const finalS of [null, 0.1]) {
      const of = await verdictsOf({ lateS, finalS, isReadBetween: true })
      expect([finalS, failed(of), passed(of)]).toEqual([finalS, [], []])
    }
  },
)

test.each(reads.slice(0, 5))('a lost charge among charges on time, %s, fails', async (_, world) => {
  const of = await verdictsOf({ ...world, takes: lost })
  expect(failed(of).length).toBeGreaterThan(0)
  expect(failed(of)).not.toContain('BILL-08')
})

test('a charge that is missing for long after the others have settled fails', async () => {
  const of = await verdictsOf({ lateS: 4, takes: lost, isReadBetween: true, finalS: 60 })
  expect(failed(of)).toContain('BILL-10')
})

test('late charges with a final balance are told by their delay alone', async () => {
  for (const [world, says] of [
    [{ lateS: 4 }, /to 5 s/],
    [{ lateS: 1.5, isReadBetween: true }, /to [12] s/],
  ] as const) {
    const of = await verdictsOf(world)
    expect(failed(of)).toEqual(['BILL-08'])
    expect(of['BILL-08']).toMatchObject({ observed: expect.stringMatching(says) })
  }
})

test.each(reads.slice(0, 5))('a wrong charge among late ones, %s, is no pass', async (_, world) => {
  for (const takes of [double, each10th, lost]) {
    const of = await verdictsOf({ ...world, lateS: 4, takes })
    expect([takes.name, passed(of)]).toEqual([takes.name, []])
  }
})

test('a wrong charge among late ones fails where a final balance was read', async () => {
  for (const takes of [double, each10th, lost]) {
    const of = await verdictsOf({ lateS: 4, takes })
    expect([takes.name, failed(of)]).toEqual([takes.name, expect.arrayContaining(['BILL-10'])])
  }
})
