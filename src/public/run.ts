/** `assay/run`: load against a service, and what this machine can send. */
export { type SendOnceOptions, sendOnce } from '../client/send-once.ts'
export type { Contract } from '../contract/contract.ts'
export { defaultContract } from '../contract/default.ts'
export type { AttemptCounts } from '../run/attempt-counts.ts'
export { type CalibrateOptions, type Calibration, calibrate } from '../run/calibrate.ts'
export { judgeParts } from '../run/merge.ts'
export {
  type RunOptions,
  type RunPlace,
  type RunResult,
  type RunSettings,
  run,
} from '../run/run.ts'
export type { RunTest } from '../run/run-test.ts'
export type { Shard } from '../run/shard.ts'
export type { StopReason } from '../run/stop-conditions.ts'
export type { SweepResult } from '../run/sweep-run.ts'
export type { Counted, Progress } from '../run/tally.ts'
export type { Team } from '../run/team.ts'
export type { ThresholdResult } from '../run/thresholds.ts'
export type { RunVerdict } from '../run/verdict.ts'
