import type { Contract } from '../../contract/contract.ts'
import { decimalText } from '../../money/rational.ts'
import { costRational } from '../../price/attempts/attempt-costs.ts'
import { type CostKind, readRunCosts } from '../../price/attempts/run-costs.ts'
import type { Session } from '../../store/session/session.ts'
import type { RunSummary } from './shape.ts'

/** What a run cost by the contract; null if it states no prices for its models. */
export async function readMoney(
  session: Session,
  runIds: readonly string[],
  contract: Contract,
): Promise<RunSummary['money']> {
  const priced = await readRunCosts(session, runIds, contract)
  if (priced === null) return null
  const steps = Map.groupBy(priced.kinds, ({ step }) => step)
  return {
    unit: priced.unit,
    ...sumOf(priced.kinds),
    steps: [...steps].map(([step, kinds]) => ({ step, ...sumOf(kinds) })),
  }
}

/** The exact sum of what is known, and how many attempts are. */
export function sumOf(kinds: readonly CostKind[]) {
  const known = kinds.filter(({ units }) => units !== null)
  const total = known.reduce((sum, { units, n }) => sum + units! * BigInt(n), 0n)
  const count = (of: readonly CostKind[]) => of.reduce((sum, { n }) => sum + n, 0)
  return {
    spent: decimalText(costRational(total)),
    priced: count(known),
    unknown: count(kinds) - count(known),
  }
}
