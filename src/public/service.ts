/** `assay/service`: the reference service. A function loads its code when it is first called. */
import type { ServiceOptions } from '../service/options.ts'
import type { RunningService } from '../service/start.ts'

export type { ServiceOptions } from '../service/options.ts'
export type { RunningService } from '../service/start.ts'

/**
 * Starts the reference service on this machine.
 *
 * @throws UserError for an invalid option, such as an unknown fault
 * @example
 * const service = await startService({ accounts: [{ name: 'a', balance: 50 }] })
 * const headers = { authorization: `Bearer ${service.keys[0]!.apiKey}` }
 * console.log(await (await fetch(`${service.baseUrl}/v1/credits`, { headers })).json())
 * await service.close()
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  return (await import('../service/start.ts')).startService(options)
}
