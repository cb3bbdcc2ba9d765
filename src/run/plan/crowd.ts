import type { Load } from '../../scenario/loads.ts'
import type { SenderLoad } from '../crew/messages.ts'

export type Crowd = Omit<Extract<Load, { kind: 'concurrency' }>, 'kind'>

/** The users that decide when requests are due; null for an open load. */
export function crowdOf(load: SenderLoad): Crowd | null {
  if (load.kind === 'concurrency') return load
  if (load.kind !== 'replay' || load.users === undefined) return null
  const { users } = load
  return { fromUsers: users, toUsers: users, rampUs: 0, think: { kind: 'fixed', us: 0 } }
}
