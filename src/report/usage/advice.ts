import type { Band, Contract } from '../../contract/contract.ts'
import { smallest } from '../../user/extremes.ts'
import { cheapestPlan, nearTiePlan, planInWords, usd } from './packages.ts'
import type { Peak, PlanAdvice } from './shape.ts'

export interface MonthNeed {
  /** Expected burn, less what expiring credits cover. */
  readonly burnCredits: number
  /** Credits in hand that do not expire within the month. */
  readonly lastingCredits: number
  readonly peak: Peak
}

/**
 * What to buy for the next month: the cheapest packs that cover the burn. If the balance would then fall below the
 * band that the observed peak needs, it is the cheapest packs that keep the band. Packs are bought at the start of the
 * month and burned through it, so the balance is lowest at its end.
 */
export function adviseOn(contract: Contract, need: MonthNeed): PlanAdvice {
  const { packages = [] } = contract
  if (packages.length === 0) {
    return { known: false, summary: `The contract "${contract.name}" lists no packages.` }
  }
  const short = Math.max(0, need.burnCredits - need.lastingCredits)
  const cheapest = cheapestPlan(packages, short)
  const band = bandFor(contract, need.peak)
  const floor = band === null || band.minBalance <= lowestMin(contract) ? 0 : band.minBalance
  const keeping = cheapestPlan(
    packages,
    Math.max(0, short, need.burnCredits + floor - need.lastingCredits),
  )
  const tie = nearTiePlan(packages, keeping)
  const chosen = tie ?? keeping
  const vetoed = keeping.credits > cheapest.credits ? cheapest : null
  const expiring = packages.reduce(
    (sum, pack, at) =>
      sum + (pack.validMonths === null ? 0 : chosen.packs[at]!.count * pack.credits),
    0,
  )
  const reasons: string[] = []
  const left = need.lastingCredits + cheapest.credits - need.burnCredits
  if (vetoed !== null && band !== null) {
    reasons.push(
      `${planInWords(vetoed)} covers the month, but would leave ${count(left)} credits at its end, below the ${count(floor)} of the band ${band.name}, which the observed peak of ${peakInWords(need.peak)} needs.`,
    )
  } else if (cheapest.credits === 0) {
    reasons.push(
      `The ${count(need.lastingCredits)} credits in hand cover the ${count(need.burnCredits)} that the month is expected to use.`,
    )
  } else {
    reasons.push(`${planInWords(cheapest)} is the cheapest that covers ${count(short)} credits.`)
  }
  if (tie !== null) {
    reasons.push(
      `${planInWords(tie)} costs ${usd(tie.priceUsdCents - keeping.priceUsdCents)} more than ${planInWords(keeping)} and contains ${count(tie.credits - keeping.credits)} more credits.`,
    )
  }
  if (band !== null && !carries(band, need.peak)) {
    reasons.push(
      `No band allows the observed peak of ${peakInWords(need.peak)}: even ${band.name} will return 429.`,
    )
  }
  const wastedCredits = Math.max(0, expiring - need.burnCredits)
  if (wastedCredits > 0) {
    reasons.push(`${count(wastedCredits)} of its credits would expire unused after a month.`)
  }
  return {
    known: true,
    needCredits: short,
    floorBalance: floor,
    cheapest,
    chosen,
    vetoed,
    wastedCredits,
    reasons,
  }
}

/** The lowest band whose limits carry the peak of one key; the highest band if none does; null without any band. */
export function bandFor({ bands = [] }: Contract, peak: Peak): Band | null {
  const rising = [...bands].sort((a, b) => a.minBalance - b.minBalance)
  return rising.find((band) => carries(band, peak)) ?? rising.at(-1) ?? null
}

function carries(band: Band, peak: Peak): boolean {
  return (['minute', 'hour', 'day'] as const).every(
    (window) => (peak[window] ?? 0) <= band.requests[window],
  )
}

const lowestMin = ({ bands = [] }: Contract): number =>
  smallest(bands.map((band) => band.minBalance))

function peakInWords(peak: Peak): string {
  return (['minute', 'hour', 'day'] as const)
    .filter((window) => peak[window] !== null)
    .map((window) => `${count(peak[window]!)} requests ${window === 'hour' ? 'an' : 'a'} ${window}`)
    .join(', ')
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US')
