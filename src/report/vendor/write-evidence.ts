import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { contractText, loadContract } from '../../contract/load.ts'
import { tokenizerFilesOf } from '../../contract/tokenizer-paths.ts'
import { bodiesPath } from '../../store/attempts/packed-bodies.ts'
import { beginningOf } from '../../store/import/csv-header.ts'
import { linesOf } from '../../store/import/formats/documents.ts'
import { withoutAlike } from '../../store/import/key-forms.ts'
import { LogKeys } from '../../store/import/log-keys.ts'
import { isJson } from '../../store/import/recognised-log.ts'
import { decodedFile } from '../../store/import/whole/decoded-file.ts'
import { wholeText } from '../../store/import/whole/whole-text.ts'
import { assayVersion } from '../../store/runs/machine.ts'
import { takeRun } from '../../store/runs/merge.ts'
import { cannotWrite } from '../../store/session/errors.ts'
import { openStore } from '../../store/session/open.ts'
import { inSession } from '../../store/session/session.ts'
import { csvDelimiter } from '../../user/csv.ts'
import { given } from '../../user/given.ts'
import type { Work } from '../../user/work.ts'
import { anonymousCsv, anonymousJson } from './anonymous.ts'
import { type Judged, type JudgedFolder, judgeFolder, rowsName } from './judge-folder.ts'
import { filesOf, manifestName, refused, rulebook, statedFinding } from './manifest.ts'
import { requestsCsv, vendorPage } from './page.ts'

export interface EvidenceOptions extends Work {
  /** The folder to make. One that has files is refused. */
  readonly folder: string
  /** The runs and the store that has them, which nothing has open; null for a log that is judged by itself. */
  readonly runs: EvidenceRuns | null
  /** Whether numbers stand in place of the names of accounts and keys. */
  readonly isAnonymous: boolean
  /** Files; null if not given. */
  readonly contract: string | null
  readonly profile: unknown
  readonly log: string | null
  readonly choices: Readonly<Record<string, string>>
  readonly nowMs: number
}

export interface EvidenceRuns {
  readonly db: string
  /** The runs to judge. */
  readonly runIds: readonly string[]
  /** Other runs whose rows decide: what they abandoned may be charged later. */
  readonly otherIds: readonly string[]
}

export interface WrittenEvidence extends JudgedFolder {
  readonly folder: string
  readonly files: readonly string[]
  /** SHA-256 of the manifest: who has it can tell any change of the folder. */
  readonly sha256: string
}

/**
 * Writes a folder that shows its findings to somebody without our store: page, rows, contract, log, and a manifest. It is whole or
 * not there.
 *
 * @throws UserError `evidence` for a folder that has files already
 */
