import { pageNames, pageReaders, textFormats } from '../../report/pages.ts'
import {
  accountOption,
  byOption,
  choice,
  choiceArgument,
  command,
  contractOption,
  engineOption,
  gather,
  givenTo,
  inputOption,
  keysOption,
  type OptionsOf,
  outputOption,
  picturesOption,
  quartersOption,
  storeOption,
  uploadOption,
} from './command.ts'

const reportOptions = () =>
  command('report', {
    does: 'Make a page about runs: one HTML file that opens offline.',
    examples: ['report launch', 'report usage --timezone Europe/Berlin --by key --out usage.html'],
  })
    .addArgument(choiceArgument('<page>', 'which page', pageNames))
    .argument('[run...]', 'ids of runs; default: the newest run, or all for usage')
    .addOption(storeOption())
    .addOption(
      outputOption(
        '--out <file>',
        'output file; default: assay-<page>.html, or standard output for text',
      ),
    )
    .addOption(
      choice('--format <format>', 'output format', ['html', ...textFormats]).default('html'),
    )
    .option('--timezone <zone>', 'IANA zone of hours and days', 'UTC')
    .option(
      '--from <date>',
      'usage: first date or time; default: the first day of usage, at most 31 days back',
    )
    .option('--to <date>', 'usage: end, exclusive; default: the end of the last day of usage')
    .addOption(byOption('usage: how to stack the bars'))
    .option('--source <name...>', 'usage: only these imported logs', [])
    .addOption(accountOption('usage: only the usage of this account'))
    .addOption(keysOption('usage: only these keys, by name or fingerprint'))
    .addOption(engineOption('usage: ClickHouse instead of the store'))
    .addOption(quartersOption('usage: '))
    .addOption(
      inputOption(
        '--grants <file>',
        'usage: YAML list of the credits that you hold: name, credits, expires',
      ),
    )
    .addOption(inputOption('--key-names <file>', 'usage: YAML with names of keys by fingerprint'))
    .option(
      '--credit-price <usd>',
      'usage: price of a credit in US dollars, to show costs in money',
    )
    .option('--reports <folder>', 'your own charts, as NN-name.sql and NN-name.vl.json')
    .addOption(contractOption())
    .addOption(inputOption('--profile <file>', 'audit: the profile that assay probe wrote'))
    .addOption(
      picturesOption('--png <folder>', 'also write each chart as a picture into this folder'),
    )
    .addOption(
      choice(
        '--for <reader>',
        'for whom the page is: customer of usage, vendor of the audit',
        pageReaders,
      ).default('operator'),
    )
    .addOption(
      inputOption(
        '--settings <file>',
        'usage: words, names, colours and budgets of customers; with --by account, one row for each customer',
      ),
    )
    .addOption(
      picturesOption(
        '--each <folder>',
        "usage --by account with --settings: also write each customer's page into this folder",
      ),
    )
    .addOption(
      inputOption('--log <file>', "audit for the vendor: the service's own log, as in assay audit"),
    )
    .option('--alone', 'audit for the vendor: judge the log by itself, without runs')
    .option(
      '--anonymous',
      'audit for the vendor: numbers in place of the names of accounts and keys',
    )
    .option(
      '--choose <factor=choice>',
      'audit for the vendor: the choice of a factor of the prices; may be repeated',
      gather,
      [],
    )
    .addOption(uploadOption())
    .option('--json', 'print the names of the written files as JSON')

export type Options = OptionsOf<typeof reportOptions>

export const reportCommand = () =>
  reportOptions().action(async (page, runIds, options, report) =>
    (await import('../runs/report.ts')).reportAction(page, runIds, options, givenTo(report)),
  )
