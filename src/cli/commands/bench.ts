import { prompted } from '../../contract/request.ts'
import { budgetNames } from '../../scenario/loads.ts'
import {
  choice,
  command,
  contractOption,
  gather,
  inputOption,
  type OptionsOf,
  otlpOption,
  otlpSpansOption,
  outputOption,
  storeOption,
  uploadOption,
} from './command.ts'

const benchOptions = () =>
  command('bench', {
    does: 'Find the highest rate that a service sustains, and write the launch page. Needs no scenario file.',
    examples: [
      'bench http://127.0.0.1:8787 --model svc-k2',
      'bench http://127.0.0.1:8000/v1 --rate 20/s --duration 60s --slo "ttft.p95 < 800ms"',
      'bench http://127.0.0.1:8000 --users 50 --save launch.yaml',
    ],
    sends: true,
    notes: [
      'Without --rate or --users it searches, for at most five minutes: with a safe rate, or with a bracket that --continue narrows.',
      'Prompts are unique. --prefix-tokens gives all of them a common start, for a prefix cache.',
      'A service without keys needs none.',
    ],
  })
    .argument('[url]', 'the service, with or without /v1')
    .option('--model <name>', 'the model; default: the first that the service lists')
    .option('--rate <rate>', 'send this rate, as 20/s, instead of a search')
    .option(
      '--users <number>',
      'run this many users, each waiting for its answer, instead of a search',
    )
    .option('--duration <time>', 'how long with --rate or --users; default: 30s')
    .option('--max-rate <rate>', 'the highest rate of a search', '1000/s')
    .addOption(
      choice(
        '--budget <budget>',
        'what a search may spend; default: quick, for five minutes',
        budgetNames,
      ),
    )
    .option('--for <time>', 'most time of a search, as 10m; the largest budget that fits is used')
    .option('--continue', 'go on with the latest search of the store')
    .option('--prompt-tokens <number>', 'length of the prompts', '200')
    .option('--prefix-tokens <number>', 'tokens before each prompt that all prompts share', '0')
    .option(
      '--output-tokens <number>',
      'tokens of an answer, neither more nor fewer where the service can; default: at most 64',
    )
    .option('--no-enforce-output', 'take --output-tokens as the most tokens only')
    .option('--no-stream', 'request plain answers instead of streams')
    .addOption(choice('--endpoint <endpoint>', 'the request format', prompted).default('chat'))
    .option(
      '--slo <threshold>',
      "an objective such as 'ttft.p95 < 800ms'; may be repeated; default: ttft.p95 < 1s, without streams response.p95 < 10s",
      gather,
      [],
    )
    .option('--header <header>', "a further header, as 'x-team: a'; may be repeated", gather, [])
    .option(
      '--metrics <url>',
      "the service's metrics; may be repeated; default: look for them",
      gather,
      [],
    )
    .option('--no-metrics', 'do not look for the metrics of the service')
    .addOption(inputOption('--ca-file <file>', 'PEM file of further authorities to trust'))
    .option('--max-credits <number>', 'stop before the run spends more credits')
    .option('--seed <number>', 'another seed for prompts and arrivals')
    .addOption(contractOption())
    .addOption(storeOption())
    .addOption(outputOption('--out <file>', 'the launch page').default('assay-launch.html'))
    .addOption(outputOption('--save <file>', 'save the scenario to this file'))
    .addOption(uploadOption())
    .addOption(otlpOption())
    .addOption(otlpSpansOption())
    .option('--yes', 'spend without asking')
    .option('--json', 'print the summary as JSON')

export type Options = OptionsOf<typeof benchOptions>

export const benchCommand = () =>
  benchOptions().action(async (url, options) =>
    (await import('../runs/bench.ts')).benchAction(url, options),
  )
