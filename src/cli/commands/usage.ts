import type { Command } from 'commander'
import { creditsFields } from '../../probe/usage-body.ts'
import { usageDimensions } from '../../report/pages.ts'
import type { Options, WatchFlags } from '../usage.ts'
import type { CloseFlags, InitFlags } from '../usage-clickhouse.ts'
import {
  accountOption,
  choice,
  command,
  contractOption,
  engineOption,
  inputOption,
  keysOption,
  liveOption,
  storeOption,
} from './command.ts'

/** `assay usage [run…]`: prints usage and when credits run out; `assay usage watch` polls. */
export const usageCommand = () =>
  command('usage', {
    does: 'Print what was used, when credits run out, and what to buy.',
    examples: [
      'usage --timezone Europe/Berlin',
      'usage --account acct-204 --by key --json',
      'usage --quarters quarters.parquet',
    ],
    sends: false,
  })
    .argument('[run...]', 'ids of runs; default: all runs and imported logs')
    .addOption(storeOption())
    .option(
      '--from <date>',
      'first day or time; default: the first day of usage, at most 31 days back',
    )
    .option('--to <date>', 'end, exclusive; default: the last day of usage')
    .option('--timezone <zone>', 'IANA zone of days and hours', 'UTC')
    .addOption(choice('--by <what>', 'what to split usage by', usageDimensions).default('model'))
    .option('--source <name...>', 'only these imported logs', [])
    .addOption(accountOption())
    .addOption(keysOption())
    .addOption(engineOption())
    .addOption(
      inputOption(
        '--quarters <file>',
        'Parquet with sums per quarter of an hour, instead of the store',
      ),
    )
    .addOption(
      inputOption(
        '--grants <file>',
        'YAML list of the credits that you hold: name, credits, expires',
      ),
    )
    .addOption(inputOption('--key-names <file>', 'YAML with names of keys by fingerprint'))
    .option('--credit-price <usd>', 'price of a credit in US dollars, to show costs in money')
    .option('--seed <number>', 'seed of the forecast', '1')
    .addOption(contractOption())
    .option('--json', 'print everything as JSON')
    .action(async (runs: readonly string[], options: Options) =>
      (await import('../usage.ts')).usageAction(runs, options),
    )
    .addCommand(watchCommand())
    .addCommand(initCommand())
    .addCommand(closeCommand())

const watchCommand = () =>
  command('watch', {
    does: 'Poll GET /user/credits and store the answers.',
    examples: [
      'usage watch --base-url http://127.0.0.1:8787 --every 30',
      'usage watch --base-url http://127.0.0.1:8787 --field consumed=usage.total --count 10',
    ],
    sends: true,
  })
    .requiredOption('--base-url <url>', 'the service')
    .addOption(storeOption())
    .addOption(engineOption())
    .option('--every <seconds>', 'time between polls', '60')
    .option('--count <polls>', 'stop after so many polls; default: at Ctrl-C')
    .option(
      '--field <name=path...>',
      `path of a field in the answer: ${creditsFields.join(', ')}`,
      [],
    )
    .addOption(liveOption())
    .option('--json', 'print a line of JSON for each poll')
    .action(async (_: unknown, watch: Command) =>
      // Commander gives options that `usage` also has to `usage`, so they are read with optsWithGlobals.
      (await import('../usage.ts')).watchAction(watch.optsWithGlobals<WatchFlags>()),
    )

const initCommand = () =>
  command('init', {
    does: 'Create the usage tables that are missing in ClickHouse.',
    examples: [
      'usage init --engine clickhouse://127.0.0.1:8123/usage',
      'usage init --engine clickhouse://127.0.0.1:8123/usage --cluster main --print',
    ],
    sends: false,
  })
    .addOption(engineOption('the database'))
    .option('--cluster <name>', 'distribute them over the shards of this cluster')
    .option('--print', 'print the statements without running them')
    .action(async (_: unknown, init: Command) =>
      (await import('../usage-clickhouse.ts')).initAction(init.optsWithGlobals<InitFlags>()),
    )

const closeCommand = () =>
  command('close', {
    does: 'Sum finished UTC days into quarters of an hour in ClickHouse.',
    examples: [
      'usage close --engine clickhouse://127.0.0.1:8123/usage --to 2026-11-01',
      'usage close --engine clickhouse://127.0.0.1:8123/usage --from 2026-10-30 --to 2026-11-01',
    ],
    sends: false,
  })
    .addOption(engineOption('the database'))
    .option('--from <date>', 'first day, to close days again; default: the first open day')
    .option('--to <date>', 'end, exclusive; no more events of earlier days are expected')
    .action(async (_: unknown, close: Command) =>
      (await import('../usage-clickhouse.ts')).closeAction(close.optsWithGlobals<CloseFlags>()),
    )
