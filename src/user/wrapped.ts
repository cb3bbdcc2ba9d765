/**
 * A paragraph as lines, broken between words; a word that is longer than a line stays whole. Runs of spaces
 * stay within a line.
 *
 * @param hanging what every line but the first begins with
 * @param columns width of a line, that of the first word's indent included
 */
export function wrapped(text: string, hanging: string, columns = 80): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/(?<=\S)(?= +\S)/)) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(word)
    else if (last.length + word.length > columns) lines.push(`${hanging}${word.trimStart()}`)
    else lines[lines.length - 1] = `${last}${word}`
  }
  return lines
}
