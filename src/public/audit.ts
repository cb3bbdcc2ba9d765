/** `assay/audit`: the rules over a store. */
export { type AuditOptions, type AuditReport, audit, isBroken } from '../audit/audit.ts'
export type { Evidence, Rule } from '../audit/rule.ts'
export type { AuditedRun } from '../audit/runs.ts'
export type { AccountShare } from '../audit/shares.ts'
export type { Finding, Verdict, Witness } from '../audit/verdict.ts'
export type { DeploymentProfile } from '../contract/profile.ts'
