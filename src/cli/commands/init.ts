import { command, type OptionsOf, outputArgument } from './command.ts'

const initOptions = () =>
  command('init', {
    does: 'Write a first scenario, with comments, to change and run.',
    examples: ['init', 'init launch.yaml --base-url https://api.example.com --model svc-k2'],
  })
    .addArgument(outputArgument('[file]', 'the scenario').default('first.yaml'))
    .option('--base-url <url>', 'the address of the service')
    .option('--model <name>', 'a model of the service')

export type Options = OptionsOf<typeof initOptions>

export const initCommand = () =>
  initOptions().action(async (file, options) =>
    (await import('../runs/init.ts')).initAction(file, options),
  )
