import { UserError } from '../user/user-error.ts'
import type { Evidence, Rule } from './rule.ts'
import { type Finding, inconclusive, notObserved, type Verdict } from './verdict.ts'

/** Decides rules one after the other; `settle` gives each finding its final form, `begin` is told of each rule before. */
export async function decideInOrder(
  rules: readonly Rule[],
  evidence: Evidence,
  settle: (rule: Rule, finding: Finding) => Promise<Finding> = async (_, finding) => finding,
  begin: (rule: Rule) => void = () => {},
): Promise<readonly Finding[]> {
  // The database has its own threads: evidence that is loaded early is ready while other rules decide. The first rule
  // that needs a failed load reports the error.
  const preparations = new Set(rules.flatMap(({ prepare }) => prepare ?? []))
  for (const prepare of preparations) prepare(evidence).catch(() => {})
  const findings: Finding[] = []
  for (const rule of rules) {
    begin(rule)
    findings.push(await settle(rule, await decide(rule, evidence)))
    for (const each of await furtherFindings(rule, evidence)) findings.push(each)
  }
  return findings
}

async function decide(rule: Rule, evidence: Evidence): Promise<Finding> {
  const verdict = await rule.decide(evidence).catch(undecided)
  return findingOf(rule, neverDecidedByNothing(verdict))
}

/** None if they failed: the rule's own finding already says why. */
async function furtherFindings(rule: Rule, evidence: Evidence): Promise<readonly Finding[]> {
  try {
    return (await rule.findings?.(evidence)) ?? []
  } catch (error) {
    passOn(error)
    return []
  }
}

export const findingOf = ({ id, severity = 'must', title }: Rule, verdict: Verdict): Finding => ({
  rule: id,
  severity: (verdict.verdict === 'fail' ? verdict.severity : undefined) ?? severity,
  title,
  verdict,
})

/** The verdict of a rule that failed in itself; throws what the user, or the end of the audit, is the cause of. */
export function undecided(error: unknown): Verdict {
  passOn(error)
  const reason = error instanceof Error ? error.message : String(error)
  return inconclusive(0, `undecided: ${reason}`, undefined, { isUndecided: true })
}

/** @throws an error that is not a rule's own: the user's, or the end of the audit */
function passOn(error: unknown): void {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  if (error instanceof UserError || isAbort) throw error
}

/** Guards the promise that a rule without observations never prints `pass`. */
function neverDecidedByNothing(verdict: Verdict): Verdict {
  return verdict.verdict === 'pass' && verdict.observations === 0
    ? notObserved('a request that it speaks of')
    : verdict
}
