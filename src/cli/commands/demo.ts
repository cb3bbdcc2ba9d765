import type { Options } from '../demo.ts'
import { command, outputOption, storeOption } from './command.ts'

/** `assay demo`: runs, audits and reports against a built-in service. */
export const demoCommand = () =>
  command('demo', {
    does: 'Run, audit and report against a built-in service.',
    examples: ['demo', 'demo --db demo.duckdb --out demo.html'],
    sends: false,
  })
    .addOption(storeOption())
    .addOption(outputOption('--out <file>', 'the report').default('assay-report.html'))
    .action(async (options: Options) => (await import('../demo.ts')).demoAction(options))
