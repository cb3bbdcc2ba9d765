import type { Contract } from '../../contract/contract.ts'
import type { Grant } from '../../contract/grant.ts'
import { adviseOn } from './advice.ts'
import type { PastDay } from './burn-model.ts'
import { type ComingDay, expectedBurn } from './forecast.ts'
import type { Forecast, Peak, PlanAdvice } from './shape.ts'

/** What to buy for the next month, given the expected burn and the grants. */
export function planFor(
  contract: Contract,
  past: readonly PastDay[],
  burn: Forecast,
  month: readonly ComingDay[],
  grants: readonly Grant[] | null,
  peak: Peak,
): PlanAdvice {
  if (!burn.known) return { known: false, summary: 'A plan needs a forecast.' }
  const endUs = month.at(-1)!.endUs
  const expected = expectedBurn(past, month)
  const held = grants ?? []
  const lasting = (grant: Grant) => grant.expiresUs === null || grant.expiresUs >= endUs
  const sum = (list: readonly Grant[]) => list.reduce((all, grant) => all + grant.credits, 0)
  const advice = adviseOn(contract, {
    burnCredits: expected - usableBefore(held, month, expected),
    lastingCredits: sum(held.filter(lasting)),
    peak,
  })
  if (!advice.known || grants !== null) return advice
  return {
    ...advice,
    reasons: ['The balance is not known, so the plan counts on none.', ...advice.reasons],
  }
}

/** Credits spent from grants that expire within the month, at an even burn. */
function usableBefore(
  grants: readonly Grant[],
  month: readonly ComingDay[],
  expected: number,
): number {
  const [startUs, endUs] = [month[0]!.startUs, month.at(-1)!.endUs]
  const expiring = grants
    .filter((grant) => grant.expiresUs !== null && grant.expiresUs < endUs)
    .sort((a, b) => a.expiresUs! - b.expiresUs!)
  return expiring.reduce((spent, grant) => {
    const share = Math.max(0, (grant.expiresUs! - startUs) / (endUs - startUs))
    return spent + Math.min(grant.credits, Math.max(0, expected * share - spent))
  }, 0)
}
