import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { promiseNames } from '../contract/promises.ts'
import type { SessionScope } from '../store/session.ts'
import { UserError } from '../user/user-error.ts'
import type { AuditReport } from './audit.ts'
import { type Finding, observationsOf, type Verdict } from './verdict.ts'

/** The accounts that one process judges: share `index` of `of`, from 0, by a hash of the account's name. */
export interface AccountShare {
  readonly index: number
  readonly of: number
}

/** The attempts of these accounts. */
export function scopeOfShare(share: AccountShare | undefined): SessionScope {
  if (share === undefined) return {}
  return { only: `md5_number_lower(coalesce(account, key_fp, '')) % ${share.of} = ${share.index}` }
}

/** Rules that compare accounts with each other, which one share cannot decide. */
const acrossAccounts: readonly string[] = ['AUTH-06']

/** The finding of a rule over one share of the accounts. */
export function asOfShare(finding: Finding): Finding {
  if (!acrossAccounts.includes(finding.rule) || finding.verdict.verdict === 'fail') return finding
  return { ...finding, verdict: { verdict: 'not-observed', requires: 'an audit of all accounts' } }
}

const witness = z.object({
  runId: z.string(),
  slot: z.number(),
  retry: z.number(),
  shows: z.string(),
})
const observations = z.number()
const verdict = z.discriminatedUnion('verdict', [
  z.object({ verdict: z.literal('pass'), observations, note: z.string().exactOptional() }),
  z.object({
    verdict: z.literal('fail'),
    observations,
    expected: z.string(),
    observed: z.string(),
    witnesses: z.tuple([witness], witness),
    note: z.string().exactOptional(),
  }),
  z.object({
    verdict: z.literal('inconclusive'),
    observations,
    why: z.string(),
    witnesses: z.array(witness).exactOptional(),
  }),
  z.object({ verdict: z.literal('not-observed'), requires: z.string() }),
  z.object({
    verdict: z.literal('not-promised'),
    promises: z.tuple([z.enum(promiseNames)], z.enum(promiseNames)),
  }),
])
const reportShape = z.object({
  auditId: z.string(),
  auditedAt: z.coerce.date(),
  contract: z.string(),
  accounts: z.object({ index: z.number(), of: z.number() }),
  runs: z.array(
    z.object({
      runId: z.string(),
      scenario: z.string(),
      baseUrl: z.string(),
      attempts: z.number(),
    }),
  ),
  findings: z.array(
    z.object({
      rule: z.string(),
      severity: z.enum(['must', 'derived', 'advice']),
      title: z.string(),
      verdict,
    }),
  ),
})

/** The report of a process over its accounts. */
export type ShareReport = z.infer<typeof reportShape>

/** @throws UserError for text that is not a report of a share */
export function shareReportOf(text: string, path: string): ShareReport {
  try {
    return reportShape.parse(JSON.parse(text))
  } catch {
    throw refused(
      `${path} is no report of a share. Write one by assay audit --accounts 3/16 --json.`,
    )
  }
}

const refused = (why: string) => new UserError('usage', `audit merge: ${why}`)

/**
 * Merges the shares of all accounts into one audit. A rule fails if any share failed. Otherwise it is inconclusive if
 * any share is, and passes only if some share passed.
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
    if (sameAudit(report) !== sameAudit(first.report)) {
      throw refused(
        `${first.path} and ${path} are of other audits: runs, contract, rules and number of shares must be the same.`,
      )
    }
    const before = seen.get(report.accounts.index)
    if (before !== undefined) throw refused(`${before} and ${path} judge the same accounts.`)
    seen.set(report.accounts.index, path)
  }
  const missing = Array.from({ length: of }, (_, at) => at).filter((at) => !seen.has(at))
  if (missing.length > 0) {
    throw refused(
      `of ${of} shares, ${missing.length} are missing: ${missing.slice(0, 20).join(', ')}.`,
    )
  }
  const reports = shares.map(({ report }) => report)
  return {
    auditId: randomUUID(),
    auditedAt,
    contract: first.report.contract,
    runs: first.report.runs.map((run, at) => ({
      ...run,
      attempts: reports.reduce((sum, { runs }) => sum + runs[at]!.attempts, 0),
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
  const seen = verdicts.map(observationsOf)
  return { ...worst, observations: seen.reduce((sum, each) => sum + each, 0) }
}
