import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Credits that are added or expire during a run, in sizes of the contract, cause no failure. */
async function verdictOf(rule: string, rows: readonly AttemptRow[]): Promise<Verdict['verdict']> {
  return (await verdictOver(rule, rows)).verdict
}

const insufficient = {
  outcome: 'http_error',
  status: 403,
  errorShape: 'chat',
  errorCode: 'insufficient_credits',
  errorType: 'insufficient_quota',
} as const
/** Successes that show no balance, ten of them in flight together. */
const load = (slots: number) =>
  Array.from({ length: slots }, (_, at) => inFlight(10 + at, 1 + at / 100, 1.1 + at / 100, null))

test('BILL-13: a package bought after the refusal pays for the next request', async () => {
  const rows = [inFlight(0, 0, 1, 0, insufficient), inFlight(1, 2, 3, 499)]
  expect(await verdictOf('BILL-13', rows)).toBe('not-observed')
})

test('BILL-14: credits that expired after they were read cover nothing', async () => {
  const rows = [read(0, 0, 500), inFlight(1, 1, 2, 0, insufficient)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-15: successes beyond the balance, to which something was added, show nothing', {
  tags: 'whole',
}, async () => {
  const refusals = [inFlight(1000, 50, 51, null, insufficient)]
  const rows = [read(0, 0, 100), ...load(600), ...refusals, read(1001, 60, 0)]
  expect(await verdictOf('BILL-15', rows)).toBe('not-observed')
})

test('BILL-15: spending more than the balance without a purchase fails', async () => {
  const rows = [read(0, 0, 100), ...load(107), read(1001, 60, 0)]
  expect(await verdictOf('BILL-15', rows)).toBe('fail')
})

test('BILL-12: a body that is read after credits expired does not contradict a header', async () => {
  const rows = [read(0, 0, 600), inFlight(1, 1, 2, 599), read(2, 3, null, { template: 2 })]
  const template = {
    ...{ runId: 'a', template: 2, step: 's', method: 'GET', path: '/user/credits' },
    ...{ headers: '{}', body: null, maxTokens: null, n: null, promptHash: null },
  }
  const body = JSON.stringify({ remaining: 99 })
  const answer = { runId: 'a', slot: 2, retry: 0, headers: '', body, truncated: false }
  const told = await verdictOver('BILL-12', rows, { templates: [template], bodies: [answer] })
  expect(told.verdict).toBe('not-observed')
})

test('BILL-01: a package that expired next to one success is not its price', async () => {
  const rows = [read(0, 0, 600), inFlight(1, 1, 2, null), read(2, 3, 99)]
  expect(await verdictOf('BILL-01', rows)).toBe('inconclusive')
})

test('BILL-01: a grant that equals the cost of the successes does not make them free', async () => {
  const rows = [read(0, 0, 100), ...load(50), read(1001, 60, 100)]
  expect(await verdictOf('BILL-01', rows)).toBe('inconclusive')
})

test('BILL-01: packages do not explain a high price of each of four successes', async () => {
  const dear = [0, 1, 2, 3].flatMap((at) => [
    inFlight(1 + 2 * at, 1 + 2 * at, 1.5 + 2 * at, null),
    read(2 + 2 * at, 2 + 2 * at, 540 - 60 * at),
  ])
  expect(await verdictOf('BILL-01', [read(0, 0, 600), ...dear])).toBe('fail')
})

test('BILL-10: a rise by two packages between two idle values is inconclusive', async () => {
  expect(await verdictOf('BILL-10', [read(0, 0, 100), read(1, 1, 1100)])).toBe('inconclusive')
})

test('BILL-11: two packages between two values are not a rise against the clock', async () => {
  const before = [read(0, 0, 100), inFlight(1, 1, 3, 99), inFlight(2, 1.5, 3.5, 98)]
  const after = [inFlight(3, 4, 6, 1097), inFlight(4, 4.5, 6.5, 1096), read(5, 7, 1096)]
  const rows = [...before, ...after]
  expect(await verdictOf('BILL-11', rows)).toBe('pass')
})
