import type { AuditReport } from '../audit.ts'
import type { Finding, Witness } from '../verdict.ts'
import { printable } from './printable.ts'

const shownWitnesses = 6

/** The report for a person: failures first, what decides nothing last, passes counted. */
export function terminalText(report: AuditReport, commands: ReadonlyMap<string, string>): string {
  const { findings, runs } = report
  const of = (verdict: Finding['verdict']['verdict']) =>
    findings.filter((finding) => finding.verdict.verdict === verdict)
  const attempts = runs.reduce((sum, run) => sum + run.attempts, 0)
  const passes = of('pass')
  const observations = passes.reduce(
    (sum, { verdict }) => sum + (verdict.verdict === 'pass' ? verdict.observations : 0),
    0,
  )
  const parts = [
    `Audit of ${count(runs.length, 'run')}, ${count(attempts, 'attempt')}, against ${runs.at(-1)?.baseUrl} by the contract ${report.contract}`,
    ...of('fail').map((finding) => failure(finding, commands.get(finding.rule))),
    ...of('inconclusive').map(inconclusive),
    section(
      'NOT OBSERVED, and what each would take',
      of('not-observed').map(({ rule, verdict }) =>
        verdict.verdict === 'not-observed' ? `${rule.padEnd(8)}  ${verdict.takes}` : '',
      ),
    ),
    `PASSED  ${count(passes.length, 'rule')}, decided by ${observations.toLocaleString('en')} observations${noted(passes)}`,
    summary(report),
  ]
  return `${parts
    .filter((part) => part !== '')
    .map(printableLines)
    .join('\n\n')}\n`
}

/** One line that says it all. */
export function summary({ findings }: AuditReport): string {
  const of = (verdict: string) =>
    findings.filter((finding) => finding.verdict.verdict === verdict).length
  return `${of('fail')} failed, ${of('inconclusive')} inconclusive, ${of('not-observed')} not observed, ${of('pass')} passed`
}

function failure({ rule, says, severity, verdict }: Finding, command: string | undefined): string {
  if (verdict.verdict !== 'fail') return ''
  const lines = [
    `${severity === 'advice' ? 'ADVISED' : 'FAILED'}  ${rule}  ${says}`,
    `  expected  ${verdict.expected}`,
    `  came      ${verdict.came}`,
    ...witnessLines(verdict.witnesses),
  ]
  if (command !== undefined) lines.push(`  again     ${command}`)
  if (verdict.note !== undefined) lines.push(`  note      ${verdict.note}`)
  return lines.join('\n')
}

function inconclusive({ rule, says, verdict }: Finding): string {
  if (verdict.verdict !== 'inconclusive') return ''
  return [
    `INCONCLUSIVE  ${rule}  ${says}`,
    `  because   ${verdict.why}`,
    ...witnessLines(verdict.witnesses ?? []),
  ].join('\n')
}

function witnessLines(witnesses: readonly Witness[]): readonly string[] {
  const lines = witnesses
    .slice(0, shownWitnesses)
    .map(
      ({ runId, slot, retry, shows }, at) =>
        `  ${at === 0 ? 'attempts' : '        '}  ${runId} slot ${slot}${retry > 0 ? ` retry ${retry}` : ''}: ${shows}`,
    )
  const more = witnesses.length - shownWitnesses
  if (more > 0) lines.push(`            and ${more} more; --format json has all`)
  return lines
}

function noted(passes: readonly Finding[]): string {
  return passes
    .map(({ rule, verdict }) =>
      verdict.verdict === 'pass' && verdict.note !== undefined
        ? `\n  ${rule}  ${verdict.note}`
        : '',
    )
    .join('')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [title, ...lines.map((line) => `  ${line}`)].join('\n')
}

function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}

/** Line ends are ours, all else that a service may have sent is made harmless. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}
