import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { assayVersion } from '../run/machine.ts'
import { knownLog } from '../store/import/known-logs.ts'
import { type Mapping, ownMapping, parseMapping } from '../store/import/mapping.ts'
import {
  importRecords,
  looksLikeRecords,
  type RecordTool,
  recordTools,
} from '../store/import/records.ts'
import { formatOf, importUsageLog, type LogFormat } from '../store/import/usage-log.ts'
import { openStore, type Store } from '../store/open.ts'
import { UserError } from '../user/user-error.ts'
import { exit } from './exit.ts'
import { onStopSignal } from './stop-signals.ts'

export interface Options {
  readonly db: string
  readonly map?: string
  readonly source?: string
  readonly format?: LogFormat | RecordTool
  readonly rejects?: string
  readonly model?: string
  readonly json?: boolean
}

export async function importAction(files: readonly string[], options: Options): Promise<void> {
  const store = await openStore(options.db)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  let reading = ''
  try {
    for (const file of files) {
      if (stop.signal.aborted) break
      if (!existsSync(file)) throw new UserError('usage', `${file}: no such file`)
      reading = file
      await importOne(store, file, options, stop.signal)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    process.stderr.write(
      `Interrupted: nothing of ${reading} was imported. Import it again; what is known counts once.\n`,
    )
  } finally {
    ignoreSignals()
    store.close()
  }
  if (stop.signal.aborted) process.exitCode = exit.interrupted
}

async function importOne(
  store: Store,
  file: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const rejectsFile = options.rejects ?? `${file}.rejects.jsonl`
  const tool = toolOf(file, options)
  if (tool !== null) {
    const ledger = await importRecords(store, {
      file,
      tool,
      model: options.model ?? null,
      rejectsFile,
      assayVersion: assayVersion(),
    })
    const { accepted, duplicates, rejected } = ledger
    print(options, ledger, [
      duplicates > 0
        ? `${file}: imported before as run ${ledger.runId}`
        : `${file}: run ${ledger.runId}, ${count(accepted)} attempts, ${count(rejected)} rejected`,
      ...ledger.lacks.map((lack) => `  lacks ${lack}`),
      ...(ledger.rejectsFile === null ? [] : [`  rejected lines are in ${ledger.rejectsFile}`]),
    ])
    return
  }
  const known = options.map === undefined ? knownLog(file) : null
  const mapping = known?.mapping ?? mappingOf(file, options)
  const format =
    known?.format ?? (options.format as LogFormat | undefined) ?? mapping.format ?? formatOf(file)
  if (format === null) {
    throw new UserError('usage', `${file}: say what it is, with --format jsonl, csv or parquet`)
  }
  const ledger = await importUsageLog(store, {
    file,
    mapping,
    lines: known?.lines ?? null,
    source:
      options.source ?? known?.source ?? mapping.source ?? basename(file).replace(/\..*$/, ''),
    format,
    rejectsFile,
    nowUs: Date.now() * 1000,
    signal,
  })
  print(options, { file, ...ledger }, [
    `${file}: ${count(ledger.lines)} lines = ${count(ledger.accepted)} accepted + ${count(ledger.duplicates)} known + ${count(ledger.rejected)} rejected`,
    ...(ledger.rejectsFile === null ? [] : [`  rejected lines are in ${ledger.rejectsFile}`]),
  ])
}

function toolOf(file: string, { format, map }: Options): RecordTool | null {
  const tool = recordTools.find((each) => each === format)
  if (tool !== undefined) return tool
  return format === undefined && map === undefined ? looksLikeRecords(file) : null
}

function mappingOf(file: string, { map }: Options): Mapping {
  if (map === undefined) {
    throw new UserError(
      'usage',
      `${file}: a usage log needs --map FILE, which says which column is which field (docs/importing.md), or --map assay for our own export.`,
    )
  }
  if (map === 'assay') return ownMapping
  if (!existsSync(map)) throw new UserError('usage', `--map ${map}: no such file`)
  return parseMapping(readFileSync(map, 'utf8'), map)
}

function print(options: Options, ledger: object, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(ledger)}\n` : `${lines.join('\n')}\n`)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
