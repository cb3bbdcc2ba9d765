import type { Tone } from '../banner.ts'
import type { Comparison, Difference } from './compare.ts'
import type { GateResult } from './gate.ts'

/** The one sentence on a comparison, for a page, a terminal and a pull request. */
export interface Headline {
  readonly tone: Tone
  readonly summary: string
  /** What limits the comparison; empty for nothing. */
  readonly because: string
}

/** Gates come first, then whether the runs can be compared, then errors, then all other figures. */
export function headlineOf(comparison: Comparison, gates: readonly GateResult[]): Headline {
  const failed = gates.filter((gate) => gate.result !== 'passed').length
  const limits = limitsOf(comparison)
  if (failed > 0) {
    return {
      tone: 'fail',
      summary: `${failed} of ${gates.length} gates not passed`,
      because: limits,
    }
  }
  const invalid = invalidOf(comparison)
  if (invalid !== null)
    return { tone: 'warn', summary: `Nothing is compared: ${invalid}`, because: '' }
  const errors = moreErrors(comparison)
  if (errors !== null) {
    return { tone: 'fail', summary: `b fails more: errors ${sharesOf(errors)}`, because: limits }
  }
  const whole = comparison.differences.filter(({ step }) => step === null)
  const of = (verdict: Difference['verdict']) =>
    whole.filter((difference) => difference.verdict === verdict).length
  const [worse, better] = [of('worse'), of('better')]
  if (worse > 0) {
    const also = better > 0 ? ` and is better on ${better}` : ''
    return {
      tone: 'warn',
      summary: `b regressed on ${worse} of ${whole.length} metrics${also}`,
      because: limits,
    }
  }
  const summary =
    better > 0
      ? `b is better on ${better} of ${whole.length} metrics, and regressed on none`
      : 'No difference beyond chance over all steps'
  return { tone: 'good', summary, because: limits }
}

/** The runs that no figure can be taken from; null for none. */
export function invalidOf({ a, b }: Comparison): string | null {
  const names = (
    [
      ['a', a],
      ['b', b],
    ] as const
  ).flatMap(([name, { verdict }]) => (verdict === 'invalid' ? [name] : []))
  if (names.length === 0) return null
  return names.length === 1 ? `run ${names[0]} is INVALID` : 'both runs are INVALID'
}

/** Errors over all steps, if b has more beyond chance. */
function moreErrors({ differences }: Comparison): Difference | null {
  return (
    differences.find(
      ({ step, metric, verdict }) => step === null && metric === 'errors' && verdict === 'worse',
    ) ?? null
  )
}

const sharesOf = ({ a, b }: Difference) =>
  [a, b].map((share) => `${((share ?? 0) * 100).toFixed(1)} %`).join(' before, now ')

/** Latencies are those of successes: with more errors, they are those of other requests. */
function limitsOf(comparison: Comparison): string {
  return moreErrors(comparison) === null
    ? ''
    : 'Latencies are those of successes alone, so a better one may only show which requests are left.'
}
