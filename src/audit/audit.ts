import { randomUUID } from 'node:crypto'
import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import { ColumnFile } from '../store/read/column-file.ts'
import type { Store } from '../store/session/open.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { beginPart, type Work } from '../user/work.ts'
import { decideInOrder, findingOf, undecided } from './decide.ts'
import { readPriceLog } from './evidence/prices/log.ts'
import { withServiceSide } from './evidence/service-side.ts'
import { unlessSpoilt } from './evidence/spoilt.ts'
import { contractOfService } from './known-service.ts'
import { decideInWorker } from './rate-worker.ts'
import type { Evidence, Rule } from './rule.ts'
import { chooseRules, isOfRulebook } from './rules/select.ts'
import { type AuditedRun, killedRuns, missingParts, selectRuns } from './runs.ts'
import { type AccountShare, asOfShare, scopeOfShare } from './shares/account-share.ts'
import { type Finding, observationsOf } from './verdict.ts'

export interface AuditOptions extends Work {
  /** Absent: that of svc if the service is known as svc, else only the formats. */
  readonly contract?: Contract
  /** The profile from `assay probe`. */
  readonly profile?: DeploymentProfile
  /** The service's own log of the requests, with its name for errors. */
  readonly log?: {
    readonly text: string
    readonly file: string
    /** Whether it was read by the ids of answers: of those without one, it has no row. */
    readonly isById?: boolean
  }
  /** Choices of the factors of prices: `{ group: 'vip' }`. */
  readonly choices?: Readonly<Record<string, string>>
  /** Empty or absent: every run against the base URL of the newest run. */
  readonly runIds?: readonly string[]
  /** Ids of rules, families such as `BILL`, or rules of your own. Empty or absent: all of the rulebook. */
  readonly rules?: readonly (string | Rule)[]
  /** Judges only these accounts, and keeps no findings. Absent: all accounts. */
  readonly accounts?: AccountShare
  /** Of more attempts, evidence is kept on disk beside the store, one account in memory at a time. 1.5 million if absent. */
  readonly attemptsInMemory?: number
  /** Whether the findings are stored, for the pages. True if absent. */
  readonly keeps?: boolean
  /** A new one if absent. */
  readonly auditId?: string
  /** Now if absent. */
  readonly auditedAt?: Date
  /** Called with each finding once it is decided. */
  readonly onFinding?: (finding: Finding) => void
}

export interface AuditedLog {
  readonly file: string
  readonly rows: number
  /** Times of its first and last row; null if no row has one. */
  readonly first: Date | null
  readonly last: Date | null
}

export interface AuditReport {
  readonly auditId: string
  readonly auditedAt: Date
  readonly contract: string
  /** If it judged only a share of the accounts. */
  readonly accounts?: AccountShare
  readonly runs: readonly AuditedRun[]
  /** Of a log that is judged by itself: then there are no runs. */
  readonly log?: AuditedLog
  /** One for each selected rule, in the order of the rulebook. */
  readonly findings: readonly Finding[]
}

/**
 * Decides the rules over the rows of the audited runs, and stores the verdicts in `findings`.
 *
 * @throws UserError for an unknown run or rule; the reason of the signal, once aborted
 */
export function audit(store: Store, options: AuditOptions): Promise<AuditReport> {
  return inSession(
    store,
    options,
    (session) => decideAndKeep(session, options),
    scopeOfShare(options.accounts),
  )
}

async function decideAndKeep(session: Session, options: AuditOptions): Promise<AuditReport> {
  const rules = chooseRules(options.rules ?? [])
  const runs = await selectRuns(session, options.runIds ?? [], options.contract)
  const attempts = runs.reduce((sum, run) => sum + run.attempts, 0)
  if (attempts <= (options.attemptsInMemory ?? usualInMemory))
    return decideRuns(session, rules, runs, options)
  const columns = new ColumnFile(session.path)
  try {
    return await decideRuns(session, rules, runs, options, { columns })
  } finally {
    columns.close()
  }
}

async function decideRuns(
  session: Session,
  rules: readonly Rule[],
  runs: readonly AuditedRun[],
  options: AuditOptions,
  disk: Pick<Evidence, 'columns'> = {},
): Promise<AuditReport> {
  if (rules.length >= manyRules) await session.takeAttemptsAtHand()
  const runIds = runs.map((run) => run.runId)
  const contract = options.contract ?? (await contractOfService(session, runIds, options.profile))
  const evidence: Evidence = {
    store: session,
    ...disk,
    runIds,
    killedRunIds: await killedRuns(session, runIds),
    missingParts: await missingParts(session, runIds),
    contract,
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.log === undefined
      ? {}
      : {
          priceLog: logOf(options.log, contract),
          isLogById: options.log.isById === true,
        }),
    ...(options.choices === undefined ? {} : { priceChoices: options.choices }),
  }
  const decided = await decideAll(rules, evidence, runs, options)
  const findings = await withServiceSide(session, decided)
  const report: AuditReport = {
    auditId: options.auditId ?? randomUUID(),
    auditedAt: options.auditedAt ?? new Date(),
    contract: contract.name,
    ...(options.accounts === undefined ? {} : { accounts: options.accounts }),
    runs,
    findings: options.accounts === undefined ? findings : findings.map(asOfShare),
  }
  if (options.accounts === undefined && options.keeps !== false) await keepFindings(session, report)
  return report
}

