/**
 * Characters that control a display or are invisible: controls, direction marks, zero widths (all of
 * Unicode's Cc and Cf), line and paragraph separators, lone surrogates, noncharacters.
 */
const hostile = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\ufffe\uffff]/gu

/**
 * Makes foreign text safe to show.
 *
 * @param shown the replacement of a hostile character
 * @param kept characters that stay, such as line breaks
 */
export function withoutHostile(
  text: string,
  shown: (character: string) => string,
  kept = '',
): string {
  return text.replace(hostile, (character) =>
    kept.includes(character) ? character : shown(character),
  )
}

// Whole escape sequences: CSI, then OSC and its kin up to their end, then any other pair.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -~])?/g

/** A text without escape sequences, and with a space for every other hostile character. */
export const plainText = (text: string, kept = ''): string =>
  withoutHostile(text.replace(escapes, ''), () => ' ', kept)

const longestText = 2000

/**
 * A service's text, safe to show: control characters become their pictures (ESC is ␛), other hostile
 * characters U+FFFD, and text beyond 2,000 characters is cut. Tabs and line breaks stay.
 */
export function visible(text: string): string {
  const cut =
    text.length > longestText ? `${text.slice(0, longestText)}… (${text.length} characters)` : text
  return withoutHostile(cut, (sign) => (sign < ' ' ? pictureOf(sign) : '\ufffd'), '\t\n')
}

/** ESC as ␛, by Unicode's block of control pictures. */
const pictureOf = (control: string) => String.fromCharCode(0x2400 + control.charCodeAt(0))

/** The UTF-16 units of a character as JSON escapes them. */
export const jsonEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

/** JSON that is safe on a terminal: hostile characters are escaped, line breaks stay. */
export const safeJson = (json: string): string => withoutHostile(json, jsonEscape, '\n')
