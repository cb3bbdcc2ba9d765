import { chargedOutcomes } from '../../contract/prices.ts'
import { words } from '../../user/words.ts'
import {
  choice,
  choiceArgument,
  command,
  gather,
  inputArgument,
  inputOption,
  type OptionsOf,
  outputOption,
} from './command.ts'

export const contractKinds = words('litellm openrouter new-api openai anthropic credits')

export const contractCommand = () =>
  command('contract', {
    does: 'Show a contract, compute a cost by it, write a first one, or traffic that shows its prices.',
    examples: [
      'contract show gateway.yaml',
      'contract cost gateway.yaml --model gpt-4o --usage usage.json',
    ],
  })
    .addCommand(showCommand())
    .addCommand(costCommand())
    .addCommand(initCommand())
    .addCommand(trafficCommand())

const showOptions = () =>
  command('show', {
    does: 'Print a contract whole, with every default as if it were written.',
    examples: ['contract show gateway.yaml', 'contract show gateway.yaml --json'],
  })
    .addArgument(inputArgument('<file>', 'the contract'))
    .option('--json', 'as JSON')

export type ShowOptions = OptionsOf<typeof showOptions>

const showCommand = () =>
  showOptions().action(async (file, options) =>
    (await import('../audits/contract.ts')).showContractAction(file, options),
  )

const costOptions = () =>
  command('cost', {
    does: 'Compute what a request costs by a contract, part by part.',
    examples: [
      'contract cost gateway.yaml --model gpt-4o --usage usage.json',
      'contract cost gateway.yaml --model gpt-4o --usage usage.json --service-tier flex --json',
    ],
    notes: ['It exits with 3 if the contract does not say what the request costs.'],
  })
    .addArgument(inputArgument('<file>', 'the contract'))
    .requiredOption('--model <name>', 'the id or an alias of a model of the contract')
    .addOption(
      inputOption(
        '--usage <file>',
        'the usage of an answer as the service sends it; - is stdin',
      ).makeOptionMandatory(),
    )
    .option('--at <time>', 'when the request was made, as 2026-11-25T14:00:00Z; default: now')
    .option('--service-tier <name>', "the service tier; default: the usage's own")
    .option('--group <name>', 'the choice of the factor `group`')
    .option(
      '--choose <factor=choice>',
      'the choice of another factor, as region=us; may be repeated',
      gather,
      [],
    )
    .addOption(
      choice('--outcome <outcome>', 'how the request ended', chargedOutcomes).default('success'),
    )
    .option('--counts <json>', 'calls and seconds beside usage, as {"search": 3, "second": 12.5}')
    .option('--json', 'as JSON, with exact decimals as text')

export type CostOptions = OptionsOf<typeof costOptions>

const costCommand = () =>
  costOptions().action(async (file, options) =>
    (await import('../audits/contract.ts')).costAction(file, options),
  )

const trafficOptions = () =>
  command('traffic', {
    does: 'Write the scenario whose requests show each part of each price, within a budget.',
    examples: [
      'contract traffic gateway.yaml',
      'contract traffic gateway.yaml --max-cost 0.50 --out audit-prices.yaml',
    ],
  })
    .addArgument(inputArgument('<contract>', 'the contract'))
    .option('--max-cost <amount>', "leave out what costs more, in the contract's currency")
    .addOption(outputOption('--out <file>', 'the scenario to write').default('audit-prices.yaml'))

export type TrafficOptions = OptionsOf<typeof trafficOptions>

const trafficCommand = () =>
  trafficOptions().action(async (file, options) =>
    (await import('../audits/contract-traffic.ts')).trafficAction(file, options),
  )

const initOptions = () =>
  command('init', {
    does: 'Write a first contract, with comments, for a kind of service.',
    examples: [
      'contract init openai',
      'contract init litellm --from http://127.0.0.1:4000 --out gateway.yaml',
    ],
    sends: true,
    notes: ['It sends a request only with --from.'],
  })
    .addArgument(choiceArgument('<kind>', 'the kind of service', contractKinds))
    .option('--from <url>', "take the prices from the service's own list at this address")
    .addOption(outputOption('--out <file>', 'the contract to write').default('contract.yaml'))

export type InitOptions = OptionsOf<typeof initOptions>

const initCommand = () =>
  initOptions().action(async (kind, options) =>
    (await import('../audits/contract.ts')).initContractAction(kind, options),
  )
