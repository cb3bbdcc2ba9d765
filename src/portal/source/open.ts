import type { Contract } from '../../contract/contract.ts'
import { openStore } from '../../store/session/open.ts'
import { UserError } from '../../user/user-error.ts'
import { causeOf } from '../api/refused.ts'
import { loadHono, Portal } from '../server.ts'
import { followedSettings } from '../settings/opened-settings.ts'
import { Snapshot, type Source } from './snapshot.ts'

export interface ServeOptions {
  readonly source: Source
  readonly settingsFile: string
  readonly contract: Contract | null
  readonly host: string
  readonly port: number
  readonly refreshMs: number
  readonly log: (line: string) => void
}

export interface ServedPortal {
  readonly url: string
  close(): Promise<void>
}

/** Between two copies, so that those who write the file have it. */
const shortestPauseMs = 500

/**
 * Serves the usage of accounts until it is closed.
 *
 * @throws UserError for wrong settings, missing libraries, or a port that cannot be used
 */
export async function openPortal(options: ServeOptions): Promise<ServedPortal> {
  const { source, settingsFile, contract, host, port, refreshMs, log } = options
  const { serve } = await loadHono()
  const settings = followedSettings(settingsFile, process.env, log)
  const snapshot = await Snapshot.of(await openStore(':memory:'), source)
  const portal = new Portal({ snapshot, settings, contract, now: Date.now, log })
  const fetch = await portal.handler()
  let isClosed = false
  const refresh = async () => {
    try {
      await portal.refresh()
    } catch (error) {
      const isHeld = error instanceof UserError && error.code === 'store-held'
      if (!isHeld)
        log(
          `the usage could not be read: ${error instanceof UserError ? error.message : causeOf(error)}`,
        )
    }
  }
  await refresh()
  const follow = async () => {
    for (let beganMs = Date.now(); !isClosed; ) {
      // From begin to begin: the time of a copy does not add to the age of figures.
      const waitMs = Math.max(shortestPauseMs, refreshMs - (Date.now() - beganMs))
      await new Promise((resume) => setTimeout(resume, waitMs).unref())
      beganMs = Date.now()
      if (!isClosed) await refresh()
    }
  }
  const following = follow()
  const server = serve({ fetch, hostname: host, port })
  await new Promise<void>((done, fail) => {
    server.once('listening', done)
    server.once('error', (error: NodeJS.ErrnoException) =>
      fail(new UserError('usage', `--listen: ${host}:${port} cannot be used (${error.code}).`)),
    )
  })
  const address = server.address() as { readonly port: number }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      isClosed = true
      await new Promise<void>((done) => {
        server.close(() => done())
        if ('closeAllConnections' in server) server.closeAllConnections()
      })
      void following
      await snapshot.close()
    },
  }
}
