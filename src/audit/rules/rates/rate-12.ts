import {
  inferResetUnit,
  isEpoch,
  type ResetSample,
  resetUnits,
} from '../../../limits/reset-unit.ts'
import { fail, inconclusive, notObserved, pass } from '../../verdict.ts'
import { witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { readResets, unitOf } from './resets.ts'

export const rate12 = rateRule({
  id: 'RATE-12',
  title: 'X-RateLimit-Reset has one unit everywhere, and looks no further than its window',
  needs: ['passive', 'quiescence'],
  promised: ['headers.rate_reset'],
  explain: `The unit is not specified (gap G-21), but there must be one: seconds or milliseconds from now, or
an epoch in seconds, milliseconds or microseconds. A unit is excluded if a value in it would be in the
past or beyond the window that the limit names (plus the time that counted rejections may add; all epochs
are read by one clock, which may differ from the service's Date by up to a minute), or if values
fall with time in the other delta unit. The rule fails if no unit remains. If two remain, it decides
nothing, unless the contract (reset_format) or the deployment profile names the unit. It fails if another unit remains than the contract
names. A 0 beside epochs, where nothing was counted, decides nothing. Nor does it decide
anything if one key shows two values within a second that differ by a factor of a thousand.`,
  decide(history, evidence) {
    const { samples, clock, inference } = readResets(history, evidence)
    let observations = 0
    for (const _ of samples) observations++
    if (observations === 0)
      return notObserved(`an answer with ${evidence.contract.headers.rateReset[0]}`)
    const { units, ruledOut } = inference
    const promised = unitOf(evidence.contract.resetFormat)
    const [against] = (promised === null ? undefined : ruledOut.get(promised)) ?? []
    if (promised !== null && against !== undefined && units.length > 0 && !units.includes(promised))
      return fail(observations, {
        expected: `resets in ${promised}, at most a window ahead`,
        observed: `values that fit ${units.join(' and ')}`,
        witnesses: [witnessOf(against.request, `reset ${against.value}`)],
      })
    const mixed = units.length === 1 ? mixedUnits(samples) : null
    if (mixed !== null) {
      const [before, after] = mixed
      return inconclusive(
        observations,
        `the values fit ${units[0]}, but one key shows ${before.value} and then ${after.value} before that reset: as if one of them had a unit a thousand times larger`,
        mixed.map((sample) => witnessOf(sample.request, `reset ${sample.value}`)),
      )
    }
    if (units.length === 1 && observations === 1)
      return notObserved(`two answers with ${evidence.contract.headers.rateReset[0]}`)
    if (units.length === 1) return pass(observations, { note: `unit: ${units[0]}` })
    if (units.length > 1)
      return inconclusive(
        observations,
        `the values fit ${units.join(' and ')}; samples some seconds apart within one window tell`,
      )
    const counting = [...samples].filter((sample) => !isIdle(sample))
    const withoutIdle = inferResetUnit(counting, clock).units
    if (withoutIdle.some(isEpoch))
      return inconclusive(
        observations,
        `the values fit ${withoutIdle.join(' and ')}, beside a 0 where no request was counted: no reset may be due then`,
      )
    const clash = smallestClash(samples, (some) => inferResetUnit(some, clock), [
      ...new Set(resetUnits.flatMap((unit) => ruledOut.get(unit) ?? [])),
    ])
    return fail(observations, {
      expected: `one unit of ${resetUnits.join(', ')}, at most a window ahead`,
      observed: 'values that no unit fits',
      witnesses: clash.map(({ request, value }) =>
        witnessOf(request, `reset ${value} on status ${request.status}`),
      ),
    })
  },
})

/** A reset of 0 where at most the request itself was counted. */
const isIdle = ({ value, request: { limit, remaining } }: ResetSample) =>
  value === 0 && limit !== null && remaining !== null && remaining >= limit - 1

/** Two values of one key within a second, of which one is the other in a unit a thousand times larger. */
function mixedUnits(samples: Iterable<ResetSample>): readonly [ResetSample, ResetSample] | null {
  // The samples of a key are together.
  let last: ResetSample | undefined
  for (const after of samples) {
    const before = last?.request.key === after.request.key ? last : undefined
    last = after
    if (before === undefined || before.windowUs !== after.windowUs) continue
    if (after.request.fromUs - before.request.untilUs > 1e6) continue
    const [small, large] = [before.value, after.value].sort((a, b) => a - b) as [number, number]
    // The smaller one may be rounded to a whole unit, and a second may have passed: near 0 any two would do.
    if (small >= 5 && large >= (small - 2) * 1000 && large <= (small + 2) * 1000)
      return [before, after]
  }
  return null
}

/** One or two samples that no unit fits, if there are such; otherwise all that rule out a unit. */
function smallestClash(
  samples: Iterable<ResetSample>,
  infer: (samples: readonly ResetSample[]) => { readonly units: readonly string[] },
  culprits: readonly ResetSample[],
): readonly ResetSample[] {
  for (const sample of samples) if (infer([sample]).units.length === 0) return [sample]
  for (const [index, one] of culprits.entries()) {
    const other = culprits.slice(index + 1).find((two) => infer([one, two]).units.length === 0)
    if (other !== undefined) return [one, other]
  }
  return culprits
}
