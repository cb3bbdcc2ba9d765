/** A text without one layer of escapes. */
interface Unescaped {
  readonly text: string
  /** Index in the escaped text of a character; its length for the index after the last. */
  startOf(index: number): number
}

const json = /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(["'\\/bfnrt]))/.source
const percent = /%([0-9a-fA-F]{2})/.source
const reference = /&#(?:(\d{1,7})|[xX]([0-9a-fA-F]{1,6}));?/.source
const never = '(?!)'

/** All kinds of escapes at once, then each kind separately, for keys that contain a character of an escape. */
export const layers = [
  [json, percent, reference],
  [json, `${never}()`, `${never}()()`],
  [`${never}()()()`, percent, `${never}()()`],
  [`${never}()()()`, `${never}()`, reference],
].map((kinds) => new RegExp(kinds.join('|'), 'g'))

/** Removed first, because they may occur inside escapes. */
const zeros = /\0/g
const simple: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Removes one layer of escapes (JSON strings, percent encoding, character references), or zero bytes,
 * which UTF-16 has between ASCII letters.
 *
 * @returns null for a text without any
 */
export function unescaped(text: string, escapes: RegExp): Unescaped | null {
  const layer = text.includes('\0') ? zeros : escapes
  layer.lastIndex = 0
  let found = layer.exec(text)
  if (found === null) return null
  let plain = ''
  const starts = new Int32Array(text.length + 1)
  let from = 0
  const copy = (to: number) => {
    for (let at = from; at < to; at++) starts[plain.length + at - from] = at
    plain += text.slice(from, to)
  }
  for (; found !== null; found = layer.exec(text)) {
    const [whole, unicode, byte, character, code, decimal, point] = found
    copy(found.index)
    const hex = unicode ?? byte ?? code ?? point
    const letter =
      character !== undefined
        ? (simple[character] ?? character)
        : hex !== undefined
          ? String.fromCharCode(Number.parseInt(hex, 16))
          : decimal !== undefined
            ? String.fromCharCode(Number(decimal))
            : ''
    if (letter !== '') starts[plain.length] = found.index
    plain += letter
    from = found.index + whole.length
  }
  copy(text.length)
  starts[plain.length] = text.length
  return { text: plain, startOf: (index) => starts[index]! }
}
