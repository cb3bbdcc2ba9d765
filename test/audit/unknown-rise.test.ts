import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { knownPolicy } from '../../src/audit/evidence/billing/abandoned/known-policy.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { DeploymentProfile } from '../../src/contract/profile.ts'
import { type HistoryRow, historyOf } from './evidence/billing/made-history.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Requests in turn, 777 credits that no price list has, and requests in turn. */
const toppedUp: readonly AttemptRow[] = [
  read(0, 0, 100),
  inFlight(1, 1, 2, 99),
  inFlight(2, 3, 4, 98),
  read(3, 5, 98),
  read(4, 6, 875),
  inFlight(5, 7, 8, 874),
  inFlight(6, 7.5, 8.5, 873),
  read(7, 9, 873),
]

test('a rise of 777 that no charge explains is one inconclusive finding', {
  tags: 'whole',
}, async () => {
  const of = async (rule: string) => (await verdictOver(rule, toppedUp)).verdict
  expect(await of('BILL-10')).toBe('pass')
  expect(await of('BILL-11')).toBe('pass')
  expect(await verdictOver('BILL-19', toppedUp)).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('rose by 777, which no charge, package or grant explains'),
  })
})

/** Requests that overlap, in the middle of which 777 credits come in; the client may have left the last one. */
const underLoad = (count: number, isLeft = false): readonly AttemptRow[] => [
  read(0, 0, 5_000),
  ...Array.from({ length: count }, (_, at) =>
    inFlight(1 + at, 1 + at, 3.5 + at, 4_999 - at + (at < count / 2 ? 0 : 777)),
  ),
  ...(isLeft
    ? [inFlight(count + 1, count + 1, count + 2, null, { outcome: 'aborted', streamed: 1 })]
    : []),
  read(count + 2, count + 1e5, 5_777 - count),
]

test('one explanation of credits that are added during the load holds for all rules', {
  tags: 'whole',
}, async () => {
  // Below and above the credits that came in, and beside a request whose cost is open.
  for (const rows of [underLoad(200), underLoad(900), underLoad(200, true)]) {
    const of = async (rule: string) => (await verdictOver(rule, rows)).verdict
    const isOpen = rows.some(({ outcome }) => outcome === 'aborted')
    expect([await of('BILL-10'), await of('BILL-11'), await of('BILL-19')]).toEqual(
      isOpen ? ['inconclusive', 'pass', 'not-observed'] : ['pass', 'pass', 'inconclusive'],
    )
  }
})

test('a contract without packages leaves a rise to the rule of the sums', {
  tags: 'whole',
}, async () => {
  const { packages: _, grants: __, ...contract } = defaultContract
  const of = async (rule: string) => (await verdictOver(rule, underLoad(200), { contract })).verdict
  expect([await of('BILL-10'), await of('BILL-11'), await of('BILL-19')]).toEqual([
    'inconclusive',
    'pass',
    'not-promised',
  ])
})

test('a rise does not excuse charges that are wrong beside it', { tags: 'whole' }, async () => {
  const wrong = toppedUp.with(-1, read(7, 9, 871))
  expect((await verdictOver('BILL-10', wrong)).verdict).toBe('fail')
})

const profileWith = (answers: object) =>
  ({ contract: defaultContract.name, answers }) as DeploymentProfile
const streams = (is: readonly string[]) => ({
  'G-14': {
    status: 'answered',
    evidence: [],
    is: Object.fromEntries(
      [
        ...['before headers', 'after headers', 'after the first event'],
        ...['after four events', 'before the end'],
      ].map((point, at) => [point, is[at]!]),
    ),
  },
})

test('what a probe found about aborted streams decides which were charged', () => {
  const aborted = (contentEvents: number, readUs: number): HistoryRow => ({
    ...{ slot: 0, callUs: 0, endUs: 5, effect: 'ambiguous' as const, costCredits: 1 },
    ...{ readUs, value: Number.NaN, streamed: true, contentEvents, abandonment: 'aborted' },
  })
  const whole = { ...aborted(9, 20), slot: 1, endUs: 90, effect: 'charge' as const }
  const read = { ...whole, slot: 2, readUs: 91, callUs: 90, endUs: 91, effect: 'read' as const }
  // Left before headers, which never come that soon; at headers; after two events and after five.
  const left = [aborted(0, Number.NaN), aborted(0, 4), aborted(2, 4), aborted(5, 4)]
  const history = historyOf([...left, whole, { ...read, streamed: false }])
  const charged = (is: readonly string[]) =>
    knownPolicy(profileWith(streams(is)))!(history).map((charges) => [0, 1, 2, 3].map(charges))
  expect(charged(['free', 'charged', 'charged', 'charged', 'charged'])).toEqual([
    [false, true, true, true],
  ])
  // At headers, the first event may have been under way: all of these were charged, or none.
  expect(charged(['free', 'free', 'charged', 'charged', 'charged'])).toEqual([
    [false, false, true, true],
    [false, true, true, true],
  ])
  // What lies between two answers follows from them.
  expect(charged(['free', 'charged', '?', '?', 'charged'])).toEqual([[false, true, true, true]])
  expect(charged(['?', 'free', '?', 'free', '?'])).toEqual([[false, false, false, false]])
  expect(knownPolicy(undefined)).toBeNull()
})
