import { focusVersions } from '../../report/focus/columns.ts'
import { focusViews } from '../../report/pages.ts'
import { exportable, exportFormats } from '../../store/files/export.ts'
import { sumDimensions } from '../../store/quarters/sums.ts'
import { userError } from '../../user/user-error.ts'
import {
  accountOption,
  choice,
  choiceArgument,
  command,
  contractOption,
  engineOption,
  inputOption,
  keysOption,
  type OptionsOf,
  outputOption,
  quartersOption,
  storeOption,
} from './command.ts'

const exportOptions = () =>
  command('export', {
    does: 'Write rows of the store to a file for other tools, or to replay them.',
    examples: [
      'export attempts --out attempts.parquet',
      'export sums --by day,model --timezone Europe/Berlin --out sums.csv',
    ],
  })
    .addArgument(choiceArgument('<what>', 'which rows', [...exportable, 'sums', 'focus']))
    .addOption(
      outputOption(
        '--out <file>',
        'output file: .parquet, .csv, .json or .jsonl',
      ).makeOptionMandatory(),
    )
    .addOption(
      choice(
        '--format <format>',
        'output format; default: from the ending of the file',
        exportFormats,
      ),
    )
    .option('--run <run...>', 'only these runs', [])
    .addOption(accountOption('only rows of this account'))
    .addOption(keysOption('only rows of these keys, by name or fingerprint'))
    .addOption(inputOption('--key-names <file>', 'YAML with names of keys by fingerprint'))
    .addOption(storeOption())
    .addOption(engineOption('sums, quarters: ClickHouse instead of the store'))
    .addOption(quartersOption('sums: '))
    .addOption(contractOption())
    .option('--by <list>', `sums: by which of ${sumDimensions.join(', ')}, tag:NAME`, 'day,model')
    .option('--timezone <zone>', 'sums: IANA zone of hours, days and months', 'UTC')
    .option('--from <date>', 'sums: first day or time; focus: the first day of a month, UTC')
    .option('--to <date>', 'sums: end, exclusive; focus: the first day of the next month')
    .addOption(
      choice('--bucket <length>', 'focus: time of a charge', ['hour', 'day']).default('hour'),
    )
    .option('--product <name>', 'focus: the service, who issues the invoice')
    .option('--label <name>', 'focus: the name of the account')
    .option('--currency <code>', 'focus: ISO 4217 code of the invoice', 'USD')
    .option('--credit-price <amount>', 'focus: price of a credit in the currency')
    .option('--invoice <id>', 'focus: the invoice of the period')
    .addOption(
      choice('--focus <version>', 'focus: version of the specification', focusVersions).default(
        '1.2',
      ),
    )
    .addOption(
      choice('--focus-currency <name>', 'focus: what credits are called', [
        'Credits',
        'XXX',
      ]).default('Credits'),
    )
    .addOption(
      choice(
        '--focus-view <view>',
        'focus: what is billed, or what each use cost',
        focusViews,
      ).default('billing'),
    )
    .option('--strict', 'focus: write nothing if a cost is unknown')
    .option('--json', 'print what was written as JSON')

export type Options = OptionsOf<typeof exportOptions>

export const exportCommand = () =>
  exportOptions().action(async (what, options) => {
    if (what === 'sums') return (await import('../usage/export-sums.ts')).exportSumsAction(options)
    if (what === 'quarters' && options.engine !== undefined && options.quarters === undefined)
      return (await import('../usage/export-sums.ts')).exportQuartersAction(options)
    const elsewhere = (['engine', 'quarters'] as const).find((name) => options[name] !== undefined)
    if (elsewhere !== undefined) {
      throw userError.usage(
        `--${elsewhere} with export ${what}: only sums, and quarters by --engine, come from elsewhere; ${what} are rows of a store (--db).`,
      )
    }
    if (what === 'focus')
      return (await import('../usage/export-focus.ts')).exportFocusAction(options)
    return (await import('../runs/export.ts')).exportAction(what, options)
  })
