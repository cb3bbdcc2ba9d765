#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { assayVersion } from '../run/machine.ts'
import { holdYoung } from '../service/pauses.ts'
import { storeFailure } from '../store/errors.ts'
import { exit } from './exit.ts'

/**
 * Commands in the order of the line, each a file of its own beside this one. Only the one that is
 * asked for is loaded: a summary should not wait for a tokenizer.
 */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./demo.ts')).demoCommand(),
  serve: async () => {
    holdYoung()
    return (await import('./serve.ts')).serveCommand()
  },
  calibrate: async () => (await import('./calibrate.ts')).calibrateCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  runs: async () => (await import('./runs.ts')).runsCommand(),
  probe: async () => (await import('./probe.ts')).probeCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  report: async () => (await import('./report.ts')).reportCommand(),
  summary: async () => (await import('./summary.ts')).summaryCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  usage: async () => (await import('./usage.ts')).usageCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
}

const program = new Command('assay')
  .description('Load-tests, audits and reports on credit-billed text-generation APIs.')
  .version(assayVersion())
  .exitOverride()
const asked = process.argv[2] ?? ''
for (const name of Object.hasOwn(commands, asked) ? [asked] : Object.keys(commands)) {
  program.addCommand((await commands[name]!()).exitOverride())
}

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  process.stderr.write(`What is to be printed cannot be written: ${error.message}.\n`)
  process.exit(exit.internal)
})

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
      'RequestError',
      'TraceError',
      'ScenarioError',
      'StoreError',
      'ContractError',
      'ReportError',
      'ChartError',
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
  const failure = storeFailure(error)
  if (failure !== null) {
    process.stderr.write(`${failure}\n`)
    return exit.usage
  }
  process.stderr.write(`A fault of Assay's own, please report it:\n${error.stack}\n`)
  return exit.internal
}
