import { expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { jsonText } from '../../src/audit/format/machine.ts'
import { mergeShares } from '../../src/audit/shares/merge.ts'
import { type ShareReport, shareReportOf } from '../../src/audit/shares/share-report.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { enterEndedRun } from '../report/attempts.ts'
import { openStore, type Store } from '../store/opened.ts'
import { inFlight, read } from './in-flight.ts'

const of = 3
const rules = ['BILL', 'RATE', 'AUTH', 'CHAT', 'ERR']

/** Seven accounts that are charged correctly, and one that is charged twice. */
async function storeOf(cheated: number | null): Promise<Store> {
  const store = await openStore(':memory:')
  await enterEndedRun(store, 'a')
  const rows = Array.from({ length: 8 }, (_, nth) => {
    const own = { account: `account-${nth}`, keyFp: `key${nth}` }
    const cost = nth === cheated ? 2 : 1
    return Array.from({ length: 6 }, (_, at) => [
      read(nth * 100 + 2 * at, 3 * at, 100 - at * cost, own),
      inFlight(nth * 100 + 2 * at + 1, 3 * at + 1, 3 * at + 2, 100 - (at + 1) * cost, own),
    ]).flat()
  }).flat()
  await appendAttempts(store, rows)
  return store
}

async function judged(store: Store, index?: number) {
  const accounts = index === undefined ? {} : { accounts: { index, of } }
  return audit(store, { contract: defaultContract, rules, ...accounts })
}

async function sharesOf(store: Store) {
  const shares: { path: string; report: ShareReport }[] = []
  for (let index = 0; index < of; index++) {
    const path = `${index}.json`
    const text = jsonText(await judged(store, index), new Map())
    shares.push({ path, report: shareReportOf(text, path) })
  }
  return shares
}

const verdictsOf = (report: { findings: readonly { rule: string; verdict: Verdict }[] }) =>
  Object.fromEntries(report.findings.map(({ rule, verdict }) => [rule, verdict.verdict]))

test.each([[null], [0], [5]])(
  'merged shares of the accounts reach the billing verdicts of the whole (cheated account: %s)',
  { tags: 'whole' },
  async (cheated) => {
    const store = await storeOf(cheated)
    try {
      const shares = await sharesOf(store)
      const attempts = shares.map(({ report }) => report.runs[0]!.attempts)
      expect(attempts.reduce((sum, each) => sum + each, 0)).toBe(96)
      expect(Math.max(...attempts)).toBeLessThan(96)
      expect(await store.rows('SELECT 1 FROM findings')).toEqual([])
      const merged = mergeShares(shares, new Date(0))
      expect(merged.runs[0]!.attempts).toBe(96)
      const whole = verdictsOf(await judged(store))
      // It compares accounts, which may be in different shares.
      expect(verdictsOf(merged)).toEqual({ ...whole, 'AUTH-06': 'not-observed' })
      expect(verdictsOf(merged)['BILL-01']).toBe(cheated === null ? 'pass' : 'fail')
    } finally {
      store.close()
    }
  },
)

const share = (index: number, verdict: Verdict): { path: string; report: ShareReport } => ({
  path: `${index}.json`,
  report: {
    auditId: 'x',
    auditedAt: new Date(0),
    contract: 'svc',
    accounts: { index, of: 2 },
    runs: [],
    findings: [
      { rule: 'BILL-01', severity: 'must', title: 'It costs 1.', verdict: verdict as never },
    ],
  },
})
const said: Record<Verdict['verdict'], Verdict> = {
  pass: { verdict: 'pass', observations: 2 },
  fail: {
    ...{ verdict: 'fail', observations: 3, expected: '1', observed: '2' },
    witnesses: [{ runId: 'a', slot: 1, retry: 0, shows: 'it' }],
  },
  inconclusive: { verdict: 'inconclusive', observations: 5, why: 'nobody knows' },
  'not-observed': { verdict: 'not-observed', requires: 'requests' },
  'not-promised': { verdict: 'not-promised', promises: ['bands'] },
}

test.each([
  ['fail', 'pass', 'fail', 5],
  ['inconclusive', 'fail', 'fail', 8],
  ['inconclusive', 'pass', 'inconclusive', 7],
  ['pass', 'not-observed', 'pass', 2],
  ['not-observed', 'not-observed', 'not-observed', undefined],
  ['not-promised', 'not-promised', 'not-promised', undefined],
] as const)('shares with %s and %s merge to %s', (a, b, both, observations) => {
  const merge = (parts: readonly Verdict[]) =>
    mergeShares(
      parts.map((verdict, index) => share(index, verdict)),
      new Date(0),
    ).findings[0]!.verdict
  expect(merge([said[a], said[b]])).toMatchObject({
    ...said[both],
    ...(observations && { observations }),
  })
  expect(merge([said[b], said[a]]).verdict).toBe(both)
})

test('shares that are missing, duplicated, of other audits or not reports are refused', () => {
  const [zero, one] = [share(0, said.pass), share(1, said.pass)]
  const merge = (...shares: ReturnType<typeof share>[]) => mergeShares(shares, new Date(0))
  expect(() => merge(zero)).toThrow('of 2 shares, 1 are missing: 1.')
  expect(() => merge(zero, { ...zero, path: 'again.json' })).toThrow(
    '0.json and again.json judge the same accounts.',
  )
  const other = { ...one, report: { ...one.report, contract: 'another' } }
  expect(() => merge(zero, other)).toThrow('0.json and 1.json are of other audits')
  expect(() => shareReportOf('{"findings": []}', 'x.json')).toThrow(
    'x.json is no report of a share',
  )
})
