import { randomUUID } from 'node:crypto'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import type { Store } from '../store/session/open.ts'
import { followedSettings, openSettings } from './settings/opened-settings.ts'
import { readSettings, type Shown, settingsFrom, type UsageSettings } from './settings/settings.ts'
import { signToken } from './settings/tokens.ts'
import { type FollowedPortal, followSource } from './source/follow.ts'
import { storeSource } from './source/store-source.ts'

export interface UsageHandlerOptions {
  /** Prices of requests of runs. Default: svc */
  readonly contract?: Contract
  /** Longest age of the figures, seconds. Default: 5 */
  readonly refreshS?: number
  /** One line per request, and each failure to read. Never a token or the value of a filter. */
  readonly log?: (line: string) => void
}

/** @throws UserError for wrong settings, or missing libraries */
export function mountUsage(
  store: Store | string,
  settings: UsageSettings | string,
  { contract, refreshS = 5, log = () => {} }: UsageHandlerOptions,
): Promise<FollowedPortal> {
  const opened =
    typeof settings === 'string'
      ? followedSettings(settings, process.env, log)
      : settingsInCode(settings)
  return followSource({
    source: storeSource(store, contract ?? defaultContract),
    settings: opened,
    contract: contract ?? null,
    refreshMs: refreshS * 1000,
    log,
  })
}

function settingsInCode(settings: UsageSettings) {
  const opened = openSettings(settingsFrom(settings), process.env)
  return () => opened
}

export interface UsageTokenOptions {
  readonly account: string
  /** Lifetime, seconds; at most a day. Default: 900 */
  readonly forS?: number
  /** What its bearer sees. Default: what the settings show */
  readonly shows?: readonly Shown[]
  /** Fingerprints of the keys whose usage it shows, or their names in the settings. Default: all of the account */
  readonly keys?: readonly string[]
  /** The only origin of the settings that may embed the page. Default: any of them */
  readonly origin?: string
  /** PEM of the private key, if tokens are signed with EdDSA. */
  readonly privateKey?: string
}

/** @throws UserError for wrong settings, a lifetime over a day, or without the key that signs */
export function signUsageToken(
  settings: UsageSettings | string,
  { account, forS = 900, shows, keys, origin, privateKey }: UsageTokenOptions,
): Promise<string> {
  const read = typeof settings === 'string' ? readSettings(settings) : settingsFrom(settings)
  return signToken(read, {
    account,
    forS,
    shows: shows ?? read.shows,
    keys: keys ?? null,
    origin: origin ?? null,
    privateKey: privateKey ?? null,
    nowMs: Date.now(),
    id: randomUUID(),
  })
}
