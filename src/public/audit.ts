/** `assay/audit`: the rules over a store. A function loads its code when it is first called. */
import type { AuditOptions, AuditReport } from '../audit/audit.ts'
import type { Store } from '../store/session/open.ts'

export type { AuditOptions, AuditReport } from '../audit/audit.ts'
export type { Evidence, Rule } from '../audit/rule.ts'
export type { AuditedRun } from '../audit/runs.ts'
export type { AccountShare } from '../audit/shares/account-share.ts'
export { type Finding, isBroken, type Verdict, type Witness } from '../audit/verdict.ts'

/**
 * Decides the rules over the rows of the audited runs, and stores the verdicts in `findings`.
 *
 * @throws UserError for an unknown run or rule; the reason of the signal, once aborted
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { findings } = await audit(store, { rules: ['BILL', 'RATE'] })
 * for (const { rule, title } of findings.filter(isBroken)) console.error(`${rule}: ${title}`)
 * store.close()
 */
export async function audit(store: Store, options: AuditOptions = {}): Promise<AuditReport> {
  return (await import('../audit/audit.ts')).audit(store, options)
}
