import type { Command } from 'commander'
import { creditsFields } from '../../probe/usage-body.ts'
import { usageDimensions } from '../../report/usage/shape.ts'
import type { Options, WatchFlags } from '../usage.ts'
import { choice, command, contractOption, storeOption } from './command.ts'

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
    .option('--quarters <file>', 'Parquet of sums by quarter of an hour, in place of the store')
    .option('--grants <file>', 'YAML list of credits held: name, credits, expires')
    .option('--seed <number>', 'seed of the forecast', '1')
    .addOption(contractOption())
    .option('--json', 'print everything as JSON')
    .action(async (runs: readonly string[], options: Options) =>
      (await import('../usage.ts')).usageAction(runs, options),
    )
    .addCommand(watchCommand())

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
    .option('--every <seconds>', 'time between polls', '60')
    .option('--count <polls>', 'stop after so many; default: Ctrl-C')
    .option('--field <name=path...>', `where the answer holds ${creditsFields.join(', ')}`, [])
    .option('--json', 'print a line of JSON for each poll')
    .action(async (_: unknown, watch: Command) =>
      // `usage` has options of the same names: the nearer ones are meant.
      (await import('../usage.ts')).watchAction(watch.optsWithGlobals<WatchFlags>()),
    )
