import { existsSync } from 'node:fs'
import { type AuditReport, keepFindings } from '../../audit/audit.ts'
import { failuresOf, judgedAgain, reproductions, shortened } from '../../audit/format/reproduce.ts'
import { auditLog } from '../../audit/log-alone/audit-log.ts'
import { explanationOf } from '../../audit/rules/explain.ts'
import { selectRules } from '../../audit/rules/select.ts'
import { selectRuns } from '../../audit/runs.ts'
import { mergeShares } from '../../audit/shares/merge.ts'
import { shareReportOf } from '../../audit/shares/share-report.ts'
import { isBaseUrl } from '../../contract/base-url.ts'
import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { loadProfile } from '../../contract/load-profile.ts'
import { audit } from '../../public/audit.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Store } from '../../store/session/open.ts'
import { readTextOr } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import type { MergeOptions, Options } from '../commands/audit.ts'
import { factorChoices } from '../runs/factor-choices.ts'
import { shardOf } from '../runs/shard.ts'
import { contractWords, nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { widthOf } from '../terminal/terminal-width.ts'
import { fetchLog, isLogById } from '../usage/fetch-log.ts'
import { commandOf } from './again.ts'
import { isLogAlone } from './log-alone.ts'
import { isText, ofRules, printFindings } from './print-findings.ts'

export async function auditAction(named: readonly string[], options: Options): Promise<void> {
  if (options.explain !== undefined) {
    const asked = options.explain === true ? [] : options.explain
    // `--explain` takes no runs, so further arguments are rules.
    const rules = selectRules([...options.rule, ...asked, ...named], '--explain')
    process.stdout.write(
      `${rules.map((rule) => explanationOf(rule, widthOf(process.stdout))).join('\n')}${nextLine(['audit', ...optionWords('--rule', [...options.rule, ...asked, ...named]), ...storeWords(options.db)], 'judges the runs of the store by them')}`,
    )
    return
  }
  if (options.again !== undefined) selectRules([options.again], '--again')
  if (options.evidence !== undefined) {
    // Evidence has pages, and an audit without it loads no charts.
    return (await import('./evidence.ts')).checkAction(options.evidence, options)
  }
  const contract = options.contract === undefined ? undefined : loadContract(options.contract)
  if (await isLogAlone(named, options)) {
    // A log has no text of a request.
    if (options.again !== undefined) commandOf(new Map(), options.again)
    return auditLogAlone(options, contract)
  }
  return inStore(options.db, async (store) => {
    const runIds = await resolveRuns(store, named)
    const terms = contract?.prices?.evidence.log ?? null
    const isRead = options.log !== undefined && isBaseUrl(options.log)
    const log =
      options.log === undefined
        ? null
        : isRead
          ? await fetchLog(
              store,
              // Without names, the audit takes the runs against one address.
              (await selectRuns(store, runIds, contract)).map(({ runId }) => runId),
              terms,
              options.log,
            )
          : readLog(options.log)
    const report = await shown(({ onProgress }) =>
      audit(store, {
        ...(contract === undefined ? {} : { contract }),
        ...(options.profile === undefined
          ? {}
          : { profile: loadProfile(options.profile, '--profile') }),
        ...(options.log === undefined
          ? {}
          : { log: { text: log!, file: options.log, isById: isRead && isLogById(terms) } }),
        choices: factorChoices(options.choose, contract?.prices?.models),
        runIds,
        rules: options.again === undefined ? options.rule : [options.again],
        ...(options.accounts === undefined
          ? {}
          : { accounts: shardOf(options.accounts, process.env, '--accounts') }),
        onProgress,
      }),
    )
    if (options.again !== undefined) {
      const commands = await reproductions(store, failuresOf(report.findings))
      process.stdout.write(`${commandOf(commands, options.again)}\n`)
      return
    }
    await printReport(store, report, runIds, options, afterAudit(named, options))
  })
}

/** A page, or evidence for the vendor of a service that broke a promise. */
function afterAudit(named: readonly string[], options: Options): (isBroken: boolean) => string {
  const { db, contract, profile, log, choose } = options
  const given = [
    ...named,
    ...storeWords(db),
    ...contractWords(contract),
    ...optionWords('--profile', profile),
  ]
  const page = ['report', 'audit', ...given]
  const isFile = log === undefined || !isBaseUrl(log)
  const vendor = [...page, ...optionWords('--log', log), ...optionWords('--choose', choose)]
  return (isBroken) =>
    isBroken && isFile
      ? nextLine([...vendor, '--for', 'vendor'], 'writes the evidence for the vendor')
      : nextLine(page, 'makes a page of the findings')
}

async function auditLogAlone(options: Options, contract: Contract | undefined): Promise<void> {
  if (contract === undefined) {
    throw userError.usage(
      'audit --log without a run: expected --contract FILE with the prices by which the log is judged (docs/prices.md).',
    )
  }
  if (!existsSync(options.log!)) {
    throw userError.usage(`--log: expected a readable file; got "${options.log}"`)
  }
  const report = await shown(({ onProgress }) =>
    auditLog({
      file: options.log!,
      contract,
      choices: factorChoices(options.choose, contract.prices?.models),
      onProgress,
      nowMs: Date.now(),
    }),
  )
  const given = [
    ...['--alone', '--log', options.log!, ...contractWords(options.contract)],
    ...optionWords('--choose', options.choose),
  ]
  printFindings(
    ofRules(report, options.rule),
    judgedAgain(report.findings, ['audit', ...given]),
    options,
    () =>
      nextLine(
        ['report', 'audit', '--for', 'vendor', ...given],
        'writes the evidence for the vendor',
      ),
  )
}

/** Merges reports on shares of the accounts into one audit, stores it, and sets the exit code. */
export async function mergeAuditsAction(
  paths: readonly string[],
  options: MergeOptions,
): Promise<void> {
  const shares = paths.map((path) => ({ path, report: shareReportOf(readReport(path), path) }))
  const report = mergeShares(shares, new Date())
  return inStore(options.db, async (store) => {
    await keepFindings(store, report)
    const runIds = report.runs.map(({ runId }) => runId)
    const page = ['report', 'audit', ...storeWords(options.db)]
    await printReport(store, report, runIds, options, () =>
      nextLine(page, 'makes a page of the findings'),
    )
  })
}

const readLog = (path: string): string =>
  readTextOr(path, () => userError.usage(`--log: expected a readable file; got "${path}"`))

const readReport = (path: string): string =>
  readTextOr(path, () => userError.usage(`audit merge: ${path} cannot be read.`))

async function printReport(
  store: Store,
  report: AuditReport,
  runIds: readonly string[],
  options: MergeOptions & Partial<Pick<Options, 'contract' | 'log' | 'profile' | 'choose'>>,
  next: (isBroken: boolean) => string,
): Promise<void> {
  const commands = await reproductions(store, failuresOf(report.findings))
  // What was given decides which rules fail, so the printed command gives it, too.
  const { db, contract, log, profile, choose } = options
  const audit = [
    ...['audit', ...runIds, '--db', db, ...contractWords(contract)],
    ...optionWords('--profile', profile),
    ...optionWords('--log', log),
    ...optionWords('--choose', choose),
  ]
  printFindings(report, shortened(commands, audit, isText(options)), options, next)
}
