const json = (text: string) => JSON.stringify(text).slice(1, -1)
const hex4 = (letter: string) => letter.charCodeAt(0).toString(16).padStart(4, '0')
const eachByte = (text: string, as: (byte: number) => string) =>
  [...Buffer.from(text)].map(as).join('')
const hex2 = (byte: number) => byte.toString(16).padStart(2, '0')
const each = (text: string, as: (letter: string) => string) => [...text].map(as).join('')

/** Ways to write a text, from which it can be read again. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  json,
  'json, slashes too': (text) => json(text).replaceAll('/', '\\/'),
  'json, wholly \\u': (text) => each(text, (letter) => `\\u${hex4(letter)}`),
  'json, \\U in capitals': (text) => each(text, (letter) => `\\u${hex4(letter).toUpperCase()}`),
  'json, one letter': (text) =>
    json(text).replace(/(?<!\\)[a-z]/, (letter) => `\\u${hex4(letter)}`),
  percent: encodeURIComponent,
  'percent, lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'percent, all': (text) => eachByte(text, (byte) => `%${hex2(byte)}`),
  'character references': (text) => each(text, (letter) => `&#${letter.charCodeAt(0)};`),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'base64 behind a byte': (text) => Buffer.from(`x${text}`).toString('base64'),
  'base64 behind two': (text) => Buffer.from(`xy${text}`).toString('base64'),
  'base64 in lines': (text) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/.{20}/g, (line) => `${line}\r\n`),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'letters of two bytes': (text) => each(text, (letter) => `${letter}\0`),
  'in capitals': (text) => text.toUpperCase(),
  'hex with spaces': (text) => (Buffer.from(text).toString('hex').match(/../g) ?? []).join(' '),
  'hex with prefixes': (text) => eachByte(text, (byte) => `0x${hex2(byte)},`),
  octal: (text) => eachByte(text, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'braces of JavaScript': (text) => each(text, (letter) => `\\u{${hex4(letter)}}`),
  'percent u': (text) => each(text, (letter) => `%u${hex4(letter)}`),
  base32: (text) => base32(Buffer.from(text)),
  'base32 in small letters': (text) => base32(Buffer.from(text)).toLowerCase(),
  'base64 folded and indented': (text) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/.{12}/g, (line) => `${line}\n    `),
  'full width': (text) =>
    text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
  'byte values': (text) => [...Buffer.from(text)].join(', '),
  'octal values': (text) => [...Buffer.from(text)].map((byte) => byte.toString(8)).join(' '),
  'a typed array': (text) => JSON.stringify(new Uint8Array(Buffer.from(text))),
  bits: (text) => [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join(' '),
  'quoted-printable': (text) => eachByte(text, (byte) => `=${hex2(byte).toUpperCase()}`),
}

/** RFC 4648, section 6. */
function base32(bytes: Buffer): string {
  const digits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const fives = digits.match(/.{1,5}/g) ?? []
  return fives
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

/** Every text that a text may decode to in one step, whatever its case. */
function decodings(text: string): ReadonlySet<string> {
  const code = (radix: number) => (_: string, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, radix))
  const plain = text.replaceAll('\0', '')
  const numbers = (radix: number, step: number, first: number) =>
    (plain.match(/\d+/g) ?? [])
      .filter((_, nth) => nth % step === first)
      .map((number) => String.fromCharCode(Number.parseInt(number, radix) & 255))
      .join('')
  const found = new Set([
    plain,
    plain
      .replace(/\\u([0-9a-fA-F]{4})/g, code(16))
      .replace(/\\u\{([0-9a-fA-F]+)\}/g, code(16))
      .replace(/\\([0-3][0-7]{2})/g, code(8))
      .replace(/\\(["\\/])/g, '$1'),
    plain.replace(/%([0-9a-fA-F]{2})/g, code(16)).replace(/%u([0-9a-fA-F]{4})/g, code(16)),
    plain.replace(/&#(\d+);/g, code(10)),
    plain.replace(/=([0-9a-fA-F]{2})/g, code(16)),
    plain.replace(/[\uff01-\uff5e]/g, (letter) =>
      String.fromCharCode(letter.charCodeAt(0) - 0xfee0),
    ),
    numbers(10, 1, 0),
    numbers(8, 1, 0),
    numbers(10, 2, 1),
    ...(plain.match(/[01 ]{64,}/g) ?? []).map((bits) => bytesOf(bits.replaceAll(' ', ''), 1, '01')),
    ...(plain.match(/[A-Z2-7]{13,}/gi) ?? []).map((run) =>
      bytesOf(run.toUpperCase(), 5, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'),
    ),
    ...(plain.replace(/0x|[\s,]/g, '').match(/[0-9a-fA-F]{16,}/g) ?? []).map((run) =>
      Buffer.from(run, 'hex').toString('utf8'),
    ),
    ...(plain.replace(/\s/g, '').match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).flatMap((run) =>
      [run, run.slice(1), run.slice(2), run.slice(3)].map((digits) =>
        Buffer.from(digits, 'base64').toString('utf8'),
      ),
    ),
  ])
  found.delete(text)
  found.delete('')
  return found
}

function bytesOf(run: string, width: number, digits: string): string {
  const bits = [...run]
    .map((digit) => digits.indexOf(digit).toString(2).padStart(width, '0'))
    .join('')
  return (bits.match(/.{8}/g) ?? [])
    .map((byte) => String.fromCharCode(Number.parseInt(byte, 2)))
    .join('')
}

/** Whether a text shows eight letters of a secret in two decodings or fewer. An oracle that shares nothing with ours. */
export function shows(text: string, secret: string, depth = 2): boolean {
  const [low, wanted] = [text.toLowerCase(), secret.toLowerCase()]
  for (let at = 0; at + 8 <= wanted.length; at++) {
    if (low.includes(wanted.slice(at, at + 8))) return true
  }
  return depth > 0 && [...decodings(text)].some((each) => shows(each, secret, depth - 1))
}
