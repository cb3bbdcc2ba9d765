import type { Options } from '../audit.ts'
import { choice, command, contractOption, storeOption } from './command.ts'

export const auditFormats = ['text', 'json', 'junit', 'sarif', 'md'] as const

/** `assay audit [run…]`: the verdict of every rule. */
export const auditCommand = () =>
  command('audit', {
    does: 'Judge recorded runs by every rule, with verdict and evidence.',
    examples: ['audit', 'audit latest --rule BILL --format sarif', 'audit --explain BILL-11'],
    sends: false,
  })
    .argument('[run...]', 'ids of runs; default: every run against the base URL of the newest one')
    .addOption(storeOption())
    .option(
      '--rule <id>',
      'a rule such as BILL-11 or a family such as BILL; may be repeated',
      (value: string, before: readonly string[]) => [...before, ...value.split(',')],
      [],
    )
    .option(
      '--explain [rule]',
      'print how rules decide and what they cannot see; may be repeated',
      (value: string, before: true | readonly string[] | undefined) => [
        ...(before === true || before === undefined ? [] : before),
        ...value.split(','),
      ],
    )
    .option('--again <rule>', 'print the command that sends the witness of that failed rule again')
    .addOption(contractOption())
    .option('--profile <file>', 'the profile by assay probe; some rules decide more with it')
    .addOption(choice('--format <format>', 'output format', auditFormats).default('text'))
    .option('--json', 'the same as --format json')
    .option('--strict', 'exit with 3 for an inconclusive rule, too')
    .action(async (runIds: readonly string[], options: Options) =>
      (await import('../audit.ts')).auditAction(runIds, options),
    )
