import { plainText, safeJson, visible } from '../../user/hostile.ts'

/**
 * Makes a service's text safe for a terminal. It removes escape sequences, control characters and direction marks, and
 * cuts the text to a length.
 */
export function printable(text: string, longest = 60): string {
  const plain = plainText(text).replace(/ +/g, ' ').trim()
  const signs = [...plain]
  return signs.length <= longest ? plain : `${signs.slice(0, longest - 1).join('')}…`
}

/** The same for a cell of a Markdown table. */
export const markdownCell = (text: string, longest = 80): string =>
  printable(text, longest).replace(/[\\`*_{}[\]<>|#&!~]/g, (sign) => `\\${sign}`)

/** JSON that is safe to print on a terminal. */
export const jsonText = (value: unknown): string => safeJson(JSON.stringify(value, null, 2))

/**
 * A CSV cell (RFC 4180), as `visible`. Text that a spreadsheet would run as a formula gets an apostrophe. Numbers stay
 * unchanged, and so does the text of a decimal, which has more digits than a number holds; null is empty.
 */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  if (/^-?\d+(\.\d+)?$/.test(value)) return value
  const shown = visible(value)
  const safe = /^\s*[=+\-@\t\r]/.test(shown) ? `'${shown}` : shown
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
