import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/open.ts'
import type { Evidence, Rule } from './rule.ts'
import { selectRules } from './rules/select.ts'
import { type AuditedRun, selectRuns } from './runs.ts'
import type { Finding, Verdict } from './verdict.ts'

export interface AuditOptions {
  readonly contract: Contract
  /** What `assay probe` wrote of the deployment. */
  readonly profile?: DeploymentProfile
  /** Empty or absent: every run against the base URL of the newest one. */
  readonly runIds?: readonly string[]
  /** Ids of rules, or families such as `BILL`; empty or absent for all. */
  readonly rules?: readonly string[]
  readonly auditId: string
  readonly auditedAt: Date
  /** Called with each finding as soon as it stands. */
  readonly onFinding?: (finding: Finding) => void
}

export interface AuditReport {
  readonly auditId: string
  readonly auditedAt: Date
  readonly contract: string
  readonly runs: readonly AuditedRun[]
  /** One for each rule that was asked, in the order of the rulebook. */
  readonly findings: readonly Finding[]
}

/**
 * Decides the rules over the rows of the audited runs and keeps what they said in `findings`.
 *
 * @throws UsageError for a run or a rule that there is not
 */
export async function audit(store: Store, options: AuditOptions): Promise<AuditReport> {
  const rules = selectRules(options.rules ?? [])
  const runs = await selectRuns(store, options.runIds ?? [])
  const evidence: Evidence = {
    store,
    runIds: runs.map((run) => run.runId),
    contract: options.contract,
    ...(options.profile === undefined ? {} : { profile: options.profile }),
  }
  // The database works on its own threads: what is loaded early is ready while others decide. A load
  // that fails is told by the first rule that needs it.
  const preparations = new Set(rules.flatMap(({ prepare }) => prepare ?? []))
  for (const prepare of preparations) prepare(evidence).catch(() => {})
  const findings: Finding[] = []
  for (const rule of rules) {
    const finding = await decide(rule, evidence)
    findings.push(finding)
    options.onFinding?.(finding)
  }
  const report: AuditReport = {
    auditId: options.auditId,
    auditedAt: options.auditedAt,
    contract: options.contract.name,
    runs,
    findings,
  }
  await keep(store, report)
  return report
}

/** Whether a promise was broken: a convention that is not followed breaks none. */
export function isBroken({ verdict, severity }: Finding): boolean {
  return verdict.verdict === 'fail' && severity !== 'advice'
}

async function decide(rule: Rule, evidence: Evidence): Promise<Finding> {
  const verdict = await rule.decide(evidence).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`rule ${rule.id} could not be decided: ${why}`, { cause: error })
  })
  return {
    rule: rule.id,
    severity: rule.severity,
    says: rule.says,
    verdict: neverDecidedByNothing(verdict),
  }
}

/** The last guard of the promise that a rule which nothing decided never prints `pass`. */
function neverDecidedByNothing(verdict: Verdict): Verdict {
  return verdict.verdict === 'pass' && verdict.observations === 0
    ? { verdict: 'not-observed', takes: 'a request that it speaks of' }
    : verdict
}

async function keep(store: Store, { auditId, auditedAt, runs, findings }: AuditReport) {
  const runIds = JSON.stringify(runs.map((run) => run.runId))
  const auditedUs = BigInt(auditedAt.getTime()) * 1000n
  for (const { rule, severity, says, verdict } of findings) {
    await store.execute(
      `INSERT INTO findings
       VALUES ($1, make_timestamp($2::BIGINT), from_json($3, '["VARCHAR"]'), $4, $5, $6, $7, $8, $9)`,
      [
        auditId,
        auditedUs,
        runIds,
        rule,
        severity,
        verdict.verdict,
        verdict.verdict === 'not-observed' ? 0 : verdict.observations,
        says,
        JSON.stringify(verdict),
      ],
    )
  }
}
