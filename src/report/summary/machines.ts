import { largest } from '../../user/extremes.ts'
/** The machine record of a run; empty if it is not an object. */
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

/** The number of machines that sent a run; 1 if the record has none. */
export function machinesOf({ machines }: Readonly<Record<string, unknown>>): number {
  return typeof machines === 'number' ? machines : 1
}

/** Follows a start time: `, from 4 machines`; empty for one machine. */
export function machinesText(machines: readonly number[]): string {
  const most = largest(machines)
  return most > 1 ? `, from ${most} machines` : ''
}
