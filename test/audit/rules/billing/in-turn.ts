import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import type { BillingRule } from '../../../../src/audit/evidence/balances.ts'
import { giftsOf, sumsOf } from '../../../../src/audit/evidence/billing/gifts.ts'
import { readBalance } from '../../../../src/audit/evidence/billing/read-balance.ts'
import type { FullContract } from '../../../../src/contract/contract.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { openStore, type Store } from '../../../store/opened.ts'
import { type HistoryRow, historyOf } from '../../evidence/billing/made-history.ts'
import { inFlight, read } from '../../in-flight.ts'
import { type More, verdictIn } from '../../verdict-over.ts'

/** A balance that is read, or a request without a balance by default. */
export type Step = number | Partial<AttemptRow>

/** Steps in sequence, ten seconds apart; the slot of each is its position. */
export function inTurn(...steps: readonly Step[]): readonly AttemptRow[] {
  return steps.map((step, at) =>
    typeof step === 'number'
      ? read(at, 10 * at, step)
      : inFlight(at, 10 * at, 10 * at + 1, null, step),
  )
}

export const failed = (status: number, more: Partial<AttemptRow> = {}): Partial<AttemptRow> => ({
  outcome: 'http_error',
  status,
  ...more,
})
export const refused = failed(403, { errorShape: 'chat', errorCode: 'insufficient_credits' })
export const aborted = { outcome: 'aborted', reason: 'first-event', streamed: 1 } as const
export const dear = { model: 'svc-k2.5' } as const
/** A request that shows this balance. */
export const shows = (
  creditsRemaining: number,
  more: Partial<AttemptRow> = {},
): Partial<AttemptRow> => ({ creditsRemaining, ...more })

/** A rule, a history, and the verdict that the rule must reach. */
type Case = readonly [
  name: string,
  rule: BillingRule,
  rows: readonly AttemptRow[],
  verdict: object,
  contract?: FullContract,
]

/** A test for each history of one run whose reads are free. */
export function testCases(cases: readonly Case[]): void {
  test.each(cases.map(([name, rule, ...rest]) => [rule.id, name, rule, ...rest] as const))(
    '%s: %s',
    async (_id, _name, rule, rows, verdict, contract = defaultContract) => {
      const gifts = sumsOf(giftsOf(contract))
      const readings = [...Map.groupBy(rows, (row) => row.account ?? '')].map(([account, own]) =>
        readBalance(
          historyOf(own.map(historyRow), { runId: 'a', account, lifetimeUs: 600e6 }),
          gifts,
        ),
      )
      const nothing = async () => []
      expect(
        await rule.decideBy(readings, {
          store: { rows: nothing, doubles: nothing, doubleBatches: async () => {}, path: '' },
          runIds: ['a'],
          contract,
        }),
      ).toMatchObject(verdict)
    },
  )
}

/** A row as a history has it. */
export function historyRow(row: AttemptRow): HistoryRow {
  const isRead = row.endpoint === 'credits'
  const isOpen = row.outcome !== 'ok' && row.outcome !== 'http_error'
  const model = defaultContract.models.findIndex(({ id }) => id === row.model)
  return {
    slot: row.slot,
    callUs: row.sentUs!,
    readUs: row.headersUs!,
    endUs: row.closedUs!,
    effect: isRead ? 'read' : isOpen ? 'ambiguous' : row.outcome === 'ok' ? 'charge' : 'failure',
    costCredits: isRead ? 0 : defaultContract.models[model]!.costCredits,
    ...(row.creditsRemaining === null ? {} : { value: row.creditsRemaining }),
    streamed: row.streamed === 1,
    model,
    key: Number(row.keyFp!.at(-1)),
    status: row.status!,
    insufficient: row.errorCode === 'insufficient_credits',
    abandonment: row.outcome === 'aborted' ? 'aborted' : 'no',
    isComplete: row.outcome === 'ok',
  }
}

type StoredCase = readonly [name: string, rows: readonly AttemptRow[], verdict: object, more?: More]

/** A test for each history of a rule that also examines requests and answers: runs of one store. */
export function testStored(rule: string, cases: readonly StoredCase[]): void {
  let store: Store
  beforeAll(async () => {
    store = await openStore(':memory:')
  })
  afterAll(() => {
    store.close()
  })
  test.each(cases.map(([name, ...rest], nth) => [name, `${rule}-${nth}`, ...rest] as const))(
    `${rule}: %s`,
    async (_name, runId, rows, verdict, more = {}) => {
      const own = <Row extends { readonly runId: string }>(row: Row): Row => ({ ...row, runId })
      const { templates = [], bodies = [], ...others } = more
      expect(
        await verdictIn(store, rule, rows.map(own), {
          ...others,
          templates: templates.map(own),
          bodies: bodies.map(own),
        }),
      ).toMatchObject(verdict)
    },
  )
}
