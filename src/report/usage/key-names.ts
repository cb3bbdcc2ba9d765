import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { userError } from '../../user/user-error.ts'
import { parseYaml } from '../../user/yaml.ts'

/** Names of keys by their fingerprint, the first 12 digits of the key's SHA-256. */
export type KeyNames = Readonly<Record<string, string>>

const longestName = 60

/**
 * Parses names of keys from YAML of `fingerprint: name`. Errors give only the place of an issue, because the text may
 * be a key.
 *
 * @throws UserError for any other YAML, and for a key in place of a fingerprint or name
 */
export function parseKeyNames(text: string, from: string): KeyNames {
  let value: unknown
  try {
    // Keeps fingerprints of digits as text.
    value = parseYaml(text, { schema: 'failsafe' })
  } catch {
    throw issue(`${from} is not YAML`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw issue(`${from} is not a list of names`)
  }
  const names = new Map<string, string>()
  for (const [at, [keyFp, name]] of Object.entries(value).entries()) {
    const place = `${from}: entry ${at + 1}`
    if (!/^[0-9a-f]{12}$/.test(keyFp)) throw issue(`${place} does not begin with a fingerprint`)
    if (typeof name !== 'string' || name === '' || name.length > longestName) {
      throw issue(`${place} has no name of 1 to ${longestName} letters`)
    }
    if (fingerprintOf(name).startsWith(keyFp))
      throw issue(`${place} has the key itself as its name`)
    if ([...names.values()].includes(name)) throw issue(`${place} has the name of another key`)
    names.set(keyFp, name)
  }
  return Object.fromEntries(names)
}

/** The fingerprint of a key by its name; any other text is a fingerprint itself. */
export function fingerprintNamed(key: string, names: KeyNames): string {
  const [named] = Object.entries(names).find(([, name]) => name === key) ?? []
  return named ?? key
}

const issue = (summary: string) =>
  userError.usage(
    `${summary}. Expected a line for each key, with the first 12 digits of its SHA-256 and a name, such as\n  3f2a91c04d7e: billing (a1b2)`,
  )
