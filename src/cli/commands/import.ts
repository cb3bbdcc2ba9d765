import {
  dateOrders,
  decimalMarks,
  partPlaces,
  repeatedTimes,
} from '../../store/import/cell-formats.ts'
import { words } from '../../user/words.ts'
import {
  choice,
  command,
  engineOption,
  gather,
  inputArgument,
  inputOption,
  type OptionsOf,
  outputOption,
  storeOption,
} from './command.ts'

const importOptions = () =>
  command('import', {
    does: "Import usage logs (JSON Lines, CSV, Parquet) or other tools' records.",
    examples: [
      'import usage.jsonl --map mapping.yaml',
      'import profile_export.jsonl --model svc-k2',
      'import usage.jsonl --map mapping.yaml --engine clickhouse://127.0.0.1:8123/usage',
    ],
  })
    .addArgument(
      inputArgument('<file...>', 'logs, or records of AIPerf, vllm bench serve or GuideLLM'),
    )
    .addOption(
      inputOption(
        '--map <file>',
        'YAML: which column is which field; "assay" for an export of Assay',
      ),
    )
    .option(
      '--source <name>',
      'the service that wrote the log: ids are unique within it; default: by the format, or the name of the mapping',
    )
    .option('--suggest', 'print a mapping to begin with, and import nothing')
    .option('--check', 'say what would be imported, and import nothing')
    .addOption(
      choice(
        '--format <format>',
        'the format, if the name of the file does not show it',
        words('jsonl csv parquet aiperf vllm guidellm'),
      ),
    )
    .addOption(outputOption('--rejects <file>', 'where bad lines go; default: FILE.rejects.jsonl'))
    .addOption(
      inputOption('--contract <file>', 'contract with prices, which give lines without a cost one'),
    )
    .option('--partial', 'take the whole lines of a cut file, or one page of several')
    .option('--bucket <width>', 'width of the intervals of sums without an end: 15m, 1h, 1d')
    .addOption(choice('--decimal <mark>', 'decimal mark of numbers in text', decimalMarks))
    .addOption(choice('--date-order <order>', 'order of dates such as 03/11/2026', dateOrders))
    .option('--timezone <zone>', 'IANA zone of times without an offset')
    .addOption(
      choice(
        '--ambiguous <which>',
        'a local time that occurs twice; default: by the order of lines',
        repeatedTimes,
      ),
    )
    .addOption(
      choice('--cached <how>', 'whether the prompt tokens contain cached ones', partPlaces),
    )
    .option(
      '--tag <name=column>',
      'an own dimension, such as team=metadata.team; repeatable',
      gather,
      [] as readonly string[],
    )
    .option(
      '--max-rejects <share>',
      'exit with 3 if more than this share of a log is rejected',
      '0.01',
    )
    .option('--model <name>', 'the model, for records without one (AIPerf)')
    .addOption(storeOption())
    .addOption(engineOption())
    .option('--json', 'print the counts of each file as JSON')

export type Options = OptionsOf<typeof importOptions>

export const importCommand = () =>
  importOptions().action(async (files, options) =>
    (await import('../usage/import.ts')).importAction(files, options),
  )
