/** Quotes a word of a POSIX shell if necessary. */
export const shellWord = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : quoted(text))

/** A command as a shell takes it. @param words without `assay` */
export const commandText = (words: readonly string[]): string =>
  `assay ${words.map(shellWord).join(' ')}`

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
