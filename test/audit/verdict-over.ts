import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../src/attempt/evidence.ts'
import { audit } from '../../src/audit/audit.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { openStore } from '../../src/store/open.ts'
import { appendAttempts, Recorder } from '../../src/store/recorder.ts'
import { enterEndedRun } from '../report/attempts.ts'

interface More {
  readonly templates?: readonly TemplateRow[]
  readonly bodies?: readonly BodyRow[]
  /** What the runs tell of themselves at their end. */
  readonly ledger?: object
}

/** What one rule says of these attempts, entered as the runs that they name. */
export async function verdictOver(
  rule: string,
  attempts: readonly AttemptRow[],
  { templates = [], bodies = [], ledger = {} }: More = {},
): Promise<Verdict> {
  const store = await openStore(':memory:')
  try {
    for (const runId of new Set(attempts.map((row) => row.runId))) await enterEndedRun(store, runId)
    await store.execute('UPDATE runs SET attempt_counts_json = $1', [JSON.stringify(ledger)])
    await appendAttempts(store, attempts)
    const recorder = await Recorder.open(store)
    recorder.appendTemplates(templates)
    recorder.appendBodies(bodies)
    recorder.flush()
    await recorder.close()
    const { findings } = await audit(store, {
      contract: defaultContract,
      auditId: 'audit-1',
      auditedAt: new Date(0),
      rules: [rule],
    })
    return findings[0]!.verdict
  } finally {
    store.close()
  }
}
