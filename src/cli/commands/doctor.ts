import { command, type OptionsOf, storeOption } from './command.ts'

const doctorOptions = () =>
  command('doctor', {
    does: 'Check this machine before a run: Node, files, ports, cores, clock, timers, disk.',
    examples: ['doctor', 'doctor --db /var/lib/assay/launch.duckdb'],
    notes: ['The exit code is 3 if a check is bad.'],
  })
    .addOption(storeOption('the store that runs will write'))
    .option('--json', 'print the checks as JSON')

export type Options = OptionsOf<typeof doctorOptions>

export const doctorCommand = () =>
  doctorOptions().action(async (options) =>
    (await import('../services/doctor.ts')).doctorAction(options),
  )
