import type { Command } from 'commander'
import { creditsFields } from '../../probe/usage-body.ts'
import { usageDimensions } from '../../report/pages.ts'
import type { Options, WatchFlags } from '../usage.ts'
import type { CloseFlags, InitFlags } from '../usage-clickhouse.ts'
import {
  choice,
  command,
  contractOption,
  engineOption,
  liveOption,
  storeOption,
} from './command.ts'

/** `assay usage [run…]`: what was used, and when credits run out; `assay usage watch` polls. */
export const usageCommand = () =>
  command('usage', {
    does: 'Print what was used, when credits run out, and what to buy.',
    examples: [
      'usage --timezone Europe/Berlin',
      'usage --source march --by key --json',
      'usage --quarters quarters.parquet',
    ],
    sends: false,
  })
    .argument('[run...]', 'ids of runs; default: all runs and imported logs')
    .addOption(storeOption())
    .option(
      '--from <date>',
      'first day or moment; default: the first of usage, at most 31 days back',
    )
    .option('--to <date>', 'end, exclusive; default: the last day of usage')
    .option('--timezone <zone>', 'IANA zone of days and hours', 'UTC')
    .addOption(choice('--by <what>', 'how to split', usageDimensions).default('model'))
    .option('--source <name...>', 'only these imported logs', [])
    .addOption(engineOption())
    .option('--quarters <file>', 'Parquet of sums by quarter of an hour, in place of the store')
    .option('--grants <file>', 'YAML list of credits held: name, credits, expires')
    .option('--key-names <file>', 'YAML of names of keys by their fingerprint')
    .option('--credit-price <usd>', 'what a credit costs, for a cost in money')
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
    does: 'Poll GET /user/credits into the store.',
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
    .option('--count <polls>', 'stop after so many; default: Ctrl-C')
    .option('--field <name=path...>', `where the answer holds ${creditsFields.join(', ')}`, [])
    .addOption(liveOption())
    .option('--json', 'print a line of JSON for each poll')
    .action(async (_: unknown, watch: Command) =>
      // `usage` has options of the same names: the nearer ones are meant.
      (await import('../usage.ts')).watchAction(watch.optsWithGlobals<WatchFlags>()),
    )

const initCommand = () =>
  command('init', {
    does: 'Make the tables of usage in ClickHouse, where they are missing.',
    examples: [
      'usage init --engine clickhouse://127.0.0.1:8123/usage',
      'usage init --engine clickhouse://127.0.0.1:8123/usage --cluster main --print',
    ],
    sends: false,
  })
    .addOption(engineOption('the database'))
    .option('--cluster <name>', 'spread them over the shards of this cluster')
    .option('--print', 'print the statements, and run none')
    .action(async (_: unknown, init: Command) =>
      (await import('../usage-clickhouse.ts')).initAction(init.optsWithGlobals<InitFlags>()),
    )

const closeCommand = () =>
  command('close', {
    does: 'Keep days of UTC as quarters of an hour in ClickHouse.',
    examples: [
      'usage close --engine clickhouse://127.0.0.1:8123/usage --to 2026-11-01',
      'usage close --engine clickhouse://127.0.0.1:8123/usage --from 2026-10-30 --to 2026-11-01',
    ],
    sends: false,
  })
    .addOption(engineOption('the database'))
    .option('--from <date>', 'first day, to close days again; default: the first that is open')
    .option('--to <date>', 'end, exclusive: when no event of an earlier day comes any more')
    .action(async (_: unknown, close: Command) =>
      (await import('../usage-clickhouse.ts')).closeAction(close.optsWithGlobals<CloseFlags>()),
    )
