import { command, type OptionsOf, outputOption, storeOption } from './command.ts'

const demoOptions = () =>
  command('demo', {
    does: 'Run, audit and report against a built-in service.',
    examples: ['demo', 'demo --db demo.duckdb --out demo.html'],
  })
    .addOption(storeOption())
    .addOption(outputOption('--out <file>', 'the report').default('assay-report.html'))

export type Options = OptionsOf<typeof demoOptions>

export const demoCommand = () =>
  demoOptions().action(async (options) => (await import('../runs/demo.ts')).demoAction(options))
