#!/usr/bin/env node
import { CommanderError } from 'commander'
import { storeFailure } from '../store/errors.ts'
import { UserError } from '../user/user-error.ts'
import { program } from './commands/program.ts'
import { exit } from './exit.ts'

// A reader that has seen enough (`| head`), a log collector or a terminal that goes away is no fault:
// the command goes on without it, so that a load test ends as planned.
process.stderr.on('error', () => {})
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') return
  process.stderr.write(`What is to be printed cannot be written: ${error.message}.\n`)
  process.exit(exit.internal)
})

try {
  await program().parseAsync()
} catch (error) {
  process.exitCode = endOf(error)
}

/** Users see a sentence; only a fault of ours shows its stack. */
function endOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage
  if (!(error instanceof Error)) throw error
  if (error instanceof UserError) {
    process.stderr.write(`${error.message}\n`)
    return error.code === 'unreachable' ? exit.invalid : exit.usage
  }
  const failure = storeFailure(error)
  if (failure !== null) {
    process.stderr.write(`${failure}\n`)
    return exit.usage
  }
  process.stderr.write(`This is a bug in Assay; please report it:\n${error.stack}\n`)
  return exit.internal
}
