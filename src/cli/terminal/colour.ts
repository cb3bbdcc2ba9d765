import { styleText } from 'node:util'

/**
 * Colours verdicts on a terminal with colours, unless NO_COLOR is set. FORCE_COLOR colours them anywhere.
 * `held` and `passed` are coloured only as cells of a table: after two spaces or at the start of a line.
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
