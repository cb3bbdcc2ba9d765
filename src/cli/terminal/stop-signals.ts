import { exit } from './exit.ts'

/** Signals from Ctrl-C, a service manager, and a terminal that closes. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ends a command that has no end of its own for a signal: at once, with a word and the exit code of interruptions.
 * Without it, the system ends the process without a word, with another code for each signal.
 */
export function endAtStopSignals(): void {
  for (const signal of stopSignals) {
    process.on(signal, () => {
      if (process.listenerCount(signal) > 1) return
      process.stderr.write(`Interrupted by ${signal}.\n`)
      process.exit(exit.interrupted)
    })
  }
}

/**
 * Ends a command that is done by `process.exit`. A process that ends by itself gives up its handlers of signals before it has
 * freed its memory, and a signal in those milliseconds ends it without a word, after its whole result.
 */
export function endBeforeHandlersGo(): void {
  process.once('beforeExit', () => process.exit())
}

/** @returns a function that stops listening */
export function onStopSignal(listener: () => void): () => void {
  for (const signal of stopSignals) process.on(signal, listener)
  return () => {
    for (const signal of stopSignals) process.off(signal, listener)
  }
}
