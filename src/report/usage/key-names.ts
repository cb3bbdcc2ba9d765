import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { alikeIn } from '../../store/import/key-forms.ts'
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

/** A text that may be signed into a token, which anyone can read: a part of it that is as long as that of a key is a word. */
export const isNoKey = (text: string): boolean =>
  text.length <= longestName &&
  alikeIn(text).length === 0 &&
  text.split(/[^\p{L}\p{N}]+/u).every((part) => /^(?:.{0,8}|\p{L}{1,20})$/u.test(part))

/**
 * What rows have of keys, each given by a name, or as rows have it: a fingerprint, or what a log has in its place. Keys of several
 * accounts may share a name, and a scope is of one account.
 *
 * @param isSafe whether a text that is neither a name nor a fingerprint is no key
 * @throws UserError for what may be a key, without a letter of it
 */
export function fingerprintsOf(
  keys: readonly string[],
  names: Iterable<readonly [keyFp: string, name: string]>,
  isSafe: (text: string) => boolean = (text) => alikeIn(text).length === 0,
): readonly string[] {
  const known = [...names]
  return keys.flatMap((key, nth) => {
    const named = known.filter(([, name]) => name === key).map(([keyFp]) => keyFp)
    if (named.length > 0) return named
    if (fingerprint.test(key) || isSafe(key)) return [key]
    throw userError.usage(
      `--key: number ${nth + 1} may be an API key. Give its fingerprint, the first 12 digits of its SHA-256, or its name.`,
    )
  })
}

const issue = (summary: string) =>
  userError.usage(
    `${summary}. Expected a line for each key, with the first 12 digits of its SHA-256 and a name, such as\n  3f2a91c04d7e: billing (a1b2)`,
  )
