/** `assay/usage`: the usage page as data. */
import * as read from '../report/usage/read.ts'
import type { UsageOptions, UsagePage } from '../report/usage/shape.ts'
import type { Store } from '../store/open.ts'

export type { UsagePage } from '../report/usage/shape.ts'

/** Every option has a default: all runs and sources, by model, in UTC, now. */
export interface UsageQuery extends Partial<Omit<UsageOptions, 'timezone'>> {
  /** IANA name. Default: UTC. */
  readonly timeZone?: string
}

/**
 * Reads everything on the usage page.
 *
 * @throws UserError for an unknown zone, an empty period, or a store without usage
 */
export function readUsage(store: Store, query: UsageQuery = {}): Promise<UsagePage> {
  const { timeZone = 'UTC', ...options } = query
  return read.readUsage(store, {
    ...{ contract: null, fromUs: null, toUs: null, by: 'model', runIds: [], sources: [] },
    ...{ nowUs: Date.now() * 1000, seed: 1, grants: null, timezone: timeZone },
    ...options,
  })
}
