/** `assay/usage`: the usage page as data. A function loads its code when it is first called. */
import type { PartsOfUsage, ShownUsage, UsageOptions, UsagePart } from '../report/usage/shape.ts'
import type { Store } from '../store/session/open.ts'
import type { Work } from '../user/work.ts'

export type { PartsOfUsage, ShownUsage, UsagePart } from '../report/usage/shape.ts'

/** Every option has a default: all runs and sources, by model, in UTC, now. */
export interface UsageQuery extends Partial<Omit<UsageOptions, 'timezone'>>, Pick<Work, 'signal'> {
  /** IANA name. Default: UTC. */
  readonly timeZone?: string
  /** What is read, beside `scope`. Default: all but `hours`, which are most of a page. */
  readonly parts?: readonly UsagePart[]
}

/**
 * Reads the usage page, or the parts of it that are asked.
 *
 * @throws UserError for an unknown zone or part, an empty period, or a store without usage; the signal's reason, once it
 * is aborted
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { totals } = await readUsage(store, { timeZone: 'Asia/Kolkata', parts: ['totals'] })
 * for (const { used, unit } of totals.money) console.log(`${used} ${unit}`)
 * store.close()
 */
export function readUsage(
  store: Store,
  query?: UsageQuery & { readonly parts?: never },
): Promise<ShownUsage>
export function readUsage<Part extends UsagePart>(
  store: Store,
  query: UsageQuery & { readonly parts: readonly Part[] },
): Promise<PartsOfUsage<Part>>
export async function readUsage(
  store: Store,
  { timeZone = 'UTC', parts, ...options }: UsageQuery = {},
): Promise<PartsOfUsage<UsagePart> | ShownUsage> {
  const { checkParts, shownParts } = await import('../report/usage/shape.ts')
  checkParts(parts ?? [])
  const { readUsage } = await import('../report/usage/read.ts')
  const asked: UsageOptions & Pick<Work, 'signal'> = {
    contract: null,
    fromUs: null,
    toUs: null,
    by: 'model',
    runIds: [],
    sources: [],
    nowUs: Date.now() * 1000,
    seed: 1,
    grants: null,
    timezone: timeZone,
    ...options,
  }
  return readUsage<UsagePart>(store, asked, undefined, parts ?? shownParts)
}
