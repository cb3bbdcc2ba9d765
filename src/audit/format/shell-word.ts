/** Quotes a word of a POSIX shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : quoted(text)
}

/** A command as a shell takes it. @param words without `assay` */
export const commandText = (words: readonly string[]): string =>
  `assay ${words.map(shellWord).join(' ')}`

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