export async function writeEvidence(options: EvidenceOptions): Promise<WrittenEvidence> {
  const folder = resolve(options.folder)
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw refused(
      `${options.folder} has files, and evidence overwrites nothing: expected a folder that is new or empty. Name another with --out.`,
    )
  }
  const partial = partialFolder(folder)
  // Only these: the files of the options are not those of the folder.
  const { onProgress, signal } = options
  const work: Work = given({ onProgress, signal })
  try {
    const judged = await place(options, partial)
    const { report, commands } = await judgeFolder(partial, judged, work)
    writeFileSync(join(partial, 'requests.csv'), requestsCsv(report))
    writeFileSync(join(partial, 'findings.html'), await vendorPage(report, commands))
    const files = readdirSync(partial).toSorted()
    const manifest = JSON.stringify(
      {
        format: 'assay-evidence',
        version: 1,
        assay: assayVersion(),
        rulebook: rulebook(),
        ...judged,
        files: await filesOf(partial, files),
        findings: report.findings.map(statedFinding),
      },
      null,
      2,
    )
    writeFileSync(join(partial, manifestName), `${manifest}\n`)
    if (existsSync(folder)) rmSync(folder, { recursive: true })
    renameSync(partial, folder)
    const sha256 = createHash('sha256').update(`${manifest}\n`).digest('hex')
    return { report, commands, folder: options.folder, files: [...files, manifestName], sha256 }
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

function partialFolder(folder: string): string {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    return mkdtempSync(join(dirname(folder), `.${basename(folder)}-`))
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

/** Puts what the audit reads into the folder. */
async function place(options: EvidenceOptions, folder: string): Promise<Judged> {
  const { runs, contract, profile, log, choices, nowMs, isAnonymous } = options
  if (contract !== null) placeContract(contract, folder)
  if (profile !== null)
    writeFileSync(join(folder, 'profile.json'), JSON.stringify(profile, null, 2))
  const logName = log === null ? null : await placeLog(log, folder, options)
  if (runs !== null) await placeRows(runs, folder, isAnonymous)
  return {
    auditedAt: new Date(nowMs).toISOString(),
    runs: runs === null ? null : [...runs.runIds],
    contract: contract === null ? null : 'contract.json',
    profile: profile === null ? null : 'profile.json',
    log: logName,
    choices: { ...choices },
  }
}

function placeContract(contract: string, folder: string): void {
  const files = tokenizerFilesOf(loadContract(contract))
  const nameOf = (path: string) =>
    `tokenizer-${files.findIndex((file) => resolve(file) === path) + 1}.json`
  writeFileSync(join(folder, 'contract.json'), contractText(contract, nameOf))
  for (const file of files) copyFileSync(file, join(folder, nameOf(file)))
}

/** The log as plain text, without our own key and without what looks like one (`sk-…`, `Bearer …`). */
async function placeLog(
  log: string,
  folder: string,
  { runs, signal, isAnonymous }: EvidenceOptions,
): Promise<string> {
  const copy = join(folder, '.log')
  const plain = await decodedFile(log, copy, signal)
  const isLines = isJson(plain.path)
  const delimiter = isLines ? null : csvDelimiter(beginningOf(plain.path))
  // As an audit of it would say: the copy ends in a line break, so that nothing shows it later.
  const { path } =
    runs === null || plain.isCut
      ? await wholeText({ file: log, plain, copy, delimiter, partial: false })
      : plain
  const name = isLines ? 'log.jsonl' : 'log.csv'
  const known = new LogKeys([process.env.ASSAY_API_KEY ?? ''])
  const out = createWriteStream(join(folder, name))
  const given = isAnonymous
    ? isLines
      ? anonymousJson(linesOf(path))
      : anonymousCsv(path, csvDelimiter(beginningOf(path)))
    : linesOf(path)
  await pipeline(function* hidden() {
    for (const line of given) yield `${withoutAlike(known.hidden(line.replace(/\r$/, '')))}\n`
  }, out)
  rmSync(copy, { force: true })
  return name
}

/** What rows say of our machine and of our own files is none of the vendor's. */
const oursSql = [
  `UPDATE runs SET machine_json = '{}', scenario_json = json_object(
    'threads', (scenario_json->>'$.threads')::INTEGER, 'keys', scenario_json->'$.keys')`,
  ...['histograms', 'metric_sources', 'metric_scrapes', 'metric_series', 'metric_points'].map(
    (table) => `DELETE FROM ${table}`,
  ),
]

/** Numbers in place of the names of accounts, and of the variables of their keys. */
const namelessSql = [
  `CREATE TEMP TABLE numbers AS SELECT account, row_number() OVER (ORDER BY account) AS nth FROM (
    SELECT account FROM request_kinds UNION
    SELECT key->>'$.account' FROM (SELECT unnest(json_extract(scenario_json, '$.keys[*]')) AS key FROM runs))
  WHERE account IS NOT NULL`,
  `UPDATE request_kinds SET account = 'account ' || nth FROM numbers WHERE request_kinds.account = numbers.account`,
  `UPDATE runs SET scenario_json = json_object('threads', (scenario_json->>'$.threads')::INTEGER, 'keys', (
    SELECT to_json(list(json_object('account', 'account ' || nth, 'source', json_object('env', 'ACCOUNT_' || nth || '_KEY'))))
    FROM (SELECT unnest(json_extract(scenario_json, '$.keys[*]')) AS key) JOIN numbers ON key->>'$.account' = account))`,
  'DROP TABLE numbers',
]

/** The rows of the runs. They are taken twice: a deleted row stays in its file until another takes its place. */
async function placeRows(
  { db, runIds, otherIds }: EvidenceRuns,
  folder: string,
  isAnonymous: boolean,
): Promise<void> {
  const first = join(folder, 'first.duckdb')
  const all = [...runIds, ...otherIds]
  await copied(db, first, all, isAnonymous ? [...oursSql, ...namelessSql] : oursSql)
  await copied(first, join(folder, rowsName), all, [])
  for (const name of [first, `${first}.wal`, bodiesPath(first)]) rmSync(name, { force: true })
}

async function copied(
  from: string,
  to: string,
  runIds: readonly string[],
  then: readonly string[],
): Promise<void> {
  const store = await openStore(to)
  try {
    await inSession(
      store,
      {},
      async (session) => {
        for (const runId of runIds) await takeRun(session, from, runId)
        for (const sql of then) await session.execute(sql)
        await session.execute('CHECKPOINT')
      },
      { writes: 'attempts' },
    )
  } finally {
    store.close()
  }
}
