/** `assay/probe`: questions that only an active client can answer, and polls of a balance. */
export { type ProbeOptions, type ProbeResult, probe } from '../probe/probe.ts'
export { type Poll, type WatchOptions, watch } from '../probe/watch.ts'
