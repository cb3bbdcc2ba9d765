import type { Options } from '../runs.ts'
import { command, storeOption } from './command.ts'

/** `assay runs`: lists the runs in the store. */
export const runsCommand = () =>
  command('runs', {
    does: 'List the runs in the store, newest first.',
    examples: ['runs', 'runs --db launch.duckdb --json'],
    sends: false,
  })
    .addOption(storeOption())
    .option('--json', 'print the list as JSON')
    .action(async (options: Options) => (await import('../runs.ts')).runsAction(options))
