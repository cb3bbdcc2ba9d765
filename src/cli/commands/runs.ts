import { command, type OptionsOf, storeOption } from './command.ts'

const runsOptions = () =>
  command('runs', {
    does: 'List the runs in the store, newest first.',
    examples: ['runs', 'runs --db launch.duckdb --json'],
  })
    .addOption(storeOption())
    .option('--json', 'print the list as JSON')

export type Options = OptionsOf<typeof runsOptions>

export const runsCommand = () =>
  runsOptions().action(async (options) => (await import('../runs/runs.ts')).runsAction(options))
