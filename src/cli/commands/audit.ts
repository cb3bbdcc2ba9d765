import {
  choice,
  command,
  contractOption,
  gather,
  inputArgument,
  inputOption,
  type OptionsOf,
  storeOption,
} from './command.ts'

export const auditFormats = ['text', 'json', 'junit', 'sarif', 'md'] as const

const auditOptions = () =>
  command('audit', {
    does: 'Judge recorded runs by every rule, with verdict and evidence.',
    examples: ['audit', 'audit latest --rule BILL --format sarif', 'audit --explain BILL-11'],
    sends: true,
    notes: ['It sends requests only with --log and an address.'],
  })
    .argument('[run...]', 'ids of runs; default: every run against the base URL of the newest one')
    .addOption(storeOption())
    .option(
      '--rule <id>',
      'a rule such as BILL-11 or a family such as BILL; may be repeated',
      (value: string, before: readonly string[]) => [...before, ...value.split(',')],
      [],
    )
    .option(
      '--explain [rule]',
      'print how rules decide and what they cannot detect; may be repeated',
      (value: string, before: true | readonly string[] | undefined) => [
        ...(before === true || before === undefined ? [] : before),
        ...value.split(','),
      ],
    )
    .option('--again <rule>', 'print the command that reproduces a failed rule')
    .addOption(
      contractOption(
        'the promises of the service (YAML); default: svc if it is known as svc, else only the formats',
      ),
    )
    .addOption(
      inputOption(
        '--profile <file>',
        'the profile that assay probe wrote; some rules decide more with it',
      ),
    )
    .addOption(
      inputOption(
        '--log <file>',
        "the service's own log of the requests (JSON, one object a line, or CSV), or the service's address to fetch it from",
      ),
    )
    .addOption(
      inputOption(
        '--evidence <folder>',
        'check a folder that report audit --for vendor wrote, without a store',
      ),
    )
    .option('--alone', 'judge the log of --log by itself, without the runs of the store')
    .option(
      '--choose <factor=choice>',
      'the choice of a factor of the prices, as group=vip; may be repeated',
      gather,
      [],
    )
    .option('--accounts <index/count>', 'judge a share of the accounts, as 3/16; see audit merge')
    .addOption(formatOption())
    .option('--json', 'the same as --format json')
    .option('--verbose', verboseDoes)
    .option('--strict', strictDoes)

export type Options = OptionsOf<typeof auditOptions>

export const auditCommand = () =>
  auditOptions()
    .action(async (runIds, options) =>
      (await import('../audits/audit.ts')).auditAction(runIds, options),
    )
    .addCommand(mergeCommand())

const formatOption = () =>
  choice('--format <format>', 'output format', auditFormats).default('text')
const verboseDoes = 'also list what was not observed and what is not promised'
const strictDoes = 'also exit with 3 for an inconclusive rule'

const mergeOptions = () =>
  command('merge', {
    does: 'Merge the reports on shares of the accounts into one audit, and store it.',
    examples: [
      'audit --accounts 0/2 --json > 0.json',
      'audit merge 0.json 1.json --db launch-7.duckdb',
    ],
  })
    .addArgument(inputArgument('<reports...>', 'the JSON report on each share'))
    // Commander gives options that audit also has to audit, so they are read with optsWithGlobals.
    .addOption(storeOption('the store that was judged'))
    .addOption(formatOption())
    .option('--json', 'the same as --format json')
    .option('--verbose', verboseDoes)
    .option('--strict', strictDoes)

export type MergeOptions = OptionsOf<typeof mergeOptions>

const mergeCommand = () =>
  mergeOptions().action(async (paths, _, merge) =>
    (await import('../audits/audit.ts')).mergeAuditsAction(paths, merge.optsWithGlobals()),
  )
