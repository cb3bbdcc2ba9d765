import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as hdr from 'hdr-histogram-js'
import { userError } from '../../user/user-error.ts'
import { appendAttempts, Recorder } from '../attempts/recorder.ts'
import { writeOutput } from '../files/output.ts'
import { hasRows } from '../has-rows.ts'
import { insertRows } from '../insert-row.ts'
import { assayVersion } from '../runs/machine.ts'
import { startRun } from '../runs/runs.ts'
import type { Session } from '../session/session.ts'
import { readAiperf } from './aiperf.ts'
import { beginningOf } from './csv-header.ts'
import { attemptFrom, type ForeignRun, type Reject } from './foreign-attempt.ts'
import { readGuidellm } from './guidellm.ts'
import { hiddenTexts, keysIn, LogKeys } from './log-keys.ts'
import { readVllm } from './vllm.ts'

export const recordTools = ['aiperf', 'vllm', 'guidellm'] as const
export type RecordTool = (typeof recordTools)[number]

export interface RecordsImport {
  readonly file: string
  /** The same as plain text. */
  readonly read: string
  readonly tool: RecordTool
  /** Model of records that do not name one. */
  readonly model: string | null
  /** Says what would be imported, and enters nothing. */
  readonly check: boolean
  /** Whether the end of the file is missing, and the user accepts that. */
  readonly isPartial: boolean
  readonly rejectsFile: string
}

export interface ImportedRecords {
  readonly runId: string
  readonly accepted: number
  /** Attempts of a file that was imported before. */
  readonly duplicates: number
  readonly rejected: number
  readonly rejectsFile: string | null
  readonly lacks: readonly string[]
}

const readers = {
  aiperf: (text, file, model) => [readAiperf(text, file, model)],
  vllm: readVllm,
  guidellm: readGuidellm,
} as const satisfies Record<
  RecordTool,
  (text: string, file: string, model: string | null) => readonly ForeignRun[]
>

/** The tool whose records a file begins with; null for any other file. */
export function looksLikeRecords(file: string): RecordTool | null {
  const text = beginningOf(file)
  if (!text.trimStart().startsWith('{')) return null
  if (/"request_start_ns"\s*:/.test(text)) return 'aiperf'
  if (/"timestamp_ns"\s*:/.test(text) && /"credit_phase"\s*:/.test(text)) return 'aiperf'
  if (/"benchmarks"\s*:/.test(text) && /"generative_benchmark|"guidellm_version"/.test(text)) {
    return 'guidellm'
  }
  if (/"model_id"\s*:/.test(text) && /"(backend|endpoint_type)"\s*:/.test(text)) return 'vllm'
  return null
}

/**
 * Imports another tool's records as runs, for reports and comparisons. The file's content identifies a run, so
 * importing it again adds nothing.
 *
 * @throws UserError when the file does not hold such records
 */
export async function importRecords(
  session: Session,
  options: RecordsImport,
): Promise<ImportedRecords> {
  const { file, tool } = options
  const bytes = readFileSync(options.read)
  const text = bytes.toString('utf8')
  const keys = new LogKeys(keysIn(text))
  const runs = readers[tool](text, file, options.model)
    .map((run) => withoutKeys(run, keys))
    .map((run) => (options.isPartial ? { ...run, lacks: [lacksEnd, ...run.lacks] } : run))
  if (runs.every((run) => run.attempts.length === 0)) {
    throw userError.import(`${file} holds no requests`)
  }
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  const counts: ImportedRecords[] = []
  for (const [at, run] of runs.entries()) {
    const runId = `${tool}-${digest}${runs.length > 1 ? `-${at + 1}` : ''}`
    counts.push(await enter(session, runId, run, options))
  }
  const sum = (of: (counts: ImportedRecords) => number) =>
    counts.reduce((all, counts) => all + of(counts), 0)
  const rejects = runs.flatMap((run) => run.rejects)
  return {
    runId: counts.map((counts) => counts.runId).join(', '),
    accepted: sum((counts) => counts.accepted),
    duplicates: sum((counts) => counts.duplicates),
    rejected: rejects.length,
    rejectsFile: options.check ? null : writeRejects(rejects, options.rejectsFile),
    lacks: runs[0]!.lacks,
  }
}

const lacksEnd = 'the end of its file: requests are missing'

/** The texts of a tool's file are those of its users and services. */
function withoutKeys(run: ForeignRun, keys: LogKeys): ForeignRun {
  if (!keys.areKnown) return run
  const { attempts, settings, rejects } = run
  return { ...run, ...hiddenTexts({ attempts, settings, rejects }, keys) }
}

async function enter(
  session: Session,
  runId: string,
  run: ForeignRun,
  { file, check }: RecordsImport,
): Promise<ImportedRecords> {
  const count = run.attempts.length
  const isKnown = await hasRows(session, 'runs WHERE run_id = $1', [runId])
  const counts = { runId, rejected: 0, rejectsFile: null, lacks: run.lacks }
  if (isKnown) return { ...counts, accepted: 0, duplicates: count }
  if (check) return { ...counts, accepted: count, duplicates: 0 }
  await startRun(session, {
    runId,
    kind: 'import',
    scenario: `${run.name}: ${basename(file)}`,
    scenarioJson: JSON.stringify({ tool: run.name, lacks: run.lacks, settings: run.settings }),
    seed: 0,
    baseUrl: '',
    contract: '(none)',
    startedAtUs: run.startedAtUs,
    timeScale: 1,
    assayVersion: assayVersion(),
    machineJson: '{}',
  })
  // A tool asks all requests of a run alike: one that failed before its first token was streamed if another was.
  const streamed = run.attempts.some((attempt) => attempt.streamed === 1) ? 1 : 0
  await appendAttempts(
    session,
    run.attempts.map((attempt) => attemptFrom(runId, { ...attempt, streamed })),
  )
  if (run.itlUs.length > 0) await keepItl(session, runId, run)
  const endedUs = run.attempts.reduce(
    (latest, attempt) => Math.max(latest, attempt.closedUs ?? attempt.intendedUs),
    0,
  )
  await session.execute(`UPDATE runs SET ended_us = $2, base_url = 'imported' WHERE run_id = $1`, [
    runId,
    BigInt(Math.round(endedUs)),
  ])
  return { ...counts, accepted: count, duplicates: 0 }
}

/** Stores gaps in a histogram, as our runs do, and in rows: here they are few and each is known. */
async function keepItl(session: Session, runId: string, run: ForeignRun): Promise<void> {
  const histogram = hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  })
  for (const us of run.itlUs) {
    histogram.recordValue(Math.min(3_600_000_000, Math.max(0, Math.round(us))))
  }
  const recorder = await Recorder.open(session)
  recorder.append('histograms', [
    {
      runId,
      phase: 'import',
      part: 'steady',
      step: run.attempts[0]?.step ?? '',
      metric: 'itl',
      intervalUs: 0,
      intervalLengthUs: 0,
      samples: histogram.totalCount,
      hdr: Buffer.from(hdr.encodeIntoCompressedBase64(histogram), 'base64'),
    },
  ])
  await recorder.close()
  const step = run.attempts[0]?.step ?? ''
  await insertRows(
    session,
    'imported_gaps',
    ['run_id', 'part', 'step', 'gap_us'],
    run.itlUs.map((us) => [runId, 'steady', step, us]),
  )
}

function writeRejects(rejects: readonly Reject[], path: string): string | null {
  if (rejects.length === 0) return null
  writeOutput(path, rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''))
  return path
}
