/** `assay/probe`: questions of an active client, and polls of a balance. A function loads its code when it is first called. */
import type { ProbeOptions, ProbeResult } from '../probe/probe.ts'
import type { WatchOptions } from '../probe/watch.ts'
import type { Store } from '../store/session/open.ts'

export type { ProbeOptions, ProbeResult } from '../probe/probe.ts'
export type { Poll, WatchOptions } from '../probe/watch.ts'

/**
 * Asks a deployment what the specification leaves open, and records every attempt as a run of kind `probe`.
 *
 * @throws UserError if the service does not respond, or serves no request
 * @example
 * const service = await startService()
 * const [store, { baseUrl, keys }] = [await openStore('assay.duckdb'), service]
 * const { profile } = await probe(store, {
 *   ...{ contract: defaultContract, baseUrl, apiKey: keys[1]!.apiKey },
 *   ...{ maxCredits: 50, only: ['G-01'] },
 * })
 * console.log(profile)
 * store.close()
 * await service.close()
 */
export async function probe(
  store: Store,
  options: Omit<ProbeOptions, 'store'>,
): Promise<ProbeResult> {
  return (await import('../probe/probe.ts')).probe({ ...options, store })
}

/**
 * Polls the credits of a service into the store, until a signal or after `count` polls. A store that is given by its path is open
 * only while a poll is written.
 *
 * @throws UserError if no poll brought a balance, or polls could not be written
 * @example
 * const service = await startService()
 * const [{ apiKey }, { baseUrl }] = [service.keys[1]!, service]
 * await watch('assay.duckdb', { baseUrl, apiKey, everyMs: 100, count: 2 })
 * await service.close()
 */
export async function watch(store: Store | string, options: WatchOptions): Promise<void> {
  return (await import('../probe/watch.ts')).watch(store, options)
}
