import { UserError } from '../../user/user-error.ts'
import { missingLibraries } from '../server.ts'
import { followedSettings } from '../settings/opened-settings.ts'
import { type FollowOptions, followSource } from './follow.ts'

export interface ServeOptions extends Omit<FollowOptions, 'settings'> {
  readonly settingsFile: string
  readonly host: string
  readonly port: number
}

export interface ServedPortal {
  readonly url: string
  close(): Promise<void>
}

/** hono's server is an optional install. @throws UserError if it is missing */
async function loadServe() {
  try {
    return (await import('@hono/node-server')).serve
  } catch {
    throw missingLibraries()
  }
}

/**
 * Serves the usage of accounts until it is closed.
 *
 * @throws UserError for wrong settings, missing libraries, or a port that cannot be used
 */
export async function openPortal(options: ServeOptions): Promise<ServedPortal> {
  const { settingsFile, host, port, log } = options
  const serve = await loadServe()
  const settings = followedSettings(settingsFile, process.env, log)
  const { fetch, close } = await followSource({ ...options, settings })
  const server = serve({ fetch, hostname: host, port })
  await new Promise<void>((done, fail) => {
    server.once('listening', done)
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const failed = new UserError('usage', `--listen: ${host}:${port} cannot be used (${code}).`)
      void close().then(() => fail(failed))
    })
  })
  const address = server.address() as { readonly port: number }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      await new Promise<void>((done) => {
        server.close(() => done())
        if ('closeAllConnections' in server) server.closeAllConnections()
      })
      await close()
    },
  }
}
