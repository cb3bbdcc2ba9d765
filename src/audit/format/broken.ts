/**
 * A paragraph broken between words; a word that is longer than the line stays whole. Runs of spaces stay.
 *
 * @param hanging what every line but the first begins with
 * @param width columns, that of the first word's indent included
 */
export function broken(text: string, hanging: string, width: number): string {
  const lines: string[] = []
  for (const word of text.split(/(?<=\S) (?=\S)/)) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(word)
    else if (last.length + 1 + word.length > width) lines.push(`${hanging}${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.join('\n')
}
