import { existsSync, readFileSync } from 'node:fs'
import { openClickhouse } from '../store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../store/clickhouse/import-log.ts'
import { mustStandApart, type NamedFile } from '../store/files-apart.ts'
import {
  type FileImport,
  type FileImported,
  importFile,
  rejectsOf,
} from '../store/import/import-file.ts'
import type { LogFormat } from '../store/import/log-scan.ts'
import { type Mapping, ownMapping, parseMapping } from '../store/import/mapping.ts'
import type { RecordTool } from '../store/import/records.ts'
import { openStore } from '../store/open.ts'
import { UserError } from '../user/user-error.ts'
import { exit } from './exit.ts'
import { shown } from './progress.ts'
import { onStopSignal } from './stop-signals.ts'

export interface Options {
  readonly db: string
  readonly map?: string
  readonly source?: string
  readonly format?: LogFormat | RecordTool
  readonly rejects?: string
  readonly model?: string
  readonly json?: boolean
  readonly engine?: string
  readonly partial?: boolean
  readonly maxRejects?: string
}

export async function importAction(files: readonly string[], options: Options): Promise<void> {
  mustHaveRoomForRejects(files, options)
  maxRejectsOf(options)
  const { take, close } = await openTarget(options)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  let reading = ''
  try {
    for (const file of files) {
      reading = file
      stop.signal.throwIfAborted()
      await importOne(take, file, options, stop.signal)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    process.stderr.write(
      `Interrupted: nothing from ${reading} was imported. Import it again; known lines count once.\n`,
    )
    process.exitCode = exit.interrupted
  } finally {
    ignoreSignals()
    await close()
  }
}

/** @throws UserError if the rejects of a log would replace a log, the store, or those of another log */
function mustHaveRoomForRejects(files: readonly string[], { rejects, db }: Options): void {
  if (rejects !== undefined && files.length > 1) {
    throw new UserError(
      'usage',
      `--rejects: expected one log, because each log has its own rejects; got ${files.length}. Import them one by one, or leave --rejects out.`,
    )
  }
  const logs = [...new Set(files)].flatMap((path): readonly NamedFile[] => [
    { name: path, path, role: 'input' },
    { name: `the rejects of ${path}`, path: rejectsOf(path, rejects), role: 'output' },
  ])
  mustStandApart([...logs, { name: '--db', path: db, role: 'store' }])
}

/** Opens the target of an import: the store, or an engine. */
async function openTarget({ db, engine }: Options) {
  if (engine === undefined) {
    const store = await openStore(db)
    return { take: (file: FileImport) => importFile(store, file), close: () => store.close() }
  }
  const clickhouse = await openClickhouse(engine)
  return {
    take: (file: FileImport) => importToClickhouse(clickhouse, file),
    close: () => clickhouse.close(),
  }
}

async function importOne(
  take: (file: FileImport) => Promise<FileImported>,
  file: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const { map, source, format, rejects, model, partial } = options
  const imported = await shown(({ onProgress }) =>
    take({
      ...{ file, signal, onProgress },
      ...(map === undefined ? {} : { mapping: mappingOf(map) }),
      ...(source === undefined ? {} : { source }),
      ...(format === undefined ? {} : { format }),
      ...(rejects === undefined ? {} : { rejectsFile: rejects }),
      ...(model === undefined ? {} : { model }),
      partial: partial === true,
    }),
  )
  const { kind, ...counts } = imported
  const bad = counts.rejectsFile === null ? [] : [`  rejected lines are in ${counts.rejectsFile}`]
  if (imported.kind === 'records') {
    const { accepted, duplicates, rejected, runId, lacks } = imported
    print(options, counts, [
      duplicates > 0
        ? `${file}: imported before as run ${runId}`
        : `${file}: run ${runId}, ${count(accepted)} attempts, ${count(rejected)} rejected`,
      ...lacks.map((lack) => `  lacks ${lack}`),
      ...bad,
    ])
    return
  }
  print(options, { file, ...counts }, [
    `${file}: ${count(imported.lines)} lines = ${count(imported.accepted)} accepted + ${count(imported.duplicates)} known + ${count(imported.rejected)} rejected`,
    ...bad,
  ])
  const share = imported.rejected / Math.max(1, imported.lines)
  if (share > maxRejectsOf(options)) {
    process.exitCode = exit.failed
    process.stderr.write(
      `${file}: ${(share * 100).toFixed(1)} % of its lines were rejected, more than --max-rejects ${options.maxRejects ?? mostRejects} allows.\n`,
    )
  }
}

/** A log with more rejected lines than this share has not been imported, whatever its other lines say. */
const mostRejects = 0.01

function maxRejectsOf({ maxRejects }: Options): number {
  const share = maxRejects === undefined ? mostRejects : Number(maxRejects)
  if (share >= 0 && share <= 1) return share
  throw new UserError(
    'usage',
    `--max-rejects ${maxRejects}: expected a share from 0 to 1, such as 0.01`,
  )
}

function mappingOf(map: string): Mapping {
  if (map === 'assay') return ownMapping
  if (!existsSync(map)) throw new UserError('usage', `--map ${map}: no such file`)
  return parseMapping(readFileSync(map, 'utf8'), map)
}

function print(options: Options, counts: object, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(counts)}\n` : `${lines.join('\n')}\n`)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
