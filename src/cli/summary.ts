import { writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { loadContract } from '../contract/load.ts'
import { flatRows } from '../report/summary/figures.ts'
import {
  csvSummary,
  jsonSummary,
  markdownSummary,
  terminalSummary,
} from '../report/summary/formats.ts'
import type { RunSummary } from '../report/summary/shape.ts'
import { resolveRun, summarise } from '../report/summary/summarise.ts'
import { vllmBlock, vllmFigures } from '../report/summary/vllm.ts'
import { exportRows } from '../store/export.ts'
import { openExistingStore, type Store } from '../store/open.ts'
import { UsageError } from './exit.ts'

const formats = ['terminal', 'md', 'json', 'csv', 'parquet', 'vllm'] as const

interface Options {
  readonly db: string
  readonly contract?: string
  readonly format: (typeof formats)[number]
  readonly out?: string
  readonly json?: boolean
}

/** `assay summary [run]`: the figures of one run, in the format that is wanted. */
export function summaryCommand(): Command {
  return new Command('summary')
    .description('Print the figures of a run: terminal, Markdown, JSON, CSV, Parquet, vLLM block.')
    .argument('[run]', 'its id, the beginning of one, or latest', 'latest')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .addOption(new Option('--format <format>', 'how').choices(formats).default('terminal'))
    .option('--out <file>', 'where to write it; standard output unless given')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--json', 'the same as --format json')
    .action(async (meant: string, options: Options) => {
      const store = await openExistingStore(options.db)
      try {
        const format = options.json ? 'json' : options.format
        const runId = await resolveRun(store, meant)
        const summary = await summarise(store, runId, loadContract(options.contract))
        if (format === 'parquet') return await writeParquet(store, summary, options.out)
        const text = await formatted(store, summary, format)
        if (options.out === undefined) process.stdout.write(text)
        else writeFileSync(options.out, text)
      } finally {
        store.close()
      }
    })
}

async function formatted(
  store: Store,
  summary: RunSummary,
  format: Exclude<Options['format'], 'parquet'>,
): Promise<string> {
  switch (format) {
    case 'terminal':
      return terminalSummary(summary)
    case 'md':
      return markdownSummary(summary)
    case 'json':
      return jsonSummary(summary)
    case 'csv':
      return csvSummary(summary)
    case 'vllm':
      return vllmBlock(await vllmFigures(store, summary.run.runId), summary)
  }
}

async function writeParquet(
  store: Store,
  summary: RunSummary,
  out: string | undefined,
): Promise<void> {
  if (out === undefined) {
    throw new UsageError('--format parquet needs --out FILE: Parquet is not for a terminal.')
  }
  const rows = flatRows(summary)
  const words = new Set(['run_id', 'scenario', 'verdict', 'step', 'metric'])
  const types = Object.fromEntries(
    Object.keys(rows[0]!).map((name) => [
      name,
      words.has(name) || name.endsWith('_mark') ? ('VARCHAR' as const) : ('DOUBLE' as const),
    ]),
  )
  await exportRows(store, rows, types, out, 'parquet')
}
