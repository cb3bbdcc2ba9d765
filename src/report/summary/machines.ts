import { largest } from '../../user/extremes.ts'
import { type JsonObject, jsonOf, objectOf } from '../../user/json.ts'

/** The machine record of a run; empty if it is not an object. */
export const machineOf = (text: string): JsonObject => objectOf(jsonOf(text))

/** The number of machines that sent a run; 1 if the record has none. */
export const machinesOf = ({ machines }: Readonly<Record<string, unknown>>): number =>
  typeof machines === 'number' ? machines : 1

/** Follows a start time: `, from 4 machines`; empty for one machine. */
export function machinesText(machines: readonly number[]): string {
  const most = largest(machines)
  return most > 1 ? `, from ${most} machines` : ''
}
