import { inferResetUnit, type ResetSample, resetUnits } from '../../../limits/reset-unit.ts'
import { witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { readResets } from './resets.ts'

export const rate12 = rateRule({
  id: 'RATE-12',
  title: 'X-RateLimit-Reset has one unit everywhere, and looks no further than its window',
  severity: 'must',
  needs: ['passive', 'quiescence'],
  promised: ['headers.rate_reset'],
  explain: `The unit is not specified (gap G-21), but there must be one: seconds or milliseconds from now, or
an epoch in seconds, milliseconds or microseconds. A unit is excluded if a value in it would be in the
past or beyond the window that the limit names (plus the time that counted rejections may add; all epochs
are read by one clock, which may differ from the service's Date by up to a minute), or if values
fall with time in the other delta unit. The rule fails if no unit remains. If two remain, it decides
nothing, unless the deployment profile names the unit.`,
  decide(history, evidence) {
    const { samples, clock, inference } = readResets(history, evidence)
    const observations = samples.length
    if (observations === 0) {
      return {
        verdict: 'not-observed',
        takes: `an answer with ${evidence.contract.headers.rateReset[0]}`,
      }
    }
    const { units, ruledOut } = inference
    if (units.length === 1) {
      return { verdict: 'pass', observations, note: `unit: ${units[0]}` }
    }
    if (units.length > 1) {
      return {
        verdict: 'inconclusive',
        observations,
        why: `the values fit ${units.join(' and ')}; samples some seconds apart within one window tell`,
      }
    }
    const [first, ...others] = smallestClash(samples, (some) => inferResetUnit(some, clock), [
      ...new Set(resetUnits.flatMap((unit) => ruledOut.get(unit) ?? [])),
    ])
    const show = (sample: ResetSample) =>
      witnessOf(sample.request, `reset ${sample.value} on status ${sample.request.status}`)
    return {
      verdict: 'fail',
      observations,
      expected: `one unit of ${resetUnits.join(', ')}, at most a window ahead`,
      came: 'values that no unit fits',
      witnesses: [show(first!), ...others.map(show)],
    }
  },
})

/** One or two samples that no unit fits, if there are such; otherwise all that rule out a unit. */
function smallestClash(
  samples: readonly ResetSample[],
  infer: (samples: readonly ResetSample[]) => { readonly units: readonly string[] },
  culprits: readonly ResetSample[],
): readonly ResetSample[] {
  const alone = samples.find((sample) => infer([sample]).units.length === 0)
  if (alone !== undefined) return [alone]
  for (const [index, one] of culprits.entries()) {
    const other = culprits.slice(index + 1).find((two) => infer([one, two]).units.length === 0)
    if (other !== undefined) return [one, other]
  }
  return culprits
}
