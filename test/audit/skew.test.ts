import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attemptColumns, columnNames, sqlName } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { judgeParts } from '../../src/run/crew/merge.ts'
import { run } from '../../src/run/run.ts'
import { startService } from '../../src/service/start.ts'
import { mergeParts } from '../../src/store/runs/merge.ts'
import { openStore, type Store } from '../../src/store/session/open.ts'
import { tries } from '../nightly/tries.ts'
import { chatScenario } from '../run/target.ts'

const of = 3
// The second phase leaves the account idle between requests, however slow the machine is in the first.
const scenario = chatScenario(
  `  - { name: steady, load: constant, rate: 45/s, duration: 3s }
  - { name: one at a time, load: constant, rate: 1/s, duration: 6s }`,
  'threads: 1',
)
const ofAccounts = ['BILL', 'RATE']

/** One run of three machines on one account, merged; their clocks are true. */
async function recorded(folder: string, faults: readonly string[]): Promise<Store> {
  const accounts = [{ name: 'shared', balance: 1_000_000 }]
  const service = await startService({ seed: 5, faults, accounts })
  const startAtUs = (Date.now() + 2000) * 1000
  const part = async (index: number) => {
    const dbPath = join(folder, `${index}.duckdb`)
    await run(scenario, {
      ...{ baseUrl: service.baseUrl, dbPath, shard: { index, of }, runId: 'shared', startAtUs },
      keys: { default: service.keys[0]!.apiKey },
    })
    return dbPath
  }
  const paths = await Promise.all(Array.from({ length: of }, (_, index) => part(index)))
  await service.close()
  const store = await openStore(join(folder, 'all.duckdb'))
  await mergeParts(store, { paths })
  return store
}

const times = columnNames.filter((name) => attemptColumns[name].kind === 'micros').map(sqlName)

/** Shifts the clock of a machine: narrow rows only by their first time, others by each. */
async function turn(store: Store, machine: number, us: number): Promise<void> {
  const asked = `IN (SELECT request_kind FROM request_kinds WHERE shard = ${machine})`
  const moved = (time: string) => `${time} = ${time} + ${us}`
  await store.execute(
    `UPDATE narrow_rows SET own = struct_update(own, intended_us := own.intended_us + ${us}) WHERE own.request_kind ${asked}`,
  )
  await store.execute(
    `UPDATE attempt_rows SET ${times.map(moved).join(', ')} WHERE request_kind ${asked}`,
  )
}

/** The verdicts of the account rules while the clocks are this many microseconds ahead. */
async function verdicts(store: Store, aheadUs: readonly number[], clockErrorUs: number | null) {
  await judgeParts(store, { runId: 'shared', clockErrorUs })
  for (const [machine, us] of aheadUs.entries()) await turn(store, machine, us)
  try {
    const { findings } = await audit(store, { contract: defaultContract, rules: ofAccounts })
    return new Map(findings.map(({ rule, verdict }) => [rule, verdict.verdict]))
  } finally {
    for (const [machine, us] of aheadUs.entries()) await turn(store, machine, -us)
  }
}

const rulesThat = (said: string, found: ReadonlyMap<string, string>) =>
  [...found].flatMap(([rule, verdict]) => (verdict === said ? [rule] : []))

/** A bound, and three clocks that differ by no more. */
const skews = fc
  .constantFrom(5_000, 100_000, 500_000)
  .chain((boundUs) =>
    fc.tuple(
      fc.constant(boundUs),
      fc.tuple(...Array.from({ length: of }, () => fc.integer({ min: 0, max: boundUs }))),
    ),
  )
const numRuns = tries(3, 40)
const atTheBound: [[number, number[]]][] = [[[500_000, [0, 500_000, 250_000]]]]

let folder: string
let clean: Store
let double: Store
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-skew-'))
  // Both mostly wait.
  ;[clean, double] = await Promise.all([
    recorded(mkdtempSync(join(folder, 'clean-')), []),
    recorded(mkdtempSync(join(folder, 'double-')), ['double-charge=0.1']),
  ])
}, 120_000)
afterAll(() => {
  clean?.close()
  double?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('clock differences within the stated error accuse no honest service', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(skews, async ([boundUs, aheadUs]) => {
      expect(rulesThat('fail', await verdicts(clean, aheadUs, boundUs))).toEqual([])
    }),
    { numRuns, examples: atTheBound },
  )
})

test('a service that charges twice fails for any clock differences within the stated error', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(skews, async ([boundUs, aheadUs]) => {
      expect(rulesThat('fail', await verdicts(double, aheadUs, boundUs))).toContain('BILL-11')
    }),
    { numRuns, examples: atTheBound },
  )
})

test('an unknown clock error makes rules inconclusive on an account that machines share', async () => {
  for (const store of [clean, double]) {
    const found = await verdicts(store, [0, 500_000, 0], null)
    expect([...rulesThat('fail', found), ...rulesThat('pass', found)]).toEqual([])
    expect(rulesThat('inconclusive', found)).toEqual(
      expect.arrayContaining(['BILL-01', 'BILL-09', 'BILL-10', 'BILL-11', 'RATE-01']),
    )
  }
}, 60_000)
