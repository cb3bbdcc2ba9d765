const begins = (name: string) => `<!-- made by npm run peers: ${name} -->`
const ends = '<!-- end of what npm run peers made -->'

/**
 * Puts parts that a command made into their places of a page. Everything outside these places stays as it was written.
 * A part without a place is added at the end; a place without a new part keeps its old one.
 *
 * @param page the page as it is; empty for a new one
 * @param parts the text of each part by its name
 * @throws Error for a place without an end
 */
export function withParts(page: string, parts: ReadonlyMap<string, string>): string {
  let text = page
  for (const [name, part] of parts) {
    const made = `${begins(name)}\n\n${part.trim()}\n\n${ends}`
    const from = text.indexOf(begins(name))
    if (from < 0) {
      text = `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${made}\n`
      continue
    }
    const to = text.indexOf(ends, from)
    const next = text.indexOf('<!-- made by', from + 1)
    if (to < 0 || (next >= 0 && next < to)) {
      throw new Error(`the part "${name}" has no end: expected the line ${ends} after it`)
    }
    text = text.slice(0, from) + made + text.slice(to + ends.length)
  }
  return text
}
