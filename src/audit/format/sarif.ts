import type { AuditReport } from '../audit.ts'
import { explanationOf } from '../rules/explain.ts'
import { allRules } from '../rules/list.ts'
import type { Finding, Witness } from '../verdict.ts'
import { isBroken } from '../verdict.ts'
import { placeOf } from './place.ts'
import { printable } from './printable.ts'

/**
 * SARIF 2.1.0 for code scanning pages: failures, advice and inconclusive verdicts. Pages refuse a file with a result without
 * location: each points to the scenario's file. The fingerprint is the rule, so a repeated audit updates its alert.
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

function locationsOf({ verdict }: Finding, { runs }: AuditReport): readonly object[] {
  const witnesses: readonly Witness[] = ('witnesses' in verdict && verdict.witnesses) || []
  if (witnesses.length === 0) return [physical(runs.at(-1)?.scenario)]
  return witnesses.map((witness) => ({
    ...physical(runs.find(({ runId }) => runId === witness.runId)?.scenario),
    logicalLocations: [{ fullyQualifiedName: printable(placeOf(witness)), kind: 'resource' }],
    message: { text: printable(`${placeOf(witness)}: ${witness.shows}`) },
  }))
}

/** @param scenario its name; the record does not have the name of its file */
function physical(scenario = 'unknown') {
  return {
    physicalLocation: {
      artifactLocation: { uri: `scenarios/${encodeURIComponent(scenario)}.yaml` },
      region: { startLine: 1 },
    },
  }
}
