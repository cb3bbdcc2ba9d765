import { type Evidence, hasPromises, type Rule } from '../rule.ts'
import { unknownClocks } from '../runs.ts'
import { inconclusive, type Verdict, type Witness } from '../verdict.ts'
import { foreignUseOf } from './foreign-use.ts'
import { oncePerEvidence } from './once.ts'
import { readsDifferences, unsteadyOf } from './unsteady.ts'

/** Why the evidence of a run decides nothing. */
interface Spoilt {
  readonly runId: string
  readonly why: string
  readonly witnesses: readonly Witness[]
  /** Whether a pass is spoilt, too. Requests without a row cause wrong failures, and hide a wrong charge only if others made them. */
  readonly spoilsPass: boolean
}

/** The verdict of a rule, unless its runs are spoilt: then that over the other runs if it is the same, else inconclusive. */
export async function unlessSpoilt(
  rule: Rule,
  verdict: Verdict,
  evidence: Evidence,
): Promise<Verdict> {
  if (verdict.verdict !== 'fail' && verdict.verdict !== 'pass') return verdict
  const spoilt = (await spoiltFor(rule, evidence)).filter(
    ({ spoilsPass }) => spoilsPass || verdict.verdict === 'fail',
  )
  const [first] = spoilt
  if (first === undefined) return verdict
  const rest = evidence.runIds.filter((id) => spoilt.every(({ runId }) => runId !== id))
  if (rest.length > 0) {
    const without = await rule.decide({ ...evidence, runIds: rest })
    if (without.verdict === verdict.verdict) return without
  }
  const why = [...new Set(spoilt.map((each) => each.why))].join('; and ')
  return verdict.verdict === 'fail'
    ? inconclusive(
        verdict.observations,
        `${verdict.observed}, where expected was ${verdict.expected}; but ${why}`,
        [...verdict.witnesses, ...first.witnesses],
      )
    : inconclusive(
        verdict.observations,
        `nothing is wrong in what was seen; but ${why}`,
        first.witnesses,
      )
}

const unknownClocksOf = oncePerEvidence(({ store, runIds }) => unknownClocks(store, runIds))

async function spoiltFor(rule: Rule, evidence: Evidence): Promise<readonly Spoilt[]> {
  const { runIds, killedRunIds = [], missingParts = [] } = evidence
  const isQuiet = rule.needs?.includes('quiescence') === true
  const isOfAccounts = isQuiet || /^(?:BILL|RATE)-/.test(rule.id)
  const missing = missingParts.filter(({ runId }) => isOfAccounts && runIds.includes(runId))
  return [
    ...(isQuiet ? killedRunIds : []).map((runId) => ({
      runId,
      why: `run ${runId} did not end, and what was in flight then has no row`,
      witnesses: [],
      spoilsPass: false,
    })),
    ...missing.map(({ runId, of, present }) => ({
      runId,
      why: `${of - present} of ${of} parts of run ${runId} are missing or did not end, whose requests used its accounts, too`,
      witnesses: [],
      spoilsPass: true,
    })),
    ...(isOfAccounts ? await unknownClocksOf(evidence) : []).map(({ runId }) => ({
      runId,
      why: `machines of run ${runId} shared an account, and how far their clocks are apart is not known: give merge a --clock-error`,
      witnesses: [],
      spoilsPass: true,
    })),
    ...(readsDifferences.test(rule.id) && hasPromises(evidence, ['models.cost_credits'])
      ? await unsteadyOf(evidence)
      : []
    ).map((unsteady) => ({ ...unsteady, spoilsPass: false })),
    ...(isQuiet && hasPromises(evidence, ['models.cost_credits'])
      ? await foreignUseOf(evidence)
      : []
    ).map(({ runId, shown, witnesses }) => ({ runId, why: shown, witnesses, spoilsPass: true })),
  ]
}
