import {
  type Band,
  bandsAt,
  type Credits,
  type FullContract,
  type Window,
  windows,
} from '../../contract/contract.ts'
import { lookup } from '../../user/lookup.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { RateLook } from '../call.ts'
import type { Profile } from '../profile.ts'

type Limits = Pick<Behaviour, 'band' | 'limits' | 'rateSubject' | 'look' | 'count' | 'rateHeaders'>

export function honestLimits({ contract, profile, clock, rates }: Kit): Limits {
  const { headers } = contract
  const lowest = contract.bands[0]!
  let shown = 0
  const windowShown = (look: RateLook): Window => {
    switch (profile.window) {
      case 'minute':
        return 'minute'
      case 'failed':
        return look.refusedBy ?? 'minute'
      case 'rotate':
        return look.refusedBy ?? windows[shown++ % windows.length]!
      case 'tightest':
        return windows.reduce((tightest, window) =>
          share(look, window) < share(look, tightest) ? window : tightest,
        )
    }
  }
  return {
    band: (_call, balance) => bandOf(contract, profile, balance) ?? lowest,
    limits: (call) => (call.band ?? lowest).requests,
    rateSubject: (call) => `key ${call.key?.id}`,
    look: (call) => rates.look(call.subject, call.limits, clock.nowUs()),
    count: (call) => rates.count(call.subject, call.limits, clock.nowUs()),
    rateHeaders(_call, look, refused) {
      const nowUs = clock.nowUs()
      const state = look.window(windowShown(look))
      const shownHeaders: Record<string, string> = lookup({
        [headers.rateLimit[0]]: String(state.limit),
        [headers.rateRemaining[0]]: String(state.remaining),
      })
      if (headers.rateReset !== undefined) {
        shownHeaders[headers.rateReset[0]] = String(resetValue(state.resetUs, nowUs, profile.reset))
      }
      if (refused && profile.retryAfter !== 'none') {
        const resetUs =
          look.refusedBy === null ? state.resetUs : look.window(look.refusedBy).resetUs
        shownHeaders['retry-after'] =
          profile.retryAfter === 'seconds'
            ? String(Math.max(1, Math.ceil((resetUs - nowUs) / 1e6)))
            : new Date(Math.ceil(resetUs / 1e6) * 1000).toUTCString()
      }
      return shownHeaders
    },
  }
}

function share(look: RateLook, window: Window): number {
  const { remaining, limit } = look.window(window)
  return remaining / Math.max(1, limit)
}

/** Rounded up, so that a client that waits until then is not too early. */
export function resetValue(resetUs: number, nowUs: number, unit: Profile['reset']): number {
  switch (unit) {
    case 'delta-s':
      return Math.max(0, Math.ceil((resetUs - nowUs) / 1e6))
    case 'delta-ms':
      return Math.max(0, Math.ceil((resetUs - nowUs) / 1e3))
    case 'epoch-s':
      return Math.ceil(resetUs / 1e6)
    case 'epoch-ms':
      return Math.ceil(resetUs / 1e3)
    case 'epoch-us':
      return Math.ceil(resetUs)
  }
}

/** The row for a balance. The profile decides at an edge that two rows share. */
export function bandOf(
  contract: FullContract,
  { sharedEdge }: Pick<Profile, 'sharedEdge'>,
  balance: Credits,
): Band | undefined {
  return bandsAt(contract, balance).at(sharedEdge === 'upper' ? -1 : 0)
}
