import { mostPauseUs } from './search.ts'
import type { Trial } from './trial.ts'

/**
 * A limit of requests in a window of time, such as 60 a minute. A short trial says nothing about it, because a fresh window
 * admits a burst at any rate.
 *
 *     admitted  ████████████░░░ 429 ░░░░░░░░░░░░░│████████
 *               └────────── a window ────────────┘reset: the next trial
 */
export interface ServiceLimit {
  /** Requests that it admits per second, over whole windows. */
  readonly perS: number
  /** The highest rate whose requests stay within the limit in nearly all windows, although their number varies. */
  readonly steadyPerS: number
}

/** Windows that limits have: a minute, five, an hour, a day. */
const windowsUs = [60e6, 300e6, 3600e6, 86_400e6]
/** Headers have whole seconds, and some are rounded down. */
const roundingUs = 1e6
/** The wait for a service that refuses all requests and names no time. */
const usualWaitUs = 60e6
/** The number of a window varies by its root; twice the root is exceeded in one window of forty. */
const deviations = 2
const leastSteady = 0.5
/** A service is fast enough for a limit if a trial had so many admitted, and no larger share of them too slow. */
const fewestAdmitted = 10
const mostSlow = 0.05

const admittedOf = ({ sent, limited, missed }: Trial) => sent - Math.min(limited, missed)

/** Whether the limiter of a service, not its speed, decided a trial. */
export const isLimited = ({ limited, missed }: Pick<Trial, 'limited' | 'missed'>) =>
  limited > missed / 2

/** A shorter wait may be that of a bucket for its next token. */
const isOfWindow = ({ resetUs }: Trial) => resetUs !== null && resetUs > mostPauseUs

/** Time until the reset of a limit after a trial; 0 if it did not decide the trial, or names no time. */
export function limitWaitUs(trial: Trial): number {
  if (!isLimited(trial)) return 0
  const resetUs = trial.resetUs ?? (admittedOf(trial) === 0 ? usualWaitUs : 0)
  return resetUs > 0 ? resetUs + roundingUs : 0
}

/**
 * The limit by the last trial that ran into a window: what was admitted in the window that ends at its reset. Null if no
 * trial did. A trial that began before the window counts by the share of its arrivals in it.
 *
 *     trials      ├──── held ────┤    ├── held ──┤    ├─ last, 429 ─┤
 *     window             ├─────────── leftUs ───────────────────────┼─ resetUs ─┤
 *                        └────────────────────── windowUs ──────────────────────┘
 */
export function limitOf(trials: readonly Trial[]): ServiceLimit | null {
  const at = trials.findLastIndex((trial) => isLimited(trial) && isOfWindow(trial))
  const last = trials[at]
  if (last === undefined) return null
  const resetUs = last.resetUs!
  const windowUs = windowsUs.find((us) => us >= resetUs) ?? resetUs
  let admitted = 0
  let leftUs = windowUs - resetUs
  for (const trial of trials.slice(0, at + 1).toReversed()) {
    if (leftUs <= 0 || trial.earlier !== last.earlier || trial.runId !== last.runId) break
    admitted += admittedOf(trial) * Math.min(1, leftUs / Math.max(1, trial.lastedUs))
    // With the answers and the pause after its arrivals.
    leftUs -= trial.tookUs
  }
  if (admitted < 1) return null
  const perS = admitted / (windowUs / 1e6)
  const steadyShare = Math.max(leastSteady, 1 - deviations / Math.sqrt(admitted))
  return { perS, steadyPerS: perS * steadyShare }
}

/** Whether a service is fast enough for what its limiter admits. A confirmation decides; this says that it is worth a try. */
export function sustainsLimit(trials: readonly Trial[], { perS }: ServiceLimit): boolean {
  return trials.some((trial) => {
    const admitted = admittedOf(trial)
    const slow = trial.missed - Math.min(trial.limited, trial.missed)
    return trial.ratePerS >= perS && admitted >= fewestAdmitted && slow <= mostSlow * admitted
  })
}
