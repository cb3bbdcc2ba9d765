import { type AuditReport, audit } from '../../audit/audit.ts'
import { measured } from '../../audit/figures.ts'
import { type Finding, figuresOf, type MeasuredFigure } from '../../audit/verdict.ts'
import type { Contract } from '../../contract/contract.ts'
import type { Store } from '../../store/session/open.ts'
import type { Work } from '../../user/work.ts'
import { type ComparedFigure, type Dearer, dearerOf } from './dearer.ts'

/** One of two endpoints that are audited. */
export interface SideToAudit {
  readonly store: Store
  /** Empty for every run against the base URL of the newest one. */
  readonly runIds: readonly string[]
  readonly contract: Contract
}

/** What one rule says of both. */
export interface ComparedRule {
  readonly rule: string
  readonly title: string
  readonly a: Finding
  readonly b: Finding
  readonly figures: readonly ComparedFigure[]
}

/** Two audits side by side. */
export interface AuditComparison {
  readonly a: AuditReport
  readonly b: AuditReport
  readonly rules: readonly ComparedRule[]
  /** Which is dearer for the same text; empty if that was not measured at both. */
  readonly dearer: readonly Dearer[]
}

/**
 * Audits two endpoints by the same rules, each by its contract, and lays the findings side by side. No store is changed.
 *
 * @param rules ids or families, such as `SOLD`
 * @throws UserError for an unknown run or rule
 */
export async function compareAudits(
  a: SideToAudit,
  b: SideToAudit,
  rules: readonly string[],
  work: Work = {},
): Promise<AuditComparison> {
  const audited = ({ store, runIds, contract }: SideToAudit) =>
    audit(store, { ...work, runIds, contract, rules, keeps: false })
  return sideBySide(await audited(a), await audited(b))
}

/** Lays two audits side by side: the rules of the first that the second has as well. */
export function sideBySide(a: AuditReport, b: AuditReport): AuditComparison {
  const others = new Map(b.findings.map((finding) => [finding.rule, finding]))
  const rules = a.findings.flatMap((finding): ComparedRule[] => {
    const other = others.get(finding.rule)
    if (other === undefined) return []
    const { rule, title } = finding
    return [{ rule, title, a: finding, b: other, figures: figuresOfBoth(finding, other) }]
  })
  return { a, b, rules, dearer: dearerOf(rules.flatMap(({ figures }) => figures)) }
}

/** Equal figures of both beside each other. One model of each side needs no name: it may have another one there. */
function figuresOfBoth(a: Finding, b: Finding): readonly ComparedFigure[] {
  const [left, right] = [figuresOf(a.verdict), figuresOf(b.verdict)]
  const isOne = [left, right].every((own) => new Set(own.map(({ model }) => model)).size <= 1)
  const titleOf = ({ name, of, model }: MeasuredFigure) =>
    [measured[name].title, of, isOne ? undefined : model].filter(Boolean).join(', ')
  const [byA, byB] = [left, right].map(
    (own) => new Map(own.map((figure) => [titleOf(figure), figure])),
  )
  return [...new Set([...byA!.keys(), ...byB!.keys()])].map((title) => {
    const [one, other] = [byA!.get(title) ?? null, byB!.get(title) ?? null]
    return { name: (one ?? other)!.name, title, a: one, b: other }
  })
}
