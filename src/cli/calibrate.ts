import { Command } from 'commander'
import { calibrate } from '../run/calibrate.ts'
import { LiveView } from './live-view.ts'
import { positiveOf, wholeOf } from './numbers.ts'

interface Options {
  readonly db: string
  readonly threads: string
  readonly seconds: string
  readonly json?: boolean
}

/** `assay calibrate`: what this machine can send before it measures itself. */
export function calibrateCommand(): Command {
  return new Command('calibrate')
    .description(
      'Measures what this machine can send, against a built-in server that does nothing.',
    )
    .option('--db <file>', 'the store that keeps the figures', 'assay.duckdb')
    .option('--threads <number>', 'sending threads', '1')
    .option('--seconds <number>', 'length of each of the two measurements', '5')
    .option('--json', 'the figures as JSON')
    .action(async (options: Options) => {
      const live = new LiveView()
      const found = await calibrate({
        dbPath: options.db,
        threads: Math.max(1, wholeOf('--threads', options.threads)),
        seconds: positiveOf('--seconds', options.seconds),
        onProgress: (progress) => live.show(progress),
      })
      live.clear()
      process.stdout.write(
        options.json
          ? `${JSON.stringify(found, null, 2)}\n`
          : [
              `plain     ${found.plainPerS.toFixed(0)} requests/s, everything recorded`,
              `streams   ${found.eventsPerS.toFixed(0)} events/s`,
              `threads   ${found.threads}`,
              `Kept in ${options.db}; a run of ${found.threads} thread${found.threads === 1 ? '' : 's'} above 70 % of it says so.`,
              '',
            ].join('\n'),
      )
    })
}
