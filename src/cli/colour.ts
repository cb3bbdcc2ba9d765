import { styleText } from 'node:util'

/**
 * Verdicts in colour, on a terminal that shows colours and where NO_COLOR does not forbid them.
 * FORCE_COLOR asks for them anywhere. A word of a table has two spaces before it, or begins a line.
 */
export function coloured(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const paint = (style: Parameters<typeof styleText>[0]) => (words: string) =>
    styleText(style, words, { stream })
  return text
    .replace(/\b(?:MISSED|FAILED|INVALID)\b/g, paint(['red', 'bold']))
    .replace(/\b(?:INCONCLUSIVE|DEGRADED)\b/g, paint(['yellow', 'bold']))
    .replace(/\bVALID\b/g, paint(['green', 'bold']))
    .replace(/(?<=^| {2})(?:held|passed)(?= {2}|\n|$)/g, paint('green'))
}
