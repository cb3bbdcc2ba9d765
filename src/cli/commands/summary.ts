import {
  choice,
  command,
  contractOption,
  type OptionsOf,
  outputOption,
  storeOption,
} from './command.ts'

export const summaryFormats = ['terminal', 'md', 'json', 'csv', 'parquet', 'vllm'] as const

const summaryOptions = () =>
  command('summary', {
    does: 'Print the figures of a run: terminal, Markdown, JSON, CSV, Parquet, vLLM block.',
    examples: ['summary', 'summary latest --format md --out summary.md'],
  })
    .argument('[run]', 'its id, the beginning of one, or latest', 'latest')
    .addOption(storeOption())
    .addOption(choice('--format <format>', 'output format', summaryFormats).default('terminal'))
    .addOption(outputOption('--out <file>', 'output file; default: standard output'))
    .addOption(contractOption())
    .option('--json', 'the same as --format json')

export type Options = OptionsOf<typeof summaryOptions>

export const summaryCommand = () =>
  summaryOptions().action(async (run, options) =>
    (await import('../runs/summary.ts')).summaryAction(run, options),
  )
