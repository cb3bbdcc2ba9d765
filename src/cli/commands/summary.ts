import type { Options } from '../summary.ts'
import { choice, command, contractOption, outputOption, storeOption } from './command.ts'

export const summaryFormats = ['terminal', 'md', 'json', 'csv', 'parquet', 'vllm'] as const

/** `assay summary [run]`: prints the figures of one run. */
export const summaryCommand = () =>
  command('summary', {
    does: 'Print the figures of a run: terminal, Markdown, JSON, CSV, Parquet, vLLM block.',
    examples: ['summary', 'summary latest --format md --out summary.md'],
    sends: false,
  })
    .argument('[run]', 'its id, the beginning of one, or latest', 'latest')
    .addOption(storeOption())
    .addOption(choice('--format <format>', 'output format', summaryFormats).default('terminal'))
    .addOption(outputOption('--out <file>', 'output file; default: standard output'))
    .addOption(contractOption())
    .option('--json', 'the same as --format json')
    .action(async (run: string, options: Options) =>
      (await import('../summary.ts')).summaryAction(run, options),
    )
