/** `assay/usage`: the usage page as data. A function loads its code when it is first called. */
import type { UsageOptions, UsagePage } from '../report/usage/shape.ts'
import type { Store } from '../store/session/open.ts'

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
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const usage = await readUsage(store, { timeZone: 'Asia/Kolkata' })
 * console.log(JSON.stringify(usage).length)
 * store.close()
 */
export async function readUsage(store: Store, query: UsageQuery = {}): Promise<UsagePage> {
  const { timeZone = 'UTC', ...options } = query
  const { readUsage } = await import('../report/usage/read.ts')
  return readUsage(store, {
    ...{ contract: null, fromUs: null, toUs: null, by: 'model', runIds: [], sources: [] },
    ...{ nowUs: Date.now() * 1000, seed: 1, grants: null, timezone: timeZone },
    ...options,
  })
}
