import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { assayVersion } from '../run/machine.ts'
import { type Mapping, ownMapping, parseMapping } from '../store/import/mapping.ts'
import { importRecords, looksLikeRecords, type RecordTool } from '../store/import/records.ts'
import { formatOf, importUsageLog, type LogFormat } from '../store/import/usage-log.ts'
import { openStore, type Store } from '../store/open.ts'
import { UsageError } from './exit.ts'

interface Options {
  readonly db: string
  readonly map?: string
  readonly source?: string
  readonly format?: LogFormat | RecordTool
  readonly rejects?: string
  readonly model?: string
  readonly json?: boolean
}

/** `assay import <file…>`: usage logs by a mapping, or the per-request records of other tools. */
export function importCommand(): Command {
  return new Command('import')
    .description("Bring in usage logs (JSON Lines, CSV, Parquet) or other tools' records.")
    .argument('<file...>', 'logs, profile_export.jsonl of AIPerf, or JSON of vllm bench serve')
    .option('--map <file>', 'YAML: which column is which field; "assay" for our own export')
    .option('--source <name>', 'ids are unique within it; the name of the file unless given')
    .addOption(
      new Option('--format <format>', 'what the file is, when its name does not tell').choices([
        'jsonl',
        'csv',
        'parquet',
        'aiperf',
        'vllm',
      ]),
    )
    .option('--rejects <file>', 'where bad lines go; FILE.rejects.jsonl unless given')
    .option('--model <name>', 'of records that do not name theirs (AIPerf)')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--json', 'the ledger of each file as JSON')
    .action(async (files: readonly string[], options: Options) => {
      const store = await openStore(options.db)
      try {
        for (const file of files) {
          if (!existsSync(file)) throw new UsageError(`${file}: no such file`)
          await importOne(store, file, options)
        }
      } finally {
        store.close()
      }
    })
}

async function importOne(store: Store, file: string, options: Options): Promise<void> {
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
  const mapping = mappingOf(file, options)
  const format = (options.format as LogFormat | undefined) ?? mapping.format ?? formatOf(file)
  if (format === null) {
    throw new UsageError(`${file}: say what it is, with --format jsonl, csv or parquet`)
  }
  const ledger = await importUsageLog(store, {
    file,
    mapping,
    source: options.source ?? mapping.source ?? basename(file).replace(/\..*$/, ''),
    format,
    rejectsFile,
    nowUs: Date.now() * 1000,
  })
  print(options, { file, ...ledger }, [
    `${file}: ${count(ledger.lines)} lines = ${count(ledger.accepted)} accepted + ${count(ledger.duplicates)} known + ${count(ledger.rejected)} rejected`,
    ...(ledger.rejectsFile === null ? [] : [`  rejected lines are in ${ledger.rejectsFile}`]),
  ])
}

function toolOf(file: string, { format, map }: Options): RecordTool | null {
  if (format === 'aiperf' || format === 'vllm') return format
  return format === undefined && map === undefined ? looksLikeRecords(file) : null
}

function mappingOf(file: string, { map }: Options): Mapping {
  if (map === undefined) {
    throw new UsageError(
      `${file}: a usage log needs --map FILE, which says which column is which field (docs/importing.md), or --map assay for our own export.`,
    )
  }
  if (map === 'assay') return ownMapping
  if (!existsSync(map)) throw new UsageError(`--map ${map}: no such file`)
  return parseMapping(readFileSync(map, 'utf8'), map)
}

function print(options: Options, ledger: object, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(ledger)}\n` : `${lines.join('\n')}\n`)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
