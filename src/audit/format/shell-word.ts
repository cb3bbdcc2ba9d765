/** Quotes a word of a POSIX shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : quoted(text)
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
