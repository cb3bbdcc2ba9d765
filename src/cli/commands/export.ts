import { type Exportable, exportable, exportFormats } from '../../store/export.ts'
import type { Options } from '../export.ts'
import {
  accountOption,
  choice,
  choiceArgument,
  command,
  contractOption,
  inputOption,
  keysOption,
  outputOption,
  storeOption,
} from './command.ts'

/** `assay export <what>`: writes rows of the store as Parquet, CSV, JSON or JSON Lines. */
export const exportCommand = () =>
  command('export', {
    does: 'Write rows of the store to a file for other tools, or to replay them.',
    examples: ['export attempts --out attempts.parquet', 'export usage --out usage.csv'],
    sends: false,
  })
    .addArgument(choiceArgument('<what>', 'which rows', exportable))
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
    .addOption(contractOption())
    .option('--json', 'print what was written as JSON')
    .action(async (what: Exportable, options: Options) =>
      (await import('../export.ts')).exportAction(what, options),
    )
