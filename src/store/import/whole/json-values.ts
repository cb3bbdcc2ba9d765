/**
 * Splits a text of JSON objects and lists that follow each other, as `curl … >> file` leaves them.
 *
 *     jsonValues('{"a": 1}\n[2]\n')   // ['{"a": 1}', '[2]']
 *
 * @returns the text of each; null if the last one is not closed, or if something else is between them
 */
export function jsonValues(text: string): readonly string[] | null {
  const values: string[] = []
  const signs = /["{}[\]]/g
  let [depth, start] = [0, 0]
  for (let match = signs.exec(text); match !== null; match = signs.exec(text)) {
    const sign = match[0]
    if (sign === '"') {
      const end = endOfString(text, match.index)
      if (end === null || depth === 0) return null
      signs.lastIndex = end
    } else if (sign === '{' || sign === '[') {
      if (depth++ > 0) continue
      if (text.slice(start, match.index).trim() !== '') return null
      start = match.index
    } else if (--depth === 0) {
      values.push(text.slice(start, signs.lastIndex))
      start = signs.lastIndex
    } else if (depth < 0) return null
  }
  return depth === 0 && text.slice(start).trim() === '' ? values : null
}

/** The index behind the quote that ends a string; null if it is not there. */
function endOfString(text: string, from: number): number | null {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return null
}
