import { lengthUs } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { cellsNamed } from '../../limits/band.ts'
import {
  inferResetUnit,
  type ResetSample,
  type ResetUnit,
  resetUnits,
} from '../../limits/reset-unit.ts'
import { type ServiceClock, serviceClock } from '../../limits/service-clock.ts'
import { routeOf } from '../limited-request.ts'
import { pricesOf } from '../prices.ts'
import type { Prober } from '../prober.ts'
import { notAskable, ofFacets, oneGap } from '../question.ts'

/** Paid requests whose resets are compared. */
const slopeSamples = 8

/** G-21, from all resets so far. */
export const resetUnit = oneGap('G-21', {
  price: ({ contract }) => slopeSamples * pricesOf(contract).least,
  obstacle: ({ contract: { headers } }) =>
    headers.rateReset === undefined ? 'the contract names no reset header' : null,
  async ask(prober) {
    // Values over some seconds, which reveal their slope.
    for (let nth = 0; nth < slopeSamples; nth++) {
      await prober.chat({ maxTokens: 1 }, { step: 'slope' })
      await prober.rest(1.5e6)
    }
    return unitOf(prober)
  },
})

/** Values that a route needs to decide the unit, if those of the route with most values fit several. */
const enoughValues = 4

/** The unit that fits the resets of the route with most of them, and of other routes if they agree. */
export function unitOf({ limited, contract }: Pick<Prober, 'limited' | 'contract'>): GapAnswer {
  const samples = limited.flatMap((each) => {
    if (each.reset === null) return []
    const [cell] = each.limit === null ? [] : cellsNamed(contract, each.limit)
    return [{ request: each, value: each.reset, windowUs: lengthUs(cell?.window ?? 'day') }]
  })
  if (samples.length === 0) return notAskable('no answer carries a reset')
  const clock = serviceClock(limited)
  const routes = [...Map.groupBy(samples, ({ request }) => routeOf(request)).values()]
    .map((values) => ({ values, units: unitsOfMost(values, clock) }))
    .sort((a, b) => b.values.length - a.values.length)
  let fit = routes[0]!.units
  const odd: string[] = []
  for (const { values, units } of routes) {
    const both = fit.filter((unit) => units.includes(unit))
    if (both.length === 0) odd.push(`${values[0]!.value} on ${values[0]!.request.endpoint}`)
    else if (values.length >= enoughValues) fit = both
  }
  const evidence = [
    `${samples.length} values, such as ${samples[0]!.value} and ${samples.at(-1)!.value}`,
    ...(fit.length > 0 && odd.length > 0 ? [`other units on some routes: ${odd.join(', ')}`] : []),
  ]
  const [only, second] = fit
  if (only === undefined) return notAskable(`no unit fits all values: ${evidence}`)
  return ofFacets({ unit: second === undefined ? only : { oneOf: fit } }, ...evidence)
}

/** Among this many values, one may come from another limiter in front of the service. */
const valuesForAStray = 8

/** The units that fit all values, or all but a few. */
function unitsOfMost(
  values: readonly ResetSample[],
  clock: ServiceClock | null,
): readonly ResetUnit[] {
  const byKey = [...Map.groupBy(values, ({ request }) => request.key).values()].flat()
  const { units } = inferResetUnit(byKey, clock)
  if (units.length > 0) return units
  const most = resetUnits
    .map((unit) => byKey.filter((each) => inferResetUnit([each], clock).units.includes(unit)))
    .reduce((a, b) => (b.length > a.length ? b : a))
  const strays = values.length - most.length
  return strays * valuesForAStray <= values.length ? inferResetUnit(most, clock).units : []
}
