/** `assay/fleet`: shards of a run that meet at a NATS server. */
export { Fleet, type FleetOptions, joinFleet } from '../fleet/fleet.ts'
export { type RunSeen, type RunWatch, type WatchRunOptions, watchRun } from '../fleet/watch.ts'
