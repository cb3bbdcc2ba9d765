/** `assay/fleet`: shards of a run that meet at a NATS server. A function loads its code when it is first called. */
import type { Fleet, FleetOptions } from '../fleet/fleet.ts'
import type { RunWatch, WatchRunOptions } from '../fleet/watch.ts'

export type { Fleet, FleetOptions } from '../fleet/fleet.ts'
export type { RunSeen, RunWatch, WatchRunOptions } from '../fleet/watch.ts'

/**
 * Connects to the server where the shards of a run meet.
 *
 * @throws UserError if that fails
 * @example
 * const shard = { index: 0, of: 1 }
 * const meeting = { address: 'nats://127.0.0.1:4222', runId: 'night', waitMs: 5000 }
 * const team = await joinFleet({ ...meeting, shard })
 * await team.close(null)
 */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  return (await import('../fleet/fleet.ts')).joinFleet(options)
}

/**
 * Listens to the shards of a run.
 *
 * @throws UserError if the server cannot be reached
 * @example
 * const meeting = { address: 'nats://127.0.0.1:4222', runId: 'night', waitMs: 5000 }
 * const watched = await watchRun(meeting)
 * await watched.close()
 */
export async function watchRun(options: WatchRunOptions): Promise<RunWatch> {
  return (await import('../fleet/watch.ts')).watchRun(options)
}
