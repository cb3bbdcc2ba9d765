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
  const [startUs, endUs] = [month[0]!.startUs, month.at(-1)!.endUs]
  const expected = expectedBurn(past, month)
  // What pays for some models only may pay for none of the use that is expected.
  const held = (grants ?? []).filter(({ models }) => models == null)
  const isLasting = ({ fromUs, expiresUs }: Grant) =>
    (fromUs ?? startUs) <= startUs && (expiresUs === null || expiresUs >= endUs)
  const within = held.filter((grant) => !isLasting(grant))
  const advice = adviseOn(contract, {
    burnCredits: withoutNoise(expected - usableWithin(within, month, expected)),
    lastingCredits: held.filter(isLasting).reduce((all, { credits }) => all + credits, 0),
    peak,
  })
  if (!advice.known || grants !== null) return advice
  return {
    ...advice,
    reasons: ['The balance is not known, so the plan counts on none.', ...advice.reasons],
  }
}

/** An amount without the last digits of a sum of fractions, which would buy a pack for nothing. */
const withoutNoise = (credits: number) => Math.round(credits * 1e6) / 1e6

/** Credits spent, at an even burn, from grants that begin or expire within the month: the one that expires first pays first. */
function usableWithin(
  grants: readonly Grant[],
  month: readonly ComingDay[],
  expected: number,
): number {
  const [startUs, endUs] = [month[0]!.startUs, month.at(-1)!.endUs]
  const within = (us: number) => Math.min(Math.max(us, startUs), endUs)
  const paying = grants
    .map(({ credits, fromUs, expiresUs }) => ({
      ...{ left: credits, fromUs: within(fromUs ?? startUs) },
      toUs: within(expiresUs ?? endUs),
    }))
    .sort((a, b) => a.toUs - b.toUs)
  const edges = [...new Set(paying.flatMap(({ fromUs, toUs }) => [fromUs, toUs]))].sort(
    (a, b) => a - b,
  )
  let spent = 0
  for (const [at, toUs] of edges.entries()) {
    const fromUs = edges[at - 1] ?? toUs
    let open = (expected * (toUs - fromUs)) / (endUs - startUs)
    for (const grant of paying) {
      if (grant.fromUs > fromUs || grant.toUs < toUs) continue
      const paid = Math.min(grant.left, open)
      grant.left -= paid
      open -= paid
      spent += paid
    }
  }
  return spent
}
