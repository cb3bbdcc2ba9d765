import { formatsOnly } from '../../contract/formats-only.ts'
import { wrapped } from '../../user/wrapped.ts'
import type { AuditReport } from '../audit.ts'
import type { Finding, Witness } from '../verdict.ts'
import { isBroken } from '../verdict.ts'
import { printable } from './printable.ts'

const shownWitnesses = 6

/**
 * The report for a terminal: failures first, undecided rules last, passes as a count.
 *
 * @param width columns at which sentences are broken; commands stay whole for copying
 */
export function terminalText(
  report: AuditReport,
  commands: ReadonlyMap<string, string>,
  width = Number.POSITIVE_INFINITY,
): string {
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
    wrapped(
      printable(
        `Audit of ${count(runs.length, 'run')}, ${count(attempts, 'attempt')}, against ${runs.at(-1)?.baseUrl} by ${judgedBy(report)}`,
      ),
      '',
      width,
    ).join('\n'),
    ...of('fail').map((finding) => failure(finding, commands.get(finding.rule), width)),
    ...of('inconclusive').map((finding) => inconclusive(finding, width)),
    section(
      'NOT OBSERVED: the traffic that each rule needs',
      of('not-observed').map(({ rule, verdict }) =>
        verdict.verdict === 'not-observed' ? line(rule, verdict.takes, width) : '',
      ),
    ),
    section(
      'NOT PROMISED: what the contract leaves out',
      of('not-promised').map(({ rule, verdict }) =>
        verdict.verdict === 'not-promised' ? line(rule, verdict.promises.join(', '), width) : '',
      ),
    ),
    passes.length === 0
      ? ''
      : `PASSED  ${count(passes.length, 'rule')}, decided by ${count(observations, 'observation')}${noted(passes, width)}`,
    summary(report),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** The counts of all verdicts, in one line. */
export function summary({ findings }: AuditReport): string {
  const of = (verdict: string) =>
    findings.filter((finding) => finding.verdict.verdict === verdict).length
  const broken = findings.filter(isBroken).length
  const advised = of('fail') - broken
  const unpromised = of('not-promised')
  return `${broken} failed, ${advised === 0 ? '' : `${advised} advised, `}${of('inconclusive')} inconclusive, ${of('not-observed')} not observed, ${unpromised === 0 ? '' : `${unpromised} not promised, `}${of('pass')} passed`
}

/** What a service was judged by, for a sentence. */
export function judgedBy({ contract }: AuditReport): string {
  return contract === formatsOnly.name
    ? 'the rules of the formats alone (chat, messages, SSE, HTTP): no contract was given, and nothing shows that the service is svc. --contract names one'
    : `the contract ${contract}`
}

function failure(
  { rule, title, severity, verdict }: Finding,
  command: string | undefined,
  width: number,
): string {
  if (verdict.verdict !== 'fail') return ''
  const lines = [
    ...wrapped(`${severity === 'advice' ? 'ADVISED' : 'FAILED'}  ${rule}  ${title}`, '  ', width),
    line('expected', verdict.expected, width),
    line('observed', verdict.came, width),
    ...witnessLines(verdict.witnesses, width),
  ]
  if (command !== undefined) lines.push(`  reproduce ${printable(command)}`)
  if (verdict.note !== undefined) lines.push(line('note', verdict.note, width))
  return lines.join('\n')
}

function inconclusive({ rule, title, verdict }: Finding, width: number): string {
  if (verdict.verdict !== 'inconclusive') return ''
  return [
    ...wrapped(`INCONCLUSIVE  ${rule}  ${title}`, '  ', width),
    line('because', verdict.why, width),
    ...witnessLines(verdict.witnesses ?? [], width),
  ].join('\n')
}

function witnessLines(witnesses: readonly Witness[], width: number): readonly string[] {
  const lines = witnesses
    .slice(0, shownWitnesses)
    .map(({ runId, slot, retry, shows }, at) =>
      line(
        at === 0 ? 'attempts' : '',
        `${runId} slot ${slot}${retry > 0 ? ` retry ${retry}` : ''}: ${shows}`,
        width,
      ),
    )
  const more = witnesses.length - shownWitnesses
  if (more > 0) lines.push(`            and ${more} more; --format json has all`)
  return lines
}

function noted(passes: readonly Finding[], width: number): string {
  return passes
    .map(({ rule, verdict }) =>
      verdict.verdict === 'pass' && verdict.note !== undefined
        ? `\n${line(rule, verdict.note, width)}`
        : '',
    )
    .join('')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [title, ...lines].join('\n')
}

const indent = 12

/** A label and its text as one paragraph. Line breaks in a service's text are shown as escapes. */
function line(label: string, text: string, width: number): string {
  return wrapped(`  ${label.padEnd(indent - 2)}${printable(text)}`, ' '.repeat(indent), width).join(
    '\n',
  )
}

function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}
