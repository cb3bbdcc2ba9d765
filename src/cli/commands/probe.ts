import {
  command,
  contractOption,
  gather,
  type OptionsOf,
  olderOption,
  outputOption,
  storeOption,
} from './command.ts'

const probeOptions = () =>
  command('probe', {
    does: 'Find out what the specification leaves open, and write the profile of a deployment.',
    examples: [
      'probe --base-url http://127.0.0.1:8787 --max-credits 400',
      'probe --base-url http://127.0.0.1:8787 --only G-12,G-22',
      'probe --base-url https://api.example.com --contract shop.yaml --border-inputs data/first-tokens.txt',
    ],
    sends: true,
    notes: [
      'A second key of the same account in ASSAY_API_KEY_2 shows what new keys inherit.',
      'A probe takes about ten minutes, because some limits must be idle or used up.',
    ],
  })
    .option('--base-url <url>', 'the service')
    .addOption(storeOption())
    .option('--max-credits <number>', 'the most that the probe may spend', '600')
    .addOption(outputOption('--out <file>', 'the profile').default('profile.yaml'))
    .addOption(olderOption('--diff <file>', 'an older profile: print what changed since'))
    .addOption(contractOption())
    .option(
      '--only <gaps>',
      'only these questions, as G-12,G-22; answers are merged into an existing profile',
      gather,
      [],
    )
    .option(
      '--header <header>',
      "a header for each request, as 'x-route: a'; $NAME is a variable; may be repeated",
      gather,
      [],
    )
    .addOption(
      outputOption(
        '--border-inputs <file>',
        'in place of all questions: find 20 words with two likely first tokens, for integrity-session.yaml',
      ).conflicts(['only', 'diff', 'operator', 'json']),
    )
    .option('--time-scale <factor>', 'seconds of service time per second', '1')
    .option(
      '--operator <url>',
      'a service on this machine that runs with --operator (key: ASSAY_OPERATOR_KEY); some questions need its clock and balances moved',
    )
    .option('--dry-run', 'print the cost in each band; send nothing')
    .option('--json', 'print the profile (and the changes) as JSON')

export type Options = OptionsOf<typeof probeOptions>

export const probeCommand = () =>
  probeOptions().action(async (options) =>
    (await import('../audits/probe.ts')).probeAction(options),
  )
