import type { Evidence, Rule } from './rule.ts'
import type { Finding, Verdict } from './verdict.ts'

/** Decides rules one after the other. */
export async function decideInOrder(
  rules: readonly Rule[],
  evidence: Evidence,
  onFinding?: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  // The database works on its own threads: what is loaded early is ready while others decide. A load
  // that fails is told by the first rule that needs it.
  const preparations = new Set(rules.flatMap(({ prepare }) => prepare ?? []))
  for (const prepare of preparations) prepare(evidence).catch(() => {})
  const findings: Finding[] = []
  for (const rule of rules) {
    const finding = await decide(rule, evidence)
    findings.push(finding)
    onFinding?.(finding)
  }
  return findings
}

async function decide(rule: Rule, evidence: Evidence): Promise<Finding> {
  const verdict = await decideOnAllThatIsKnown(rule, evidence).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`rule ${rule.id} could not be decided: ${why}`, { cause: error })
  })
  return {
    rule: rule.id,
    severity: rule.severity,
    says: rule.says,
    verdict: neverDecidedByNothing(verdict),
  }
}

/**
 * A rule that takes an account without other traffic fails nobody by a run that was killed: requests
 * whose rows it lost are such traffic.
 */
async function decideOnAllThatIsKnown(rule: Rule, evidence: Evidence): Promise<Verdict> {
  const verdict = await rule.decide(evidence)
  const { runIds, killedRunIds = [] } = evidence
  if (verdict.verdict !== 'fail' || !rule.needs.includes('quiescence')) return verdict
  if (killedRunIds.length === 0) return verdict
  const ended = runIds.filter((runId) => !killedRunIds.includes(runId))
  if (ended.length > 0) {
    const without = await rule.decide({ ...evidence, runIds: ended })
    if (without.verdict === 'fail') return without
  }
  const killed = killedRunIds.length === 1 ? 'run' : 'runs'
  return {
    verdict: 'inconclusive',
    observations: verdict.observations,
    why: `${verdict.came}, where expected was ${verdict.expected}; but ${killed} ${killedRunIds.join(', ')} did not end, and what was in flight then has no row`,
    witnesses: verdict.witnesses,
  }
}

/** The last guard of the promise that a rule which nothing decided never prints `pass`. */
function neverDecidedByNothing(verdict: Verdict): Verdict {
  return verdict.verdict === 'pass' && verdict.observations === 0
    ? { verdict: 'not-observed', takes: 'a request that it speaks of' }
    : verdict
}
