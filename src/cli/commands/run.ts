import {
  command,
  contractOption,
  inputArgument,
  joinOption,
  joinTimeoutOption,
  liveOption,
  type OptionsOf,
  otlpOption,
  otlpSpansOption,
  outputOption,
  storeOption,
  uploadOption,
} from './command.ts'

const runOptions = () =>
  command('run', {
    does: 'Send the load of a scenario and keep every attempt in the store.',
    examples: [
      'run scenarios/quick.yaml --base-url http://127.0.0.1:8787',
      'run scenarios/poisson.yaml --rate 50/s --duration 30s --dry-run',
    ],
    sends: true,
  })
    .addArgument(
      inputArgument('<scenario>', 'a YAML file, or a .ts or .js module made by defineScenario'),
    )
    .option('--base-url <url>', 'the service; default: base_url of the scenario')
    .addOption(storeOption())
    .option('--seed <number>', 'another seed than that of the scenario')
    .option('--rate <rate>', 'the mean rate of every open phase, as 50/s')
    .option('--duration <time>', 'the same duration for every phase that has one, as 30s')
    .option('--max-credits <number>', 'stop before the run spends more credits')
    .option('--max-cost <amount>', "stop before the run spends more, in the contract's currency")
    .option(
      '--repeat <number>',
      'run it so often, each with a fresh start and the next seed, for compare',
    )
    .option(
      '--before-each <command>',
      'with --repeat: a shell command before each run, to restart the service',
    )
    .option('--shard <index/count>', 'send one part of the load, as 3/8; indexes begin at 0')
    .option('--run-id <id>', 'a name for the run; the same for every shard')
    .option(
      '--start-at <time>',
      'the start time, as 2026-12-01T10:00:00Z; the same for every shard',
    )
    .addOption(joinOption())
    .addOption(joinTimeoutOption())
    .option('--time-scale <factor>', 'seconds of service time per second', '1')
    .addOption(contractOption())
    .option('--no-first-requests', 'send no single requests before the load')
    .option('--yes', 'spend more than 1,000 credits or 1 USD on another machine without asking')
    .option('--dry-run', 'check the scenario and print its plan; send nothing')
    .addOption(
      outputOption('--junit <file>', 'write the verdict and each threshold as JUnit XML, for CI'),
    )
    .addOption(uploadOption())
    .addOption(otlpOption())
    .addOption(otlpSpansOption())
    .addOption(liveOption())
    .option('--json', 'print the summary as JSON')

export type Options = OptionsOf<typeof runOptions>

export const runCommand = () =>
  runOptions().action(async (path, options) =>
    (await import('../runs/run.ts')).runAction(path, options),
  )
