import { safeJson } from '../../user/hostile.ts'
import type { AuditReport } from '../audit.ts'
import type { Finding, Witness } from '../verdict.ts'
import { amounts, amountsOf, isBroken, unpromised } from '../verdict.ts'
import { junitSuite, xml } from './junit.ts'
import { placeOf } from './place.ts'
import { printable } from './printable.ts'
import { judgedBy, summary } from './terminal.ts'

type Commands = ReadonlyMap<string, string>

export function jsonText(report: AuditReport, commands: Commands): string {
  const findings = report.findings.map((finding) => {
    const command = commands.get(finding.rule)
    return command === undefined ? finding : { ...finding, again: command }
  })
  return `${safeJson(JSON.stringify({ ...report, findings }, null, 2))}\n`
}

/** JUnit XML by the common schemas. A rule is a test case; an undecided one is skipped, never passed. Durations are left out. */
export function junitText(report: AuditReport, commands: Commands): string {
  const { findings } = report
  const failed = findings.filter(isBroken).length
  const skipped = findings.filter(
    ({ verdict }) => verdict.verdict !== 'pass' && verdict.verdict !== 'fail',
  ).length
  const cases = findings.map((finding) => {
    const name = xml(`${finding.rule} ${finding.title}`)
    const family = xml(finding.rule.split('-')[0] ?? '')
    return `    <testcase classname="assay.${family}" name="${name}" time="0">${outcomeOf(finding, commands.get(finding.rule))}</testcase>`
  })
  return junitSuite('assay audit', { failed, skipped }, report.auditedAt, cases)
}

function outcomeOf(finding: Finding, again: string | undefined): string {
  const { verdict } = finding
  switch (verdict.verdict) {
    case 'pass':
      return ''
    case 'fail': {
      const text = xml(
        `expected: ${verdict.expected}\nobserved: ${verdict.observed}\n${attemptsOf(finding)}${again === undefined ? '' : `\nreproduce: ${again}`}`,
      )
      return isBroken(finding)
        ? `<failure type="${finding.severity}" message="${xml(verdict.observed)}">${text}</failure>`
        : `<system-out>advice: ${text}</system-out>`
    }
    case 'inconclusive':
      return `<skipped message="${xml(`inconclusive: ${verdict.why}`)}"/>`
    case 'not-observed':
      return `<skipped message="${xml(`not observed; it needs ${verdict.requires}`)}"/>`
    case 'not-promised':
      return `<skipped message="${xml(`not promised: ${unpromised(verdict)}`)}"/>`
  }
}

/** Markdown for a pull request or a ticket: failures first, as on the terminal. */
export function markdownText(report: AuditReport, commands: Commands): string {
  const order = ['fail', 'inconclusive', 'not-observed', 'not-promised']
  const rows = order
    .flatMap((kind) => report.findings.filter(({ verdict }) => verdict.verdict === kind))
    .map(
      ({ rule, verdict, title }) =>
        `| ${rule} | ${verdict.verdict} | ${cell(title)} | ${cell(gist(verdict))} |`,
    )
  const lookUp = report.findings.flatMap(({ rule, verdict }) =>
    verdict.verdict === 'fail' ? lookUpText(rule, verdict.witnesses) : [],
  )
  const again = [...commands].flatMap(([rule, command]) => [
    `### Reproduce ${rule}`,
    '',
    '```sh',
    printable(command),
    '```',
    '',
  ])
  return [
    `## Audit by ${cell(judgedBy(report))}`,
    '',
    `${summary(report)}.`,
    '',
    ...(rows.length === 0
      ? []
      : ['| rule | verdict | promise | observed |', '|---|---|---|---|', ...rows, '']),
    ...lookUp,
    ...again,
  ].join('\n')
}

/** The requests of a finding as its service finds them in its own logs. */
function lookUpText(rule: string, witnesses: readonly Witness[]): readonly string[] {
  const known = witnesses.flatMap(({ service, shows }) =>
    service === undefined ? [] : [{ ...service, shows }],
  )
  if (known.length === 0) return []
  const head = ['UTC', 'request ids', 'endpoint', 'model', 'status', 'asked', 'tokens', ...amounts]
  const rows = known.map((of) => {
    const side = [of.at, of.ids.join(', '), of.endpoint, of.model, of.status, of.asked, of.usage]
    const values = [...side, ...amounts.map((name) => amountsOf(of)[name])]
    return values.map((value) => cell(String(value ?? '-')))
  })
  const formulas = known.flatMap((of) =>
    of.formula === null ? [] : [`- ${cell(`${amountsOf(of).expected} = ${of.formula}`)}`],
  )
  return [
    `### Requests of ${rule}`,
    '',
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    ...formulas,
    ...(formulas.length === 0 ? [] : ['']),
  ]
}

function gist(verdict: Finding['verdict']): string {
  switch (verdict.verdict) {
    case 'fail':
      return `expected ${verdict.expected}; observed ${verdict.observed}; first at ${placeOf(verdict.witnesses[0])}`
    case 'inconclusive':
      return verdict.why
    case 'not-observed':
      return `needs ${verdict.requires}`
    case 'not-promised':
      return `the contract has no ${unpromised(verdict)}`
    case 'pass':
      return ''
  }
}

function attemptsOf({ verdict }: Finding): string {
  if (verdict.verdict !== 'fail') return ''
  return verdict.witnesses.map((witness) => `${placeOf(witness)}: ${witness.shows}`).join('\n')
}

/** Escapes a service's text for a table cell of Markdown. */
const cell = (text: string): string =>
  printable(text).replace(/[\\`*_{}[\]<>|#!&~$]/g, (character) => `\\${character}`)
