const json = (text: string) => JSON.stringify(text).slice(1, -1)
const hex4 = (letter: string) => letter.charCodeAt(0).toString(16).padStart(4, '0')
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
  'percent, all': (text) => each(text, (letter) => `%${hex4(letter).slice(2)}`),
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
}

/** Every text that a text may decode to, up to `nest` levels. */
function readings(text: string, depth: number): readonly string[] {
  if (depth === 0) return [text]
  const plain = text.replaceAll('\0', '')
  const unicode = plain
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replace(/\\(["\\/])/g, '$1')
  const percent = plain.replace(/%([0-9a-fA-F]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const references = plain.replace(/&#(\d+);/g, (_, code: string) =>
    String.fromCharCode(Number(code)),
  )
  const runs = (plain.replace(/[\r\n]/g, '').match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).flatMap((run) => [
    Buffer.from(run, 'hex').toString('latin1'),
    Buffer.from(run, 'base64').toString('latin1'),
  ])
  const next = new Set([plain, unicode, percent, references, ...runs])
  next.delete(text)
  return [text, ...[...next].flatMap((each) => readings(each, depth - 1))]
}

/** The longest part of the key that a text shows in any decoding. */
export function shown(text: string, secret: string): number {
  let longest = 0
  for (const reading of readings(text, 2)) {
    for (let at = 0; at + 8 <= secret.length; at++) {
      if (reading.includes(secret.slice(at, at + 8))) longest = 8
    }
  }
  return longest
}
