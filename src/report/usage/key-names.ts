import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { userError } from '../../user/user-error.ts'
import { parseYaml } from '../../user/yaml.ts'

const fingerprint = /^[0-9a-f]{12}$/

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
    if (!fingerprint.test(keyFp)) throw issue(`${place} does not begin with a fingerprint`)
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

/**
 * The fingerprints of keys, each given by it or by a name. Keys of several accounts may share a name, and a scope is of one account.
 *
 * @throws UserError for what is neither, such as a key, without a letter of it
 */
export function fingerprintsOf(
  keys: readonly string[],
  names: Iterable<readonly [keyFp: string, name: string]>,
): readonly string[] {
  const known = [...names]
  return keys.flatMap((key, nth) => {
    const named = known.filter(([, name]) => name === key).map(([keyFp]) => keyFp)
    if (named.length > 0) return named
    if (fingerprint.test(key)) return [key]
    throw userError.usage(
      `--key: number ${nth + 1} is no fingerprint (the first 12 digits of the SHA-256 of a key) and no known name of a key.`,
    )
  })
}

const issue = (summary: string) =>
  userError.usage(
    `${summary}. Expected a line for each key, with the first 12 digits of its SHA-256 and a name, such as\n  3f2a91c04d7e: billing (a1b2)`,
  )
