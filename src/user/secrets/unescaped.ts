import { lookup } from '../lookup.ts'

/** A text without one layer of escapes. */
export interface Unescaped {
  readonly text: string
  /** Index in the escaped text of a character; its length for the index after the last. */
  startOf(index: number): number
}

/** Escapes of strings in JSON, JavaScript, Python and C. */
const backslash =
  /\\(?:u\{0*[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-3]?[0-7]{2}|["'\\/bfnrt])/
const percent = /%(?:u[0-9a-fA-F]{4}|[0-9a-fA-F]{2})/
const reference =
  /&(?:#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6});?|(?:amp|lt|gt|quot|apos|sol|bsol|plus|period|lowbar|hyphen|dash|equals|colon|percnt|num|excl|commat|tilde);)/
/** Quoted-printable, with its folds. */
const quoted = /=(?:[0-9a-fA-F]{2}|\r?\n)/
/** Full-width letters, as characters and as the bytes of UTF-8 that decoding leaves. */
const wide = /[\uff01-\uff5e]|\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e])/

const kinds = [backslash, percent, reference, quoted, wide].map(({ source }) => source)

const together = new RegExp(kinds.join('|'), 'g')
/** Also each kind separately, for keys that contain a character of an escape. */
const separately = [together, ...kinds.map((kind) => new RegExp(kind, 'g'))]

/** The kinds of escapes to remove: one after the other if a key looks like an escape itself. */
export function layersFor(keys: Iterable<string>): readonly RegExp[] {
  for (const key of keys) {
    if (/[\\%&]|=[0-9a-f]{2}|[^\0-\x7f]/i.test(key)) return separately
  }
  return [together]
}

/** Removed first, because they may occur inside escapes: zero bytes, characters without width. */
const nothing = /[\0\u200b-\u200f\u2060\ufeff]/g
const simple: Readonly<Record<string, string>> = lookup({
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})
const named: Readonly<Record<string, string>> = lookup({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  bsol: '\\',
  plus: '+',
  period: '.',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  equals: '=',
  colon: ':',
  percnt: '%',
  num: '#',
  excl: '!',
  commat: '@',
  tilde: '~',
})

/**
 * Removes one layer of escapes (strings of programs, percent encoding, character references, quoted-printable,
 * full-width letters), or characters that show nothing, such as the zero bytes that UTF-16 has between ASCII letters.
 *
 * @returns null for a text without any
 */
export function unescaped(text: string, escapes: RegExp): Unescaped | null {
  nothing.lastIndex = 0
  const layer = nothing.test(text) ? nothing : escapes
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
    copy(found.index)
    const letter = layer === nothing ? '' : letterOf(found[0])
    if (letter !== '') starts[plain.length] = found.index
    plain += letter
    from = found.index + found[0].length
  }
  copy(text.length)
  starts[plain.length] = text.length
  return { text: plain, startOf: (index) => starts[index]! }
}

/** The letter of an escape; empty for one without a letter. */
function letterOf(sign: string): string {
  const [first, second] = [sign.charCodeAt(0), sign[1]!]
  switch (sign[0]) {
    case '\\':
      if (second === 'u' || second === 'U' || second === 'x') {
        return codeOf(sign[2] === '{' ? sign.slice(3, -1) : sign.slice(2), 16)
      }
      return second >= '0' && second <= '7' ? codeOf(sign.slice(1), 8) : (simple[second] ?? second)
    case '%':
      return codeOf(sign.slice(second === 'u' ? 2 : 1), 16)
    case '=':
      return second < ' ' ? '' : codeOf(sign.slice(1), 16)
    case '&':
      if (second !== '#') return named[sign.slice(1, -1)]!
      return /[xX]/.test(sign[2]!) ? codeOf(sign.slice(3), 16) : codeOf(sign.slice(2), 10)
  }
  if (first !== 0xef) return String.fromCharCode(first - 0xfee0)
  // UTF-8 of U+FF01 to U+FF5E, whose first byte is EF.
  const [middle, last] = [sign.charCodeAt(1), sign.charCodeAt(2)]
  return String.fromCharCode((((middle & 0x3f) << 6) | (last & 0x3f)) + 0xf000 - 0xfee0)
}

const codeOf = (digits: string, radix: number) =>
  String.fromCharCode(Number.parseInt(digits, radix))
