import type { Options } from '../import.ts'
import {
  choice,
  command,
  engineOption,
  inputArgument,
  inputOption,
  outputOption,
  storeOption,
} from './command.ts'

/** `assay import <file…>`: imports usage logs by a mapping, or per-request records of other tools. */
export const importCommand = () =>
  command('import', {
    does: "Import usage logs (JSON Lines, CSV, Parquet) or other tools' records.",
    examples: [
      'import usage.jsonl --map mapping.yaml',
      'import profile_export.jsonl --model svc-k2',
      'import usage.jsonl --map mapping.yaml --engine clickhouse://127.0.0.1:8123/usage',
    ],
    sends: false,
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
    .option('--source <name>', 'ids are unique within a source; default: the name of the file')
    .addOption(
      choice('--format <format>', 'the format, if the name of the file does not show it', [
        'jsonl',
        'csv',
        'parquet',
        'aiperf',
        'vllm',
        'guidellm',
      ]),
    )
    .addOption(outputOption('--rejects <file>', 'where bad lines go; default: FILE.rejects.jsonl'))
    .option('--partial', 'take the whole lines of a file that ends in the middle')
    .option(
      '--max-rejects <share>',
      'exit with 3 if more than this share of a log is rejected',
      '0.01',
    )
    .option('--model <name>', 'the model, for records without one (AIPerf)')
    .addOption(storeOption())
    .addOption(engineOption())
    .option('--json', 'print the counts of each file as JSON')
    .action(async (files: readonly string[], options: Options) =>
      (await import('../import.ts')).importAction(files, options),
    )
