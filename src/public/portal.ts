/** `assay/portal`: the usage that customers see, in a server of yours. A function loads its code when it is first called. */
import type { UsageHandlerOptions, UsageTokenOptions } from '../portal/mount.ts'
import type { UsageSettings } from '../portal/settings/settings.ts'
import type { Store } from '../store/session/open.ts'

export type { UsageHandlerOptions, UsageTokenOptions } from '../portal/mount.ts'
export type { Shown, UsageSettings } from '../portal/settings/settings.ts'

/** Answers a request for the page or the API of `assay usage serve`. It needs no `this`. */
export interface UsageHandler {
  (request: Request): Promise<Response>
  /** Settled once figures can be asked for. Rejects with the `UserError` that each request would. */
  readonly ready: Promise<void>
  /** Ends what follows the store. Call it before you close the store. */
  close(): Promise<void>
}

/**
 * The server of `assay usage serve` as a function, which any framework mounts, under any path. Figures follow the store.
 * It needs hono and jose to be installed.
 *
 * @param store an open store; or its path, which is then open for moments only, so that other processes can write
 * @param settings the file of docs/usage-serve.md, which is followed, or its content
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const usage = usageHandler(store, 'usage.yaml')
 * await usage.ready
 * const { status } = await usage(new Request('http://localhost/healthz'))
 * console.log(status)
 * await usage.close()
 * store.close()
 */
export function usageHandler(
  store: Store | string,
  settings: UsageSettings | string,
  options: UsageHandlerOptions = {},
): UsageHandler {
  const mounted = import('../portal/mount.ts').then(({ mountUsage }) =>
    mountUsage(store, settings, options),
  )
  const ready = mounted.then(() => {})
  // Each request says it again, so a program that does not wait for `ready` goes on.
  ready.catch(() => {})
  const answer = async (request: Request) => (await mounted).fetch(request)
  return Object.assign(answer, {
    ready,
    async close() {
      const portal = await mounted.catch(() => null)
      await portal?.close()
    },
  })
}

/**
 * Signs a token that shows the usage of one account, as your backend gives it to the page. It needs jose to be installed.
 *
 * @param settings the file of docs/usage-serve.md, or its content
 * @throws UserError for wrong settings, a lifetime over a day, or without the key that signs
 * @example
 * const token = await usageToken('usage.yaml', { account: 'acme', forS: 900 })
 * console.log(token.split('.').length)
 */
export async function usageToken(
  settings: UsageSettings | string,
  options: UsageTokenOptions,
): Promise<string> {
  return (await import('../portal/mount.ts')).signUsageToken(settings, options)
}
