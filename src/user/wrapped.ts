/**
 * Wraps a paragraph between words. A word longer than a line stays whole, and runs of spaces within a
 * line stay.
 *
 * @param hanging the start of every line but the first
 * @param columns width of a line, including indentation
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
