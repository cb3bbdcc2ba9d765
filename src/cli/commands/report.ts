import { type PageName, pageNames, textFormats, usageDimensions } from '../../report/pages.ts'
import type { Options } from '../report.ts'
import {
  choice,
  choiceArgument,
  command,
  contractOption,
  engineOption,
  storeOption,
  uploadOption,
} from './command.ts'

/** `assay report <page> [run…]`: a page that needs nothing else, made from the store. */
export const reportCommand = () =>
  command('report', {
    does: 'Make a page about runs: one HTML file that opens offline.',
    examples: ['report launch', 'report usage --timezone Europe/Berlin --by key --out usage.html'],
    sends: false,
  })
    .addArgument(choiceArgument('<page>', 'which page', pageNames))
    .argument('[run...]', 'ids of runs; default: the newest, for usage all')
    .addOption(storeOption())
    .option('--out <file>', 'output file; default: assay-<page>.html, for text standard output')
    .addOption(
      choice('--format <format>', 'output format', ['html', ...textFormats]).default('html'),
    )
    .option('--timezone <zone>', 'IANA zone of hours and days', 'UTC')
    .option(
      '--from <date>',
      'usage: first date or moment; default: the first day of usage, at most 31 days back',
    )
    .option('--to <date>', 'usage: end, exclusive; default: the end of the last day of usage')
    .addOption(
      choice('--by <dimension>', 'usage: what the bars are stacked by', usageDimensions).default(
        'model',
      ),
    )
    .option('--source <name...>', 'usage: only these imported logs', [])
    .addOption(engineOption('usage: ClickHouse in place of the store'))
    .option(
      '--quarters <file>',
      'usage: Parquet of sums by quarter of an hour, in place of the store',
    )
    .option('--grants <file>', 'usage: YAML list of credits held: name, credits, expires')
    .option('--key-names <file>', 'usage: YAML of names of keys by their fingerprint')
    .option('--credit-price <usd>', 'usage: what a credit costs, for a cost in money')
    .option('--reports <folder>', 'charts of your own, as NN-name.sql and NN-name.vl.json')
    .addOption(contractOption())
    .option('--profile <file>', 'audit: the profile by assay probe')
    .option('--png <folder>', 'also write each chart as a picture into this folder')
    .addOption(uploadOption())
    .option('--json', 'print the names of the written files as JSON')
    .action(async (page: PageName, runIds: readonly string[], options: Options) =>
      (await import('../report.ts')).reportAction(page, runIds, options),
    )
