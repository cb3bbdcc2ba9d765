import { mustStandApart } from '../../store/files/files-apart.ts'
import { assayVersion } from '../../store/runs/machine.ts'
import { lookup } from '../../user/lookup.ts'
import { auditCommand } from './audit.ts'
import { benchCommand } from './bench.ts'
import { calibrateCommand } from './calibrate.ts'
import { type AnyCommand, Command, namedFiles } from './command.ts'
import { compareCommand } from './compare.ts'
import { completionCommand } from './completion.ts'
import { contractCommand } from './contract.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { mergeCommand } from './merge.ts'
import { probeCommand } from './probe.ts'
import { reportCommand } from './report.ts'
import { runCommand } from './run.ts'
import { runsCommand } from './runs.ts'
import { serveCommand } from './serve.ts'
import { summaryCommand } from './summary.ts'
import { usageCommand } from './usage.ts'
import { watchCommand } from './watch.ts'

/** Reads the options of all others. */
const readsAll = 'completion'

/** The commands by name, in the order of a usual workflow. */
const commands: Readonly<Record<string, () => AnyCommand>> = lookup({
  demo: demoCommand,
  serve: serveCommand,
  bench: benchCommand,
  init: initCommand,
  doctor: doctorCommand,
  calibrate: calibrateCommand,
  run: runCommand,
  watch: watchCommand,
  merge: mergeCommand,
  runs: runsCommand,
  contract: contractCommand,
  probe: probeCommand,
  audit: auditCommand,
  report: reportCommand,
  summary: summaryCommand,
  compare: compareCommand,
  usage: usageCommand,
  import: importCommand,
  export: exportCommand,
  [readsAll]: completionCommand,
})

/**
 * `assay` with its commands.
 *
 * @param asked the first word of the command line: if it names a command, only that one is made, because the options of the
 * others take longer than to read the line
 */
export function program(asked?: string): AnyCommand {
  const assay = new Command('assay')
    .description('Load-tests, audits and reports on billed text-generation APIs.')
    .version(assayVersion())
    .exitOverride()
    .hook('preAction', (_, command) => mustStandApart(namedFiles(command)))
  const made =
    asked !== undefined && asked !== readsAll && Object.hasOwn(commands, asked)
      ? [commands[asked]!]
      : Object.values(commands)
  for (const command of made) assay.addCommand(command())
  return assay
}
