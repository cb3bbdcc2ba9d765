import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { mark } from '../../user/secrets/secrets.ts'
import { literal } from '../literal.ts'

/** The SHA-256 of a key, which gateways log in its place. */
const hash = '[0-9a-f]{64}'
const isHash = new RegExp(`^${hash}$`)

/** SQL: whether a text is the hash of a key. */
export const isHashSql = (key: string) => `regexp_full_match(${key}, ${literal(hash)})`

/** SQL for the fingerprint of a key, or of the SHA-256 of a key. Both give the same. */
export const fingerprintSql = (key: string) =>
  `left(CASE WHEN ${isHashSql(key)} THEN ${key} ELSE sha256(${key}) END, 12)`

/** The same of a text. */
export const fingerprintIn = (key: string) =>
  isHash.test(key) ? key.slice(0, 12) : fingerprintOf(key)

/**
 * Before a bearer key: the scheme in any case, and a blank as a header, a text in JSON or an address has it. All patterns here
 * are in RE2's syntax too.
 */
const bearer = String.raw`[Bb][Ee][Aa][Rr][Ee][Rr](?:\s|\\+[tnr]|%20|%09|\+)+`
/** What RFC 6750 lets a key consist of, and what one may end with: a key that is cut ends with dots. */
const sign = '[A-Za-z0-9._~+/=-]'
const end = '[A-Za-z0-9_~+/=-]'

/** What looks like a key, wherever it is. In JSON, a slash may be escaped. */
export const keyPattern = String.raw`\b(?:sk-|${bearer})(?:${sign}|\\+/){6,}`
const alike = new RegExp(keyPattern, 'g')
const scheme = new RegExp(`^${bearer}`)

/** What looks like a key in a text, without the name of the scheme and the end of a sentence. */
export const alikeIn = (text: string): readonly string[] =>
  [...text.matchAll(alike)].map(([found]) =>
    found.replace(scheme, '').replace(/\.+$/, '').replace(/\\+\//g, '/'),
  )

/** The text without what looks like a key. */
export const withoutAlike = (text: string): string =>
  text.replace(alike, (found) => `${scheme.exec(found)?.[0] ?? ''}${mark}${/\.*$/.exec(found)![0]}`)

/** A key whose last four letters are at most a sixth of it (docs/decisions/0766). */
const shortest = 24
const whole = `(?:${bearer})?${sign}{${shortest - 4},}${end}{4}`
/** The same of a key that can be told from a name. */
const unmistakable = `(?:sk-${sign}{${shortest - 7},}|${bearer}${sign}{${shortest - 4},})${end}{4}`
/** What is no key, though it is as long as one: a hash (32 digits may be either), an id, and a name of several words. */
const other = [
  ...[32, 40, 64, 96, 128].map((digits) => `[0-9a-fA-F]{${digits}}`),
  '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  `(?:(?:api_?)?key|proj|project|user|usr|org|team|acct|cus|id)[_-]${sign}*`,
  '[A-Za-z]{1,15}(?:[._-](?:[A-Za-z]{1,15}|[0-9]{1,4}))+',
].join('|')
/** `sk-...abcd`, `sk-proj-****abcd`, `…abcd`: a beginning, a mark, and an end. */
const redacted = `${sign}{0,24}(?:[.]{3,}|…+|[*]{3,}|•{2,})${end}{4,8}`
/** A longer text is no key. */
const longest = 512

/**
 * What may show the last four letters of a key: a `key`, a `name`, which is seldom one, or the `end` alone; each of them may be
 * a redacted form.
 */
type Shown = 'key' | 'name' | 'end'
const patterns: Readonly<Record<Shown, { readonly taken: string; readonly left: string }>> = {
  key: { taken: `${whole}|${redacted}`, left: other },
  name: { taken: `${unmistakable}|${redacted}`, left: other },
  end: { taken: `${redacted}|${end}{4,8}`, left: other },
}

/** SQL for the last four letters of the key that a text shows; null for any other text. */
export function lastFourSql(text: string, shown: Shown): string {
  const { taken, left } = patterns[shown]
  const matches = (pattern: string) => `regexp_full_match(${text}, ${literal(pattern)})`
  // Most names are short words, and a search for a mark takes a tenth of a match.
  const may =
    shown === 'name'
      ? `strlen(${text}) <= ${longest} AND (strlen(${text}) >= ${shortest} OR ${['...', '…', '***', '••'].map((mark) => `contains(${text}, ${literal(mark)})`).join(' OR ')})`
      : `strlen(${text}) <= ${longest}`
  return `CASE WHEN ${may} AND ${matches(taken)} AND NOT ${matches(left)} THEN right(${text}, 4) END`
}

/** The same of a `key`. */
export function lastFourOf(key: string): string | null {
  const { taken, left } = patterns.key
  const matches = (pattern: string) => new RegExp(`^(?:${pattern})$`).test(key)
  if (Buffer.byteLength(key) > longest) return null
  return matches(taken) && !matches(left) ? key.slice(-4) : null
}
