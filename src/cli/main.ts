#!/usr/bin/env node
import { CommanderError } from 'commander'
import { diskFailure, storeFailure } from '../store/session/errors.ts'
import { withoutHostile } from '../user/hostile.ts'
import { UserError } from '../user/user-error.ts'
import { program } from './commands/program.ts'
import { exit } from './terminal/exit.ts'
import { guardOutput } from './terminal/guarded-output.ts'
import { endAtStopSignals, endBeforeHandlersGo } from './terminal/stop-signals.ts'

// If the reader of the output goes away (`| head`, a log collector, a terminal), the command continues, so
// that a load test ends as planned.
process.stderr.on('error', () => {})
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') return
  process.stderr.write(`The output cannot be written: ${error.message}.\n`)
  process.exit(exit.internal)
})

for (const stream of [process.stdout, process.stderr]) guardOutput(stream)
endAtStopSignals()
endBeforeHandlersGo()

try {
  await program(process.argv[2]).parseAsync()
} catch (error) {
  process.exitCode = endOf(error)
}

/** Prints an error and returns the exit code. Users see a sentence; only a bug in Assay shows its stack. */
function endOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage
  if (!(error instanceof Error)) throw error
  if (error instanceof UserError) {
    process.stderr.write(`${withoutHostile(error.message, () => '\ufffd', '\t\n')}\n`)
    return error.code === 'unreachable' ? exit.invalid : exit.usage
  }
  const failure = diskFailure('A file', error)?.message ?? storeFailure(error)
  if (failure !== null) {
    process.stderr.write(`${failure}\n`)
    return exit.usage
  }
  process.stderr.write(`This is a bug in Assay; please report it:\n${error.stack}\n`)
  return exit.internal
}
