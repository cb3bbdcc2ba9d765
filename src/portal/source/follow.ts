import type { Contract } from '../../contract/contract.ts'
import { openStore } from '../../store/session/open.ts'
import { UserError } from '../../user/user-error.ts'
import { causeOf } from '../api/refused.ts'
import { Portal } from '../server.ts'
import type { OpenedSettings } from '../settings/opened-settings.ts'
import { Snapshot } from './snapshot.ts'
import type { Source } from './source.ts'

export interface FollowOptions {
  readonly source: Source
  readonly settings: () => OpenedSettings
  readonly contract: Contract | null
  readonly refreshMs: number
  /** One line per request, and each failure to read. Never a token or the value of a filter. */
  readonly log: (line: string) => void
}

/** A portal whose figures follow their source. */
export interface FollowedPortal {
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Between two copies, so that those who write the file have it. */
const shortestPauseMs = 500
const deliverEveryMs = 1000

/**
 * Answers for the usage of accounts until it is closed.
 *
 * @throws UserError for wrong settings, or missing libraries
 */
export async function followSource(options: FollowOptions): Promise<FollowedPortal> {
  const { source, settings, contract, refreshMs, log } = options
  const snapshot = await Snapshot.of(await openStore(':memory:'), source)
  const portal = new Portal({ snapshot, settings, contract, now: Date.now, log })
  const fetch = await portal.handler().catch(async (error: unknown) => {
    await snapshot.close()
    throw error
  })
  let isClosed = false
  let refreshing = Promise.resolve()
  const refresh = () => {
    refreshing = portal.refresh().catch((error: unknown) => {
      const isHeld = error instanceof UserError && error.code === 'store-held'
      if (!isHeld)
        log(
          `the usage could not be read: ${error instanceof UserError ? error.message : causeOf(error)}`,
        )
    })
    return refreshing
  }
  await refresh()
  const tell = (work: () => Promise<void>) =>
    work().catch((error: unknown) =>
      log(`alerts: ${error instanceof UserError ? error.message : causeOf(error)}`),
    )
  // Alerts wait for forecasts, and figures do not wait for alerts.
  let isAlerting = false
  let alerting = Promise.resolve()
  const alert = () => {
    if (isAlerting || isClosed) return
    isAlerting = true
    alerting = tell(() => portal.alert()).finally(() => {
      isAlerting = false
    })
  }
  alert()
  const delivering = setInterval(
    () => void tell(async () => portal.deliver()),
    deliverEveryMs,
  ).unref()
  const follow = async () => {
    for (let beganMs = Date.now(); !isClosed; ) {
      // From begin to begin: the time of a copy does not add to the age of figures.
      const waitMs = Math.max(shortestPauseMs, refreshMs - (Date.now() - beganMs))
      await new Promise((resume) => setTimeout(resume, waitMs).unref())
      beganMs = Date.now()
      if (!isClosed) await refresh()
      alert()
    }
  }
  void follow()
  return {
    fetch,
    async close() {
      if (isClosed) return
      isClosed = true
      clearInterval(delivering)
      await refreshing
      const closed = portal.close()
      await alerting
      await closed
      await snapshot.close()
    },
  }
}
