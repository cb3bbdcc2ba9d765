/**
 * fast-check, as every test imports it (`vitest.config.ts`): a property that fails prints its smallest case in at most 40 lines of
 * 160 letters. The seed, which repeats the case, is whole.
 */
import fc from '../node_modules/fast-check/lib/fast-check.js'

export * from '../node_modules/fast-check/lib/fast-check.js'
export default fc

const [mostLines, mostLetters] = [40, 160]

const cut = (text: string, most: number, unit: string, joint: string) => {
  const parts = text.split(joint)
  const left = parts.length - most
  return left <= 0 ? text : [...parts.slice(0, most), `… ${left} more ${unit}`].join(joint)
}

/** A report of at most 40 lines. A long path is omitted: it has a number for each step of shrinking, and the seed finds the case. */
export function shortened(report: string): string {
  const lines = report
    .replace(/, path: "[^"]{400,}"/, '')
    .split('\n')
    .map((line) => (line.startsWith('{ seed: ') ? line : cut(line, mostLetters, 'letters', '')))
  return cut(lines.join('\n'), mostLines, 'lines', '\n')
}

function report(details: fc.RunDetails<unknown>): void {
  if (!details.failed) return
  const message = shortened(fc.defaultReportMessage(details))
  throw new Error(message, { cause: details.errorInstance })
}

fc.configureGlobal({ reporter: report })
