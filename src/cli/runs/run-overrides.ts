import type { Contract } from '../../contract/contract.ts'
import { runBilling } from '../../run/money/run-money.ts'
import type { Load, Phase, RateSegment } from '../../scenario/loads.ts'
import { durationUsOf, mostPerS } from '../../scenario/quantity.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { amountBy } from '../../schedule/rate-curve.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'
import { perSOf, quantityOf } from '../terminal/numbers.ts'

/** Options of the command line that change a scenario. */
export type RunOverrides = Pick<Options, 'rate' | 'duration' | 'maxCredits' | 'maxCost'>

/** @throws UserError for an invalid rate, duration or number, or a rate that no phase can have */
export function overridden(scenario: Scenario, options: RunOverrides): Scenario {
  const { rate, duration, maxCredits, maxCost } = options
  const perS =
    rate === undefined ? null : quantityOf('--rate', rate, perSOf, 'a rate above 0, such as 50/s')
  if (perS !== null && perS > mostPerS) {
    throw userError.usage(`--rate: expected at most ${mostPerS}/s; got ${rate}.`)
  }
  const durationUs =
    duration === undefined
      ? null
      : quantityOf('--duration', duration, durationUsOf, 'a duration above 0, such as 30s')
  const credits =
    maxCredits === undefined
      ? null
      : quantityOf('--max-credits', maxCredits, creditsOf, 'a whole number from 1')
  const cost = maxCost === undefined ? null : amountGiven(maxCost)
  const open = scenario.phases.some((phase) => phase.load.kind === 'arrivals')
  if (perS !== null && !open) {
    throw userError.usage(
      '--rate: no phase of this scenario has a rate of its own; users, traces and searches set theirs in the scenario.',
    )
  }
  return {
    ...scenario,
    phases: scenario.phases.map((phase) => overriddenPhase(phase, perS, durationUs)),
    policy: {
      ...scenario.policy,
      ...(credits === null ? {} : { maxCredits: credits }),
      ...(cost === null ? {} : { maxCost: cost }),
    },
  }
}

/** Money in the contract's currency, as it is written. */
export function amountGiven(text: string): string {
  if (/^(?=.*[1-9])\d{1,15}(?:\.\d{1,18})?$/.test(text)) return text
  throw userError.usage(`--max-cost: expected an amount above 0, such as 0.50; got ${text}.`)
}

/**
 * @param contracts of each service that requests go to
 * @throws UserError for `--max-cost` if one of them prices nothing of what is sent: the bound would never end its run
 */
export function mustBound(
  maxCost: string | undefined,
  contracts: readonly Contract[],
  scenario: Scenario,
) {
  const isPriced = contracts.every((each) => runBilling(each, scenario).kind === 'money')
  if (maxCost === undefined || isPriced) return
  throw userError.usage(
    '--max-cost: the contract has no price of a model of this scenario, so nothing bounds what it costs. Give --contract FILE with prices.',
  )
}

const creditsOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : null)

function overriddenPhase(phase: Phase, rate: number | null, durationUs: number | null): Phase {
  const length = phase.durationUs === null ? null : (durationUs ?? phase.durationUs)
  const stretch =
    length === null || phase.durationUs === null || phase.durationUs === 0
      ? 1
      : length / phase.durationUs
  return { ...phase, durationUs: length, load: overriddenLoad(phase, rate, stretch) }
}

/** A rate keeps its shape: it is stretched in time, and scaled to the given mean. */
function overriddenLoad(phase: Phase, rate: number | null, stretch: number): Load {
  const { load } = phase
  if (load.kind !== 'arrivals') return load
  const mean = meanPerS(load.rate, phase.durationUs)
  return {
    ...load,
    rate: load.rate.map((segment) => ({
      durationUs: segment.durationUs * stretch,
      fromPerS: rate === null ? segment.fromPerS : scaled(segment.fromPerS, mean, rate),
      toPerS: rate === null ? segment.toPerS : scaled(segment.toPerS, mean, rate),
    })),
  }
}

/** A rate that is 0 throughout has no shape, so it becomes constant. */
const scaled = (perS: number, mean: number, rate: number) =>
  mean === 0 ? rate : (perS / mean) * rate

/** Mean rate over the phase; for a phase without an end, its only rate. */
function meanPerS(curve: readonly RateSegment[], durationUs: number | null): number {
  return durationUs === null || durationUs === 0
    ? curve[0]!.fromPerS
    : amountBy(curve, durationUs) / (durationUs / 1e6)
}
