import { mustStandApart } from '../../store/files-apart.ts'
import { assayVersion } from '../../store/machine.ts'
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

/** `assay` with its commands, in the order of a usual workflow. */
export function program(): AnyCommand {
  const assay = new Command('assay')
    .description('Load-tests, audits and reports on billed text-generation APIs.')
    .version(assayVersion())
    .exitOverride()
    .hook('preAction', (_, command) => mustStandApart(namedFiles(command)))
  for (const command of [
    demoCommand,
    serveCommand,
    benchCommand,
    initCommand,
    doctorCommand,
    calibrateCommand,
    runCommand,
    watchCommand,
    mergeCommand,
    runsCommand,
    contractCommand,
    probeCommand,
    auditCommand,
    reportCommand,
    summaryCommand,
    compareCommand,
    usageCommand,
    importCommand,
    exportCommand,
    completionCommand,
  ]) {
    assay.addCommand(command())
  }

  return assay
}
