import { choice, command, type OptionsOf, storeOption } from './command.ts'

const calibrateOptions = () =>
  command('calibrate', {
    does: 'Measure what this machine can send, against a built-in server that does nothing.',
    examples: ['calibrate', 'calibrate --threads 2 --seconds 10', 'calibrate --with autocannon'],
  })
    .addOption(storeOption('the store that keeps the figures'))
    .option('--threads <number>', 'sending threads', '1')
    .option('--seconds <number>', 'length of each measurement', '5')
    .addOption(
      choice(
        '--with <client>',
        'measure plain requests with another client, too, as a cross-check',
        ['autocannon'],
      ),
    )
    .option('--json', 'print the figures as JSON')

export type Options = OptionsOf<typeof calibrateOptions>

export const calibrateCommand = () =>
  calibrateOptions().action(async (options) =>
    (await import('../services/calibrate.ts')).calibrateAction(options),
  )
