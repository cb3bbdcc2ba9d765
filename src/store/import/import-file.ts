import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { userError } from '../../user/user-error.ts'
import { beginPart } from '../../user/work.ts'
import { mustStandApart } from '../files/files-apart.ts'
import { diskFailure } from '../session/errors.ts'
import type { Store } from '../session/open.ts'
import { inSession, type Session } from '../session/session.ts'
import { importLog } from './import-log.ts'
import type { FileImport } from './import-options.ts'
import { hasLineRules } from './lines/read-lines.ts'
import { parquetText } from './parquet-text.ts'
import {
  type ImportedRecords,
  importRecords,
  looksLikeRecords,
  type RecordTool,
  recordTools,
} from './records.ts'
import { isRejects, rejectedLines } from './rejected-lines.ts'
import { emptyScratch, formatOf, type ImportedLog, scratchOf } from './usage-log.ts'
import { type DecodedFile, decodedFile } from './whole/decoded-file.ts'
import { wholeText } from './whole/whole-text.ts'

export type FileImported =
  | ({ readonly kind: 'records' } & ImportedRecords)
  | ({ readonly kind: 'log' } & ImportedLog)

/** Where the rejected lines of a file go. */
export const rejectsOf = (file: string, given?: string) => given ?? `${file}.rejects.jsonl`

/**
 * Imports a file: a usage log, or the records of another tool. The content decides which.
 *
 * @throws UserError when it cannot be read, is not whole, or its kind is unknown
 */
export function importFile(store: Store, options: FileImport): Promise<FileImported> {
  return inSession(store, {}, (session) => importInto(session, options), { writes: 'attempts' })
}

async function importInto(session: Session, options: FileImport): Promise<FileImported> {
  const { file } = options
  if (!existsSync(file)) throw userError.usage(`${file}: no such file`)
  const rejectsFile = rejectsOf(file, options.rejectsFile)
  mustStandApart([
    { name: 'the rejects', path: rejectsFile, role: 'output' },
    ...[file, ...(options.pages ?? [])].map((path) => ({
      ...{ name: 'the log', path, role: 'input' as const },
    })),
  ])
  const scratch = scratchOf(session, rejectsFile)
  try {
    emptyScratch(scratch)
    return await importText(session, { ...options, rejectsFile }, scratch)
  } catch (error) {
    const full = diskFailure(scratch, error)
    throw full === null
      ? error
      : userError.import(`Nothing of ${file} was imported: ${full.message}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function importText(
  session: Session,
  options: FileImport & { readonly rejectsFile: string },
  scratch: string,
): Promise<FileImported> {
  const { file, rejectsFile } = options
  const named = options.format ?? options.mapping?.format ?? formatOf(file)
  const plain: DecodedFile =
    named === 'parquet'
      ? { path: file, isCut: false }
      : await decodedFile(file, join(scratch, 'text'), options.signal)
  if (named !== 'parquet' && isRejects(plain.path)) {
    const rejected = { file, path: plain.path, folder: scratch }
    const { path, mapping, source } = await rejectedLines(session, rejected, options.mapping)
    return importLog(
      session,
      {
        ...options,
        mapping,
        format: 'jsonl',
        ...(source === null ? {} : { source: options.source ?? source }),
      },
      { path, isCut: plain.isCut },
      scratch,
    )
  }
  const tool = toolOf(options, plain.path)
  if (tool !== null) {
    mustBeOfRecords(options, tool)
    beginPart(options, `reading ${file}`, 0, 1)
    const { model = null, check = false, partial = false } = options
    const text = { file, plain, partial, copy: join(scratch, 'text'), delimiter: null }
    const { path: read, isPartial } = await wholeText(text)
    const records = { file, read, tool, model, check, isPartial, rejectsFile }
    return { kind: 'records', ...(await importRecords(session, records)) }
  }
  if (options.model !== undefined) {
    throw userError.usage(
      `${file}: a model is named for records of another tool (${recordTools.join(', ')}), and this is a usage log, whose lines name theirs.`,
    )
  }
  if (named !== 'parquet') return importLog(session, options, plain, scratch)
  const isMapped = options.mapping !== undefined && hasLineRules(options.mapping)
  const isOpen = options.mapping === undefined || isMapped
  const text = isOpen ? await parquetText(session, { file, scratch, isMapped }) : null
  return text === null
    ? importLog(session, options, plain, scratch)
    : importLog(session, { ...options, format: 'jsonl' }, { path: text, isCut: false }, scratch)
}

/** @throws UserError if the options say what only a usage log has */
function mustBeOfRecords(options: FileImport, tool: RecordTool): void {
  const { pages = [], mapping, source, prices } = options
  const { bucket, decimal, dateOrder, timezone, ambiguous, cached, tags } = options
  const ofLogs = {
    ...{ pages: pages[0], mapping, source, prices },
    ...{ bucket, decimal, dateOrder, timezone, ambiguous, cached, tags },
  }
  const given = Object.entries(ofLogs).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  )
  if (given.length === 0) return
  throw userError.usage(
    `${options.file} has records of ${tool}, and these options are for usage logs: ${given.join(', ')}. Import it without them.`,
  )
}

function toolOf({ format, mapping }: FileImport, read: string): RecordTool | null {
  const tool = recordTools.find((each) => each === format)
  if (tool !== undefined) return tool
  return format === undefined && mapping === undefined ? looksLikeRecords(read) : null
}
