import type { AuditReport } from '../../audit/audit.ts'
import { jsonText, junitText, markdownText } from '../../audit/format/machine.ts'
import { sarifText } from '../../audit/format/sarif.ts'
import { terminalText } from '../../audit/format/terminal.ts'
import { selectRules } from '../../audit/rules/select.ts'
import { isUndecided } from '../../audit/verdict.ts'
import { isBroken } from '../../public/audit.ts'
import type { MergeOptions, Options } from '../commands/audit.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { widthOf } from '../terminal/terminal-width.ts'

const formats = {
  text: (report: AuditReport, commands: ReadonlyMap<string, string>, verbose: boolean) =>
    coloured(terminalText(report, commands, { width: widthOf(process.stdout), verbose })),
  json: jsonText,
  junit: junitText,
  sarif: sarifText,
  md: markdownText,
} as const satisfies Record<Options['format'], unknown>

/** Whether findings are printed for a person, on a terminal. */
export const isText = ({ json, format }: MergeOptions): boolean => format === 'text' && !json

/** A report of these rules alone: ids or families; all without one. */
export function ofRules(report: AuditReport, rules: readonly string[]): AuditReport {
  const wanted = new Set(selectRules(rules).map(({ id }) => id))
  return { ...report, findings: report.findings.filter(({ rule }) => wanted.has(rule)) }
}

/**
 * Prints the findings in the asked format, and sets the exit code.
 *
 * @param next the next command, by whether a promise is broken; only text ends with it
 */
export function printFindings(
  report: AuditReport,
  commands: ReadonlyMap<string, string>,
  options: MergeOptions,
  next: (isBroken: boolean) => string,
): void {
  const format = options.json ? 'json' : options.format
  process.stdout.write(formats[format](report, commands, options.verbose === true))
  if (format === 'text') process.stdout.write(next(report.findings.some(isBroken)))
  const open = report.findings.some(
    ({ verdict, severity }) => verdict.verdict === 'inconclusive' && severity !== 'advice',
  )
  const failed = report.findings.some(isBroken) || (options.strict === true && open)
  // What a rule would have found that failed in itself, nobody knows: that is no success.
  const otherwise = report.findings.some(isUndecided) ? exit.internal : exit.ok
  process.exitCode = failed ? exit.failed : otherwise
}
