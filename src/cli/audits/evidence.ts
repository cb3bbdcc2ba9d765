import { judgedAgain, shortened } from '../../audit/format/reproduce.ts'
import { runsBeside, selectRuns } from '../../audit/runs.ts'
import { isBaseUrl } from '../../contract/base-url.ts'
import { loadContract } from '../../contract/load.ts'
import { loadProfile } from '../../contract/load-profile.ts'
import { type CheckedEvidence, checkEvidence } from '../../report/vendor/check-evidence.ts'
import { refused } from '../../report/vendor/manifest.ts'
import { writeEvidence } from '../../report/vendor/write-evidence.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { inStore } from '../../store/session/in-store.ts'
import { userError } from '../../user/user-error.ts'
import type { Options as AuditOptions } from '../commands/audit.ts'
import type { Options } from '../commands/report.ts'
import { factorChoices } from '../runs/factor-choices.ts'
import { nextLine } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { commandOf } from './again.ts'
import { isLogAlone } from './log-alone.ts'
import { isText, ofRules, printFindings } from './print-findings.ts'

/** `assay report audit --for vendor`: writes the folder of evidence, and names its files. */
export async function vendorAction(named: readonly string[], options: Options): Promise<void> {
  const { log, contract, profile } = options
  if (log !== undefined && isBaseUrl(log)) {
    throw userError.usage('--log: expected a file, which the folder keeps; got an address')
  }
  const isAlone = await isLogAlone(named, options)
  if (isAlone && contract === undefined) {
    throw userError.usage('a log without a run: expected --contract FILE (docs/prices.md).')
  }
  const runs = isAlone
    ? null
    : { db: options.db, ...(await meantRuns(options.db, named, contract)) }
  const written = await shown((view) =>
    writeEvidence({
      ...view,
      folder: options.out ?? 'evidence',
      runs,
      contract: contract ?? null,
      log: log ?? null,
      isAnonymous: options.anonymous === true,
      profile: profile === undefined ? null : loadProfile(profile, '--profile'),
      choices: factorChoices(
        options.choose,
        contract === undefined ? undefined : loadContract(contract).prices?.models,
      ),
      nowMs: Date.now(),
    }),
  )
  const { folder, files, sha256 } = written
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ page: 'audit', folder, files, manifestSha256: sha256 })}\n`
      : `${files.map((file) => `${folder}/${file}`).join('\n')}\nThe SHA-256 of the manifest is ${sha256}. Send it by another way than the folder: it shows any change.\n${nextLine(['audit', '--evidence', folder], 'is what the vendor runs: it judges the folder again')}`,
  )
}

/** The store is closed again: a copy of its rows needs it alone. */
async function meantRuns(db: string, named: readonly string[], path: string | undefined) {
  const contract = path === undefined ? undefined : loadContract(path)
  return inStore(db, async (store) => {
    const runIds = (await selectRuns(store, await resolveRuns(store, named), contract)).map(
      ({ runId }) => runId,
    )
    return { runIds, otherIds: await runsBeside(store, runIds, contract) }
  })
}

/** `assay audit --evidence FOLDER`: the findings of the folder, and whether they are those of its manifest. */
export async function checkAction(folder: string, options: AuditOptions): Promise<void> {
  printChecked(folder, await shown((view) => checkEvidence(folder, view)), options)
}

/** @throws UserError for a folder whose findings are others: before the command of a rule, which may not fail any more */
export function printChecked(
  folder: string,
  checked: CheckedEvidence,
  options: AuditOptions,
): void {
  const { report, commands, files, differences, otherRules } = checked
  const again = nextLine(
    ['audit', '--evidence', folder, '--verbose'],
    'also lists what was not observed',
  )
  const words = ['audit', '--evidence', folder]
  const isLog = report.runs.length === 0
  const reproduced = isLog
    ? judgedAgain(report.findings, words)
    : shortened(commands, words, isText(options))
  if (options.again === undefined) {
    printFindings(ofRules(report, options.rule), reproduced, options, () => again)
  }
  if (otherRules !== null) process.stderr.write(`${otherRules}\n`)
  if (differences.length > 0) {
    throw refused(
      `${folder}: ${differences.length} of ${report.findings.length} findings are not those of the manifest:\n${differences.map((each) => `  ${each}`).join('\n')}`,
    )
  }
  if (options.again !== undefined) {
    process.stdout.write(`${commandOf(commands, options.again)}\n`)
  }
  process.stderr.write(
    `All ${files} files are as the manifest says, and all ${report.findings.length} findings are the same.\n`,
  )
}