const logOf = ({ text, file }: NonNullable<AuditOptions['log']>, { prices }: Contract) =>
  readPriceLog(text, file, prices?.evidence.log ?? null, prices ?? null)

/** So many rules save more by a copy of the attempts than the copy takes. */
const manyRules = 8

/** They take about a kilobyte each. */
const usualInMemory = 1_500_000

/** From this many attempts on, a second thread is worth its start. */
const manyAttempts = 100_000

/** The rate-limit rules take as long as all others together: over many attempts they run in a thread of their own. */
async function decideAll(
  rules: readonly Rule[],
  evidence: Evidence,
  runs: readonly AuditedRun[],
  options: AuditOptions,
): Promise<readonly Finding[]> {
  const isOfLimits = (rule: Rule) => rule.id.startsWith('RATE-') && isOfRulebook(rule)
  const ofLimits = rules.filter(isOfLimits)
  const attempts = runs.reduce((sum, run) => sum + run.attempts, 0)
  const ids = ofLimits.map(({ id }) => id)
  let done = 0
  /** Rules that the other thread has decided, until they count among `done`. */
  let doneThere = 0
  const begin = ({ id }: Pick<Rule, 'id'>) =>
    beginPart(options, `rule ${id}`, done + doneThere, rules.length)
  const beginThere = (id: string) => {
    doneThere = ids.indexOf(id)
    begin({ id })
  }
  const settle = async (rule: Rule, finding: Finding): Promise<Finding> => {
    options.signal?.throwIfAborted()
    const verdict = await unlessSpoilt(rule, finding.verdict, evidence).catch(undecided)
    const settled = { ...finding, verdict }
    done++
    options.onFinding?.(settled)
    return settled
  }
  if (attempts < manyAttempts || ofLimits.length === 0 || ofLimits.length === rules.length)
    return decideInOrder(rules, evidence, settle, begin)
  const [ofRates, here] = await Promise.all([
    // Only this thread knows what other findings have spoilt.
    decideInWorker(ids, evidence, options, beginThere)
      .catch((error: unknown) => {
        options.signal?.throwIfAborted()
        const verdict = undecided(error)
        return ofLimits.map((rule) => findingOf(rule, verdict))
      })
      .then((findings) => {
        doneThere = 0
        return Promise.all(findings.map((finding, at) => settle(ofLimits[at]!, finding)))
      }),
    decideInOrder(
      rules.filter((rule) => !isOfLimits(rule)),
      evidence,
      settle,
      begin,
    ),
  ])
  const byRule = new Map([...ofRates, ...here].map((finding) => [finding.rule, finding]))
  const own = new Set(rules.map(({ id }) => id))
  const further = here.filter(({ rule }) => !own.has(rule))
  return [...rules.map(({ id }) => byRule.get(id)!), ...further]
}

/** Stores the verdicts for the pages. */
export async function keepFindings(
  session: Pick<Session, 'execute'>,
  { auditId, auditedAt, runs, findings }: AuditReport,
): Promise<void> {
  const runIds = JSON.stringify(runs.map((run) => run.runId))
  const auditedUs = BigInt(auditedAt.getTime()) * 1000n
  const rows = findings.map(({ rule, severity, title, verdict }) => ({
    rule,
    severity,
    verdict: verdict.verdict,
    observations: observationsOf(verdict),
    title,
    detail_json: JSON.stringify(verdict),
  }))
  // One statement: each would be a transaction, and a write to the disk.
  await session.execute(
    `INSERT INTO findings BY NAME
     SELECT $1 AS audit_id, make_timestamp($2::BIGINT) AS audited_at, from_json($3, '["VARCHAR"]') AS run_ids,
       unnest(from_json($4, '[{"rule": "VARCHAR", "severity": "VARCHAR", "verdict": "VARCHAR",
       "observations": "BIGINT", "title": "VARCHAR", "detail_json": "VARCHAR"}]'), recursive := true)`,
    [auditId, auditedUs, runIds, JSON.stringify(rows)],
  )
}
