import type { Session } from '../../store/session/session.ts'
import type { AccountView } from '../settings/account-view.ts'

/** What the keys of an account are called. Each has a name of its own, whatever the keys of others are called. */
export interface KeyNaming {
  /** @param fingerprint as in the sums */
  nameOf(fingerprint: string): string
  /** Whether the name is more than a number: `key 3` says itself that it is a key. */
  isNamed(fingerprint: string): boolean
  /** Of a name, or of what the key was called without one; any other text is a fingerprint itself. */
  fingerprintOf(key: string): string
  /** Of a key as the settings say it, used or not: by their name for it, else its fingerprint itself. */
  inSettings(key: string): { readonly fingerprint: string; readonly name: string }
}

/**
 * Names the keys that the session sees: as the settings do, else by their last four letters if a log shows them, else by the order
 * of their first use, since a customer knows no fingerprint.
 */
export async function namesOfKeys(
  session: Session,
  { keyNames }: Pick<AccountView, 'keyNames'>,
): Promise<KeyNaming> {
  const keys = await session.rows<{ key: string; lastFour: string | null }>(
    `SELECT key_fp AS key, any_value(last_four) AS "lastFour" FROM my_days LEFT JOIN my_keys USING (key_fp)
     WHERE key_fp IS NOT NULL GROUP BY key_fp ORDER BY min(first_us), key_fp`,
  )
  const [names, taken] = [new Map<string, string>(), new Map<string, string>()]
  const name = (key: string, wanted: string) => {
    let free = wanted
    for (let nth = 2; taken.has(free); nth++) free = `${wanted} (${nth})`
    names.set(key, free)
    taken.set(free, key)
  }
  for (const { key } of keys) {
    const given = keyNames.get(key)
    if (given !== undefined) name(key, given)
  }
  for (const { key, lastFour } of keys)
    if (!names.has(key) && lastFour !== null) name(key, endOf(lastFour))
  const named = new Set(names.keys())
  for (const [at, { key }] of keys.entries()) if (!named.has(key)) name(key, numbered(at))
  // A saved address may have the name of before.
  for (const [at, { key, lastFour }] of keys.entries())
    for (const before of [numbered(at), ...(lastFour === null ? [] : [endOf(lastFour)])])
      if (!taken.has(before)) taken.set(before, key)
  return {
    // A key that is newer than the sums is one of the next copy.
    nameOf: (fingerprint) => names.get(fingerprint) ?? keyNames.get(fingerprint) ?? 'a new key',
    isNamed: (fingerprint) => named.has(fingerprint) || keyNames.has(fingerprint),
    fingerprintOf: (key) => taken.get(key) ?? key,
    inSettings(key) {
      // The same name may be that of keys of several accounts.
      const own = keys.find((each) => keyNames.get(each.key) === key)?.key
      const any = () => [...keyNames].find(([, given]) => given === key)?.[0]
      const fingerprint = own ?? any() ?? key
      return { fingerprint, name: names.get(fingerprint) ?? keyNames.get(fingerprint) ?? key }
    },
  }
}

const numbered = (at: number) => `key ${at + 1}`
const endOf = (lastFour: string) => `…${lastFour}`
