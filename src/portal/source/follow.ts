import type { Contract } from '../../contract/contract.ts'
import { openStore } from '../../store/session/open.ts'
import { UserError } from '../../user/user-error.ts'
import { wordsOf } from '../api/refused.ts'
import { Portal } from '../server.ts'
import type { OpenedSettings } from '../settings/opened-settings.ts'
import { Snapshot } from './snapshot.ts'
import type { Source } from './source.ts'

export interface FollowOptions {
  readonly source: Source
  readonly settings: () => OpenedSettings
  readonly contract: Contract | null
  readonly refreshMs: number
  /** One line per request, and each failure to read; of a store that another process holds, its begin and its end. Never a token or the value of a filter. */
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
  const store = await openStore(':memory:')
  const snapshot = await Snapshot.of(store, source).catch((error: unknown) => {
    store.close()
    throw error
  })
  const portal = new Portal({ snapshot, settings, contract, now: Date.now, log })
  const fetch = await portal.handler().catch(async (error: unknown) => {
    await snapshot.close()
    throw error
  })
  let isClosed = false
  let isHeld = false
  let refreshing = Promise.resolve()
  const refresh = () => {
    refreshing = portal.refresh().then(
      () => {
        if (isHeld) log('the usage is read again')
        isHeld = false
      },
      (error: unknown) => {
        const wasHeld = isHeld
        isHeld = error instanceof UserError && error.code === 'store-held'
        // A run may hold the store for hours.
        if (!(wasHeld && isHeld)) log(`the usage could not be read: ${wordsOf(error)}`)
      },
    )
    return refreshing
  }
  await refresh()
  const tell = (work: () => Promise<void>) =>
    work().catch((error: unknown) => log(`alerts: ${wordsOf(error)}`))
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
