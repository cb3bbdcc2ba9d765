import { command, contractOption, type OptionsOf, storeOption, storesArgument } from './command.ts'

const mergeOptions = () =>
  command('merge', {
    does: 'Merge the shards of several machines into one run, and judge it.',
    examples: [
      'merge out/0.duckdb out/1.duckdb --db launch-7.duckdb --clock-error 5ms',
      'merge out/*.duckdb --db launch-7.duckdb --allow-missing',
    ],
  })
    .addArgument(storesArgument('<stores...>', 'the store of each shard'))
    .addOption(storeOption('the store of the whole run'))
    .option('--allow-missing', 'judge without the shards that are missing; the run is invalid')
    .option(
      '--clock-error <time>',
      'the largest distance between the clocks of the machines, as 5ms',
    )
    .addOption(contractOption())
    .option('--json', 'print the summary as JSON')

export type Options = OptionsOf<typeof mergeOptions>

export const mergeCommand = () =>
  mergeOptions().action(async (paths, options) =>
    (await import('../runs/merge.ts')).mergeAction(paths, options),
  )
