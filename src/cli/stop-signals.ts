/** What asks a command to end: Ctrl-C, a service manager, and a terminal that closes. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** @returns stops listening */
export function onStopSignal(listener: () => void): () => void {
  for (const signal of stopSignals) process.on(signal, listener)
  return () => {
    for (const signal of stopSignals) process.off(signal, listener)
  }
}
