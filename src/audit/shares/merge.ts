import { randomUUID } from 'node:crypto'
import type { AuditReport } from '../audit.ts'
import { type Finding, observationsOf, type Verdict } from '../verdict.ts'
import { refused, type ShareReport } from './share-report.ts'

/**
 * Merges the shares of all accounts: fails if any failed, else is inconclusive if any is, and passes only if some passed.
 *
 * @throws UserError for shares of other audits, and for repeated or missing shares
 */
export function mergeShares(
  shares: readonly { readonly path: string; readonly report: ShareReport }[],
  auditedAt: Date,
): AuditReport {
  const first = shares[0]!
  const { of } = first.report.accounts
  const seen = new Map<number, string>()
  for (const { path, report } of shares) {
    if (sameAudit(report) !== sameAudit(first.report))
      throw refused(
        `${first.path} and ${path} are of other audits: runs, contract, rules and number of shares must be the same.`,
      )
    const before = seen.get(report.accounts.index)
    if (before !== undefined) throw refused(`${before} and ${path} judge the same accounts.`)
    seen.set(report.accounts.index, path)
  }
  const missing = Array.from({ length: of }, (_, at) => at).filter((at) => !seen.has(at))
  if (missing.length > 0)
    throw refused(
      `of ${of} shares, ${missing.length} are missing: ${missing.slice(0, 20).join(', ')}.`,
    )
  const reports = shares.map(({ report }) => report)
  return {
    auditId: randomUUID(),
    auditedAt,
    contract: first.report.contract,
    runs: first.report.runs.map((run, at) => ({
      ...run,
      attempts: reports.reduce((sum, { runs }) => sum + runs[at]!.attempts, 0),
      before: reports.reduce((sum, { runs }) => sum + runs[at]!.before, 0),
    })),
    findings: first.report.findings.map((finding, at) => ({
      ...finding,
      verdict: worstOf(reports.map(({ findings }) => findings[at]!.verdict)),
    })),
  }
}

const sameAudit = ({ contract, accounts, runs, findings }: ShareReport) =>
  JSON.stringify([
    ...[contract, accounts.of, runs.map(({ runId }) => runId)],
    findings.map(({ rule }: Finding) => rule),
  ])

const worstFirst: readonly Verdict['verdict'][] = [
  'fail',
  'inconclusive',
  'pass',
  'not-observed',
  'not-promised',
]

function worstOf(verdicts: readonly Verdict[]): Verdict {
  const worst = verdicts.toSorted(
    (a, b) => worstFirst.indexOf(a.verdict) - worstFirst.indexOf(b.verdict),
  )[0]!
  if (!('observations' in worst)) return worst
  const sum = verdicts.reduce((total, each) => total + observationsOf(each), 0)
  if (!('tables' in worst)) return { ...worst, observations: sum }
  // The figures of one share are not those of all accounts.
  const { tables: _, ...rest } = worst
  return { ...rest, observations: sum }
}
