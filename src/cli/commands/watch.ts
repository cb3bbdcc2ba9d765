import { command, joinOption, joinTimeoutOption, type OptionsOf } from './command.ts'

const watchOptions = () =>
  command('watch', {
    does: 'Show a run on several machines while it lasts, all shards in one view.',
    examples: [
      'watch launch-7 --join nats://10.0.0.7:4222',
      'watch launch-7 --join nats://10.0.0.7:4222 --stop',
    ],
  })
    .argument('<run>', 'the --run-id of its shards')
    .addOption(joinOption().makeOptionMandatory())
    .addOption(joinTimeoutOption())
    .option('--stop', 'end the load on every machine; what is in flight ends first')
    .option('--json', 'print what is known as a line of JSON each second')

export type Options = OptionsOf<typeof watchOptions>

export const watchCommand = () =>
  watchOptions().action(async (run, options) =>
    (await import('../services/watch.ts')).watchAction(run, options),
  )
