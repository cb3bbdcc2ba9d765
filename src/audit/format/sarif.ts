import type { AuditReport } from '../audit.ts'
import { explanationOf } from '../rules/explain.ts'
import { allRules } from '../rules/list.ts'
import type { Finding, Witness } from '../verdict.ts'
import { isBroken } from '../verdict.ts'
import { placeOf } from './place.ts'
import { printable } from './printable.ts'

/**
 * SARIF 2.1.0 for code scanning pages: failures, advice and inconclusive verdicts. Pages refuse a file with a result without
 * location: each points to the file of the scenario, or of a log that is judged by itself. The fingerprint is the rule, so a repeated audit updates its alert.
 */
export function sarifText(report: AuditReport, commands: ReadonlyMap<string, string>): string {
  const rules = report.findings.map(({ rule, title }) => {
    const known = allRules.find(({ id }) => id === rule)
    return {
      id: rule,
      shortDescription: { text: title },
      fullDescription: { text: title },
      help: { text: known === undefined ? title : explanationOf(known) },
    }
  })
  const results = report.findings.flatMap((finding) => {
    const text = textOf(finding)
    if (text === null) return []
    const again = commands.get(finding.rule)
    return [
      {
        ruleId: finding.rule,
        level: isBroken(finding)
          ? 'error'
          : finding.verdict.verdict === 'fail'
            ? 'warning'
            : 'note',
        message: { text: printable(text) },
        ...(again === undefined ? {} : { properties: { again: printable(again) } }),
        locations: locationsOf(finding, report),
        partialFingerprints: { primaryLocationLineHash: `${finding.rule}:1` },
      },
    ]
  })
  return `${JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'assay', rules } }, results }],
    },
    null,
    2,
  )}\n`
}

/** Null for verdicts without a result: passed or not observed. */
function textOf({ verdict }: Finding): string | null {
  if (verdict.verdict === 'fail')
    return `expected ${verdict.expected}; observed ${verdict.observed}`
  return verdict.verdict === 'inconclusive' ? `inconclusive: ${verdict.why}` : null
}

function locationsOf({ verdict }: Finding, report: AuditReport): readonly object[] {
  const witnesses: readonly Witness[] = ('witnesses' in verdict && verdict.witnesses) || []
  if (witnesses.length === 0) return [physical(fileOf(report))]
  return witnesses.map((witness) => ({
    ...physical(fileOf(report, witness), lineOf(report, witness)),
    logicalLocations: [{ fullyQualifiedName: printable(placeOf(witness)), kind: 'resource' }],
    message: { text: printable(`${placeOf(witness)}: ${witness.shows}`) },
  }))
}

/** The log that was judged by itself, else the scenario of the witness's run: the record does not have the name of its file. */
function fileOf({ runs, log }: AuditReport, witness?: Witness): string {
  if (log !== undefined) return encodeURIComponent(log.file)
  const run =
    witness === undefined ? runs.at(-1) : runs.find(({ runId }) => runId === witness.runId)
  return `scenarios/${encodeURIComponent(run?.scenario ?? 'unknown')}.yaml`
}

/** Only in JSON Lines is the number of a row that of its line. */
const lineOf = ({ log }: AuditReport, { service }: Witness): number | undefined =>
  log !== undefined && /\.(?:jsonl|ndjson)$/i.test(log.file) ? service?.line : undefined

const physical = (uri: string, startLine = 1) => ({
  physicalLocation: { artifactLocation: { uri }, region: { startLine } },
})
