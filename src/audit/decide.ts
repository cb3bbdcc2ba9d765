import type { Evidence, Rule } from './rule.ts'
import type { Finding, Verdict } from './verdict.ts'

/** Decides rules one after the other. */
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
    if (rule.findings !== undefined) findings.push(...(await rule.findings(evidence)))
  }
  return findings
}

async function decide(rule: Rule, evidence: Evidence): Promise<Finding> {
  const verdict = await rule.decide(evidence).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`rule ${rule.id} could not be decided: ${why}`, { cause: error })
  })
  return {
    rule: rule.id,
    severity: rule.severity,
    title: rule.title,
    verdict: neverDecidedByNothing(verdict),
  }
}

/** Guards the promise that a rule without observations never prints `pass`. */
function neverDecidedByNothing(verdict: Verdict): Verdict {
  return verdict.verdict === 'pass' && verdict.observations === 0
    ? { verdict: 'not-observed', requires: 'a request that it speaks of' }
    : verdict
}
