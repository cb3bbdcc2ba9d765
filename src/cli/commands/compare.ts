import {
  choice,
  command,
  contractOption,
  gather,
  inputOption,
  type OptionsOf,
  otherStoreOption,
  outputOption,
  storeOption,
} from './command.ts'

const compareOptions = () =>
  command('compare', {
    does: 'Compare two runs, with intervals; or, with --rule, the audits of two services.',
    examples: [
      'compare previous latest',
      'compare latest --history p95',
      'compare before after --fail-on "p95 > +10%"',
      'compare --rule SOLD --db one.duckdb --db-b two.duckdb --contract shop.yaml',
    ],
  })
    .argument(
      '[a]',
      'the baseline run: its id, the beginning of one, latest, or previous; with --rule by default every run against the base URL of the newest one',
    )
    .argument('[b]', 'the run to compare with it; not with --history')
    .addOption(storeOption())
    .option('--all', 'print every metric of every step, not only significant changes')
    .addOption(otherStoreOption('--db-b <file>', 'the store of run b, if it is another'))
    .addOption(
      choice('--format <format>', 'output format', ['terminal', 'md', 'json', 'html']).default(
        'terminal',
      ),
    )
    .addOption(
      outputOption('--out <file>', 'output file of --format html').default('assay-compare.html'),
    )
    .option(
      '--fail-on <condition...>',
      'exit with 3 if a condition holds: "p95 > +10%", "errors > +1%"',
      [],
    )
    .option(
      '--history <figure>',
      'the runs at which a figure changed, among all of the scenario of a: "chat.ttft.p95"',
    )
    .option(
      '--rule <id>',
      'audit both by a rule such as SOLD-01 or a family such as SOLD, side by side; may be repeated',
      gather,
      [],
    )
    .addOption(contractOption())
    .addOption(inputOption('--contract-b <file>', 'the promises of b, if they are others'))
    .option('--json', 'the same as --format json')

export type Options = OptionsOf<typeof compareOptions>

export const compareCommand = () =>
  compareOptions().action(async (a, b, options) =>
    (await import('../runs/compare.ts')).compareAction(a, b, options),
  )
