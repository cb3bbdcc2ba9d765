import type { Contract } from '../../../contract/contract.ts'
import { modelPriceOf } from '../../../contract/model-price.ts'
import { add, compare, divide, type Rational, rational, zero } from '../../../money/rational.ts'
import { costRational } from '../../../price/attempts/attempt-costs.ts'
import { type CostKind, readRunCosts } from '../../../price/attempts/run-costs.ts'
import type { Session } from '../../../store/session/session.ts'

/** An amount of tasks, or why it is not known. */
export type TaskMoney =
  | { readonly amount: Rational; readonly currency: string }
  | { readonly unknown: string }

/**
 * What one of these tasks costs by the contract, as the mean, the least or the most. A task with a request whose cost is
 * not known may cost anything.
 *
 * @param tasks the `session` of each, at least one
 */
export async function taskMoney(
  session: Session,
  { runId, contract }: { readonly runId: string; readonly contract: Contract },
  tasks: ReadonlySet<string>,
  statistic: 'mean' | 'min' | 'max',
): Promise<TaskMoney> {
  const priced = await readRunCosts(session, [runId], contract, {
    by: 'attempts.session::VARCHAR',
    where: 'attempts.task IS NOT NULL',
  })
  if (priced === null) return { unknown: 'the contract states no prices for the models' }
  const kinds = priced.kinds.filter(({ step }) => tasks.has(step))
  const unknown = kinds.filter(({ units }) => units === null)
  if (unknown.length > 0) return { unknown: unknownText(kinds, unknown, contract) }
  const sums = new Map([...tasks].map((task) => [task, 0n]))
  for (const { step, n, units } of kinds) sums.set(step, sums.get(step)! + units! * BigInt(n))
  const costs = [...sums.values()].map(costRational)
  return { amount: statisticOf(costs, statistic), currency: priced.unit }
}

function statisticOf(costs: readonly Rational[], statistic: 'mean' | 'min' | 'max'): Rational {
  if (statistic === 'mean') return divide(costs.reduce(add, zero), rational(BigInt(costs.length)))
  const sign = statistic === 'max' ? 1 : -1
  return costs.reduce((a, b) => (compare(a, b) * sign >= 0 ? a : b))
}

/** `the cost of 3 of 40 requests is not known: model m has no price`. */
function unknownText(
  kinds: readonly CostKind[],
  unknown: readonly CostKind[],
  contract: Contract,
): string {
  const count = (some: readonly CostKind[]) => some.reduce((sum, { n }) => sum + n, 0)
  const causes = new Set(unknown.map((kind) => causeOf(kind, contract)))
  return `the cost of ${count(unknown)} of ${count(kinds)} requests is not known: ${[...causes].join('; ')}`
}

function causeOf({ key, outcome }: CostKind, contract: Contract): string {
  const model = String(key.model ?? key.response_model ?? 'no model')
  if (modelPriceOf(contract, model) === null) return `${model} has no price`
  return outcome === 'ok'
    ? 'their usage does not say what a price needs'
    : `the contract does not say what an end as ${outcome} costs`
}
