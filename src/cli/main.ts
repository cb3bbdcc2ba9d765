#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { auditCommand } from './audit.ts'
import { calibrateCommand } from './calibrate.ts'
import { demoCommand } from './demo.ts'
import { exit } from './exit.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { reportCommand } from './report.ts'
import { runCommand } from './run.ts'
import { runsCommand } from './runs.ts'
import { serveCommand } from './serve.ts'
import { summaryCommand } from './summary.ts'
import { usageCommand } from './usage.ts'

/** Commands in the order of the line; each is a file of its own beside this one. */
const commands: readonly (() => Command)[] = [
  demoCommand,
  serveCommand,
  calibrateCommand,
  runCommand,
  runsCommand,
  auditCommand,
  reportCommand,
  summaryCommand,
  importCommand,
  exportCommand,
  usageCommand,
]

const program = new Command('assay')
  .description('Load-tests, audits and reports on credit-billed text-generation APIs.')
  .exitOverride()
for (const command of commands) program.addCommand(command())
for (const command of program.commands) command.exitOverride()

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = endOf(error)
}

/** Users see a sentence; only a fault of ours shows its stack. */
function endOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage
  if (!(error instanceof Error)) throw error
  if (
    [
      'UsageError',
      'RunError',
      'TraceError',
      'ScenarioError',
      'StoreError',
      'ContractError',
      'ReportError',
      'ImportError',
    ].includes(error.name)
  ) {
    process.stderr.write(`${error.message}\n`)
    return exit.usage
  }
  if (error.name === 'TargetError') {
    process.stderr.write(`${error.message}\n`)
    return exit.invalid
  }
  process.stderr.write(`A fault of Assay's own, please report it:\n${error.stack}\n`)
  return exit.internal
}
