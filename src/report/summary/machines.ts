/** What a run says of its machine; nothing where that is no object. */
export function machineOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/** How many machines sent a run, by what it says of the machine; 1 where it says nothing. */
export function machinesOf({ machines }: Readonly<Record<string, unknown>>): number {
  return typeof machines === 'number' ? machines : 1
}

/** What follows a start, of runs of several machines: `, from 4 machines`; empty of one. */
export function machinesText(machines: readonly number[]): string {
  const most = Math.max(...machines)
  return most > 1 ? `, from ${most} machines` : ''
}
