import type { Session } from '../../store/session/session.ts'
import type { AccountView } from '../settings/account-view.ts'

/** What the keys of an account are called. Each has a name of its own, whatever the keys of others are called. */
export interface KeyNaming {
  /** @param fingerprint as in the sums */
  nameOf(fingerprint: string): string
  /** Of a name; any other text is a fingerprint itself. */
  fingerprintOf(key: string): string
}

/**
 * Names the keys that the session sees: as the settings do, else by the order of their first use, since a customer knows no
 * fingerprint.
 */
export async function namesOfKeys(
  session: Session,
  { keyNames }: Pick<AccountView, 'keyNames'>,
): Promise<KeyNaming> {
  const rows = await session.rows<{ key: string }>(
    'SELECT key_fp AS key FROM my_days WHERE key_fp IS NOT NULL GROUP BY key_fp ORDER BY min(first_us), key_fp',
  )
  const keys = rows.map(({ key }) => key)
  const [names, taken] = [new Map<string, string>(), new Map<string, string>()]
  const name = (key: string, wanted: string) => {
    let free = wanted
    for (let nth = 2; taken.has(free); nth++) free = `${wanted} (${nth})`
    names.set(key, free)
    taken.set(free, key)
  }
  for (const key of keys) {
    const given = keyNames.get(key)
    if (given !== undefined) name(key, given)
  }
  for (const [at, key] of keys.entries()) if (!names.has(key)) name(key, `key ${at + 1}`)
  return {
    // A key that is newer than the sums is one of the next copy.
    nameOf: (fingerprint) => names.get(fingerprint) ?? keyNames.get(fingerprint) ?? 'a new key',
    fingerprintOf: (key) => taken.get(key) ?? key,
  }
}
