import type { Options } from '../init.ts'
import { command, outputArgument } from './command.ts'

/** `assay init [file]`: writes a first scenario to change. */
export const initCommand = () =>
  command('init', {
    does: 'Write a first scenario, with comments, to change and run.',
    examples: ['init', 'init launch.yaml --base-url https://api.example.com --model svc-k2'],
    sends: false,
  })
    .addArgument(outputArgument('[file]', 'the scenario').default('first.yaml'))
    .option('--base-url <url>', 'the address of the service')
    .option('--model <name>', 'a model of the service')
    .action(async (file: string, options: Options) =>
      (await import('../init.ts')).initAction(file, options),
    )
