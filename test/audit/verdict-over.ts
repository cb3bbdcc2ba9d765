import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../src/attempt/evidence.ts'
import { audit } from '../../src/audit/audit.ts'
import type { Finding, Verdict } from '../../src/audit/verdict.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts, Recorder } from '../../src/store/attempts/recorder.ts'
import { enterEndedRun } from '../report/attempts.ts'
import { inEmptyStore, type Store } from '../store/opened.ts'

export interface More {
  readonly templates?: readonly TemplateRow[]
  readonly bodies?: readonly BodyRow[]
  /** What the runs record about themselves at their end. */
  readonly ledger?: object
  readonly contract?: Contract
  /** The addresses of runs that are in the store and not audited. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

/** The verdict of one rule on these attempts, entered under the runs that they name. */
export async function verdictOver(
  rule: string,
  attempts: readonly AttemptRow[],
  more: More = {},
): Promise<Verdict> {
  return inEmptyStore((store) => verdictIn(store, rule, attempts, more))
}

/** What all rules of an account say of these attempts, which need no headers of a rate: those that fail, with what was observed. */
export async function failuresOver(
  attempts: readonly AttemptRow[],
  more: More = {},
): Promise<Readonly<Record<string, string>>> {
  return inEmptyStore(async (store) => {
    const findings = await findingsIn(store, ['AUTH-06', 'BILL', 'RATE', 'USE'], attempts, more)
    return Object.fromEntries(
      findings.flatMap(({ rule, verdict }) =>
        verdict.verdict === 'fail' && rule !== 'RATE-07' ? [[rule, verdict.observed]] : [],
      ),
    )
  })
}

/** The same in a store that has other runs, against a service of their own. */
export async function verdictIn(
  store: Store,
  rule: string,
  attempts: readonly AttemptRow[],
  more: More = {},
): Promise<Verdict> {
  return (await findingsIn(store, [rule], attempts, more))[0]!.verdict
}

async function findingsIn(
  store: Store,
  rules: readonly string[],
  attempts: readonly AttemptRow[],
  { templates = [], bodies = [], ledger = {}, contract = defaultContract, elsewhere = {} }: More,
): Promise<readonly Finding[]> {
  const runIds = [...new Set(attempts.map((row) => row.runId))]
  for (const runId of runIds) {
    await enterEndedRun(store, runId, { baseUrl: elsewhere[runId] ?? `http://${runIds[0]}` })
    await store.execute('UPDATE runs SET attempt_counts_json = $1 WHERE run_id = $2', [
      JSON.stringify(ledger),
      runId,
    ])
  }
  await appendAttempts(store, attempts)
  const recorder = await Recorder.open(store)
  recorder.append('templates', templates)
  recorder.appendBodies(bodies)
  recorder.flush()
  await recorder.close()
  const { findings } = await audit(store, {
    contract,
    runIds: runIds.filter((runId) => elsewhere[runId] === undefined),
    auditId: 'audit-1',
    auditedAt: new Date(0),
    rules,
  })
  return findings
}
