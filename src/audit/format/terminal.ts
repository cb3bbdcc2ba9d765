import { formatsOnly } from '../../contract/formats-only.ts'
import { wrapped } from '../../user/wrapped.ts'
import type { AuditedLog, AuditReport } from '../audit.ts'
import type { Finding, Witness } from '../verdict.ts'
import { isBroken, unpromised } from '../verdict.ts'
import { placeOf } from './place.ts'
import { printable } from './printable.ts'

const shownWitnesses = 6

export interface TerminalOptions {
  /** Columns at which sentences are broken; commands stay whole for copying. */
  readonly width?: number
  /** Also lists what was not observed and what is not promised. */
  readonly verbose?: boolean
}

/** The report for a terminal; what matters most comes last, where a reader looks: failures and the line of counts. */
export function terminalText(
  report: AuditReport,
  commands: ReadonlyMap<string, string>,
  { width = Number.POSITIVE_INFINITY, verbose = false }: TerminalOptions = {},
): string {
  const { findings, runs } = report
  const of = (verdict: Finding['verdict']['verdict']) =>
    findings.filter((finding) => finding.verdict.verdict === verdict)
  const sum = (of: 'attempts' | 'before') => runs.reduce((all, run) => all + run[of], 0)
  const before =
    sum('before') === 0 ? '' : ` (${sum('before').toLocaleString('en')} of them before the load)`
  const passes = of('pass')
  const observations = passes.reduce(
    (sum, { verdict }) => sum + (verdict.verdict === 'pass' ? verdict.observations : 0),
    0,
  )
  const more = [
    unsaid('NOT OBSERVED', of('not-observed'), { width, verbose }),
    unsaid('NOT PROMISED', of('not-promised'), { width, verbose }),
    passes.length === 0
      ? ''
      : `PASSED  ${count(passes.length, 'rule')}, decided by ${count(observations, 'observation')}${noted(passes, width)}`,
  ].filter((part) => part !== '')
  const parts = [
    wrapped(
      printable(
        report.log !== undefined
          ? `Audit of ${logText(report.log)}, by ${judgedBy(report)}`
          : `Audit of ${count(runs.length, 'run')}, ${count(sum('attempts'), 'attempt')}${before}, against ${runs.at(-1)?.baseUrl} by ${judgedBy(report)}`,
      ),
      '',
      width,
    ).join('\n'),
    more.join(verbose ? '\n\n' : '\n'),
    ...of('inconclusive').map((finding) => inconclusive(finding, width)),
    ...failuresLast(of('fail')).map((finding) =>
      failure(finding, commands.get(finding.rule), width),
    ),
    summary(report),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Advice before broken promises. */
const failuresLast = (failures: readonly Finding[]) => [
  ...failures.filter((finding) => !isBroken(finding)),
  ...failures.filter(isBroken),
]

/** Rules that nothing decided, as counts by family or, at length, with what each takes. */
function unsaid(
  title: string,
  findings: readonly Finding[],
  { width, verbose }: Required<TerminalOptions>,
): string {
  if (findings.length === 0) return ''
  if (verbose)
    return [title, ...findings.map((finding) => line(finding.rule, takenBy(finding), width))].join(
      '\n',
    )
  const families = Map.groupBy(findings, ({ rule }) => rule.replace(/-\d+$/, ''))
  const counts = [...families].map(([family, { length }]) => `${family} ${length}`).join(', ')
  return wrapped(
    `${title}  ${count(findings.length, 'rule')} (${counts}); --verbose says ${title === 'NOT OBSERVED' ? 'what each takes' : 'which'}`,
    '  ',
    width,
  ).join('\n')
}

/** The traffic that a rule needs, or the promises that the contract leaves out. */
function takenBy({ verdict }: Finding): string {
  if (verdict.verdict === 'not-observed') return verdict.requires
  return verdict.verdict === 'not-promised' ? unpromised(verdict) : ''
}

export function summary({ findings }: AuditReport): string {
  const of = (verdict: string) =>
    findings.filter((finding) => finding.verdict.verdict === verdict).length
  const broken = findings.filter(isBroken).length
  const advised = of('fail') - broken
  const unpromised = of('not-promised')
  return `${broken} failed, ${advised === 0 ? '' : `${advised} advised, `}${of('inconclusive')} inconclusive, ${of('not-observed')} not observed, ${unpromised === 0 ? '' : `${unpromised} not promised, `}${of('pass')} passed`
}

/** `october.jsonl, 84 rows of 2026-10-01 to 2026-10-31 UTC`. */
export function logText({ file, rows, first, last }: AuditedLog): string {
  const [from, to] = [first, last].map((date) => date?.toISOString().slice(0, 10))
  const when =
    from === undefined || to === undefined ? '' : ` of ${from}${from === to ? '' : ` to ${to}`} UTC`
  return `${file}, ${count(rows, 'row')}${when}`
}

/** What a service was judged by, for a sentence. */
export function judgedBy({ contract, findings }: AuditReport): string {
  if (contract !== formatsOnly.name) return `the contract ${contract}`
  const open = findings.filter(({ verdict }) => verdict.verdict === 'not-promised').length
  const unjudged =
    open === 0 ? '' : ` ${count(open, 'rule')} of credits, prices, limits and models NOT JUDGED.`
  return `the rules of the formats alone (chat, messages, SSE, HTTP): no contract was given, and nothing shows that the service is svc.${unjudged} --contract names one`
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
    line('observed', verdict.observed, width),
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
    .map((witness, at) =>
      line(at === 0 ? 'requests' : '', `${placeOf(witness)}: ${witness.shows}`, width),
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

const indent = 12

/** A label and its text as one paragraph. Line breaks in a service's text are shown as escapes. */
function line(label: string, text: string, width: number): string {
  return wrapped(`  ${label.padEnd(indent - 2)}${printable(text)}`, ' '.repeat(indent), width).join(
    '\n',
  )
}

const count = (number: number, what: string): string =>
  `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
