import type { Tone } from '../banner.ts'
import { changeAlone } from './change-text.ts'
import type { Comparison } from './compare.ts'
import type { Difference } from './differences.ts'
import { nameOf } from './figure-name.ts'
import type { GateResult } from './gate.ts'
import { invalidOf } from './invalid-side.ts'
import { otherRatesText, searchWords } from './searches.ts'

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
  const { searches } = comparison
  if (searches !== null) {
    const [summary, because] = searchWords(searches)
    const tone = searches.verdict === 'better' ? 'good' : 'warn'
    return { tone, summary, because: `${because} ${limits}`.trim() }
  }
  const errors = changedErrors(comparison)
  if (errors?.verdict === 'worse') {
    return { tone: 'fail', summary: `b fails more: errors ${sharesOf(errors)}`, because: limits }
  }
  const whole = comparison.differences.filter(({ step }) => step === null)
  const of = (verdict: Difference['verdict']) =>
    whole.filter((difference) => difference.verdict === verdict).length
  const most = greatest(whole, 'worse') ?? greatest(whole, 'better')
  if (most === null) {
    return { tone: 'good', summary: 'No significant difference over all steps', because: limits }
  }
  if (errors !== null) {
    return {
      tone: of('worse') > 0 ? 'warn' : 'good',
      summary: `b fails less: errors ${sharesOf(errors)}`,
      because: limits,
    }
  }
  const counts = `${of('worse') || 'none'} of ${whole.length} figures worse, ${of('better') || 'none'} better`
  return {
    tone: most.verdict === 'worse' ? 'warn' : 'good',
    summary: `${inWords(most)}: ${nameOf(most)} ${amountOf(most)}; ${counts}`,
    because: limits,
  }
}

/** A change in per cent; from twice as much on, how many times. */
function amountOf(most: Difference): string {
  const { change, unit } = most
  if (change === null || change < 1 || unit === 'share') return changeAlone(most)
  return `${(1 + change).toFixed(1)} times that of a`
}

/** What a person says of a figure that differs significantly. */
function inWords({ metric, verdict }: Difference): string {
  const isWorse = verdict === 'worse'
  switch (metric) {
    case 'throughput':
    case 'tokens':
      return isWorse ? 'b does less' : 'b does more'
    case 'credits':
      return isWorse ? 'b costs more' : 'b costs less'
    default:
      return isWorse ? 'b is slower' : 'b is faster'
  }
}

/** The figure that changed most; shares of requests, whose changes are in points, only if nothing else did. */
function greatest(among: readonly Difference[], verdict: Difference['verdict']): Difference | null {
  const size = ({ change, unit }: Difference) => (unit === 'share' ? -1 : Math.abs(change ?? 0))
  const [most] = among
    .filter((difference) => difference.verdict === verdict)
    .sort((one, other) => size(other) - size(one))
  return most ?? null
}

/** Errors over all steps, if b has significantly more or fewer. */
function changedErrors({ differences }: Comparison): Difference | null {
  return (
    differences.find(
      ({ step, metric, verdict }) => step === null && metric === 'errors' && verdict !== 'unclear',
    ) ?? null
  )
}

const sharesOf = ({ a, b }: Difference) =>
  [a, b].map((share) => `${((share ?? 0) * 100).toFixed(1)} %`).join(' before, now ')

/** Latencies are those of successes: with more or fewer errors, they are those of other requests. */
function limitsOf(comparison: Comparison): string {
  if (comparison.searches?.isAtOneRate === false) return otherRatesText(comparison.searches)
  const errors = changedErrors(comparison)
  if (errors === null) return ''
  return errors.verdict === 'worse'
    ? 'Latencies are those of successes alone, so a better one may only show which requests are left.'
    : 'Latencies are those of successes alone, so a worse one may only show which requests failed before.'
}
