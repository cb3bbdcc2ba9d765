import type { Options } from '../probe.ts'
import { command, contractOption, gather, storeOption } from './command.ts'

/** `assay probe`: answers to what the specification leaves open. */
export const probeCommand = () =>
  command('probe', {
    does: 'Ask a deployment what the specification leaves open, and write its profile.',
    examples: [
      'probe --base-url http://127.0.0.1:8787 --max-credits 400',
      'probe --base-url http://127.0.0.1:8787 --only G-12,G-22',
    ],
    sends: true,
    notes: [
      'A second key of the same account in ASSAY_API_KEY_2 shows what new keys inherit.',
      'A probe waits for minutes where a limit must be idle or used up: about ten in all.',
    ],
  })
    .option('--base-url <url>', 'the service')
    .addOption(storeOption())
    .option('--max-credits <number>', 'the most that the probe may spend', '600')
    .option('--out <file>', 'the profile', 'profile.yaml')
    .option('--diff <file>', 'an older profile: print what changed since')
    .addOption(contractOption())
    .option(
      '--only <gaps>',
      'only these questions, as G-12,G-22; their answers join an existing profile',
      gather,
      [],
    )
    .option(
      '--header <header>',
      "sent with each request, as 'x-route: a'; $NAME in it is a variable; repeat for more",
      gather,
      [],
    )
    .option('--time-scale <factor>', 'seconds of service time per second', '1')
    .option(
      '--operator <url>',
      "a service of this machine that was started with --operator (key: ASSAY_OPERATOR_KEY): moves its clock and the key's balance, for questions that take them",
    )
    .option('--dry-run', 'print the cost in each band; send nothing')
    .option('--json', 'print the profile (and the changes) as JSON')
    .action(async (options: Options) => (await import('../probe.ts')).probeAction(options))
