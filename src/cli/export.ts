import { Argument, Command, Option } from 'commander'
import { loadContract } from '../contract/load.ts'
import { resolveRun } from '../report/summary/summarise.ts'
import { enterPrices } from '../report/usage/prepare.ts'
import {
  type Exportable,
  type ExportFormat,
  exportable,
  exportFormatOf,
  exportFormats,
  exportTable,
} from '../store/export.ts'
import { openExistingStore } from '../store/open.ts'
import { UsageError } from './exit.ts'

interface Options {
  readonly db: string
  readonly contract?: string
  readonly out: string
  readonly format?: ExportFormat
  readonly run: readonly string[]
  readonly json?: boolean
}

/** `assay export <what>`: rows of the store as Parquet, CSV, JSON or JSON Lines. */
export function exportCommand(): Command {
  return new Command('export')
    .description('Write rows of the store to a file for other tools, or to replay them.')
    .addArgument(new Argument('<what>', 'which rows').choices(exportable))
    .requiredOption('--out <file>', 'where to: .parquet, .csv, .json or .jsonl')
    .addOption(new Option('--format <format>', 'instead of the ending').choices(exportFormats))
    .option('--run <run...>', 'only these runs', [])
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--json', 'print what was written as JSON')
    .action(async (what: Exportable, options: Options) => {
      const format = options.format ?? exportFormatOf(options.out)
      if (format === null) {
        throw new UsageError(
          `${options.out}: expected a name that ends with ${exportFormats.map((each) => `.${each}`).join(', ')}, or --format.`,
        )
      }
      const store = await openExistingStore(options.db)
      try {
        const runs: string[] = []
        for (const meant of options.run) runs.push(await resolveRun(store, meant))
        if (what === 'usage') await enterPrices(store, loadContract(options.contract))
        const rows = await exportTable(store, what, runs, options.out, format)
        process.stdout.write(
          options.json
            ? `${JSON.stringify({ what, rows, out: options.out, format })}\n`
            : `${rows.toLocaleString('en-US')} rows of ${what} in ${options.out}\n`,
        )
      } finally {
        store.close()
      }
    })
}
