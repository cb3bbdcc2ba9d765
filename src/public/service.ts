/** `assay/service`: the reference service. */
export type { ServiceOptions } from '../service/options.ts'
export { type RunningService, startService } from '../service/start.ts'
