import type { Contract } from '../../contract/contract.ts'
import type { Random } from '../random.ts'
import { percentileOf } from '../summary/samples.ts'
import { burnDown, type Demand } from './burn-down.ts'
import type { BandLoss, DateBand, Depletion, Forecast, Grant } from './shape.ts'

/** A local day of the past and what it burned. */
export interface PastDay {
  readonly startUs: number
  /** 1 is Monday. */
  readonly weekday: number
  readonly credits: number
}

/** A local day to come. */
export interface ComingDay {
  readonly startUs: number
  readonly endUs: number
  readonly weekday: number
  /** How much of the day is still to come: less than 1 for the day that has begun. */
  readonly share: number
}

/** Days that the band and the median look at: each weekday once. */
const lastDays = 7
/** Days that futures are drawn from: four of each weekday. */
const drawnDays = 28
const fewestDays = 3
const futures = 500

/**
 * Burn a day: median and 10-90 % (R-7) of the last 7 full days.
 *
 * @param past full, covered local days, oldest first; open days are not among them
 */
export function forecastBurn(past: readonly PastDay[]): Forecast {
  const last = past.slice(-lastDays)
  if (last.length < fewestDays) {
    return {
      known: false,
      fullDays: last.length,
      says: `Only ${last.length} full ${last.length === 1 ? 'day' : 'days'} of usage: a forecast needs ${fewestDays}.`,
    }
  }
  const sorted = last.map((day) => day.credits).sort((a, b) => a - b)
  const at = (p: number) => percentileOf(sorted, p)!
  return {
    known: true,
    medianPerDay: at(0.5),
    lowPerDay: at(0.1),
    highPerDay: at(0.9),
    fullDays: last.length,
    byWeekday: weekdayMedians(past),
    says: `${words(at(0.5))} credits a day (10-90 %: ${words(at(0.1))} to ${words(at(0.9))}), the median of the last ${last.length} full days.`,
  }
}

function weekdayMedians(past: readonly PastDay[]): readonly (number | null)[] {
  const recent = past.slice(-drawnDays)
  return [1, 2, 3, 4, 5, 6, 7].map((weekday) =>
    percentileOf(
      recent
        .filter((day) => day.weekday === weekday)
        .map((day) => day.credits)
        .sort((a, b) => a - b),
      0.5,
    ),
  )
}

/** Expected burn of coming days: the median of their weekday, else of all full days. */
export function expectedBurn(past: readonly PastDay[], coming: readonly ComingDay[]): number {
  const medians = weekdayMedians(past)
  const all = percentileOf(
    past
      .slice(-lastDays)
      .map((day) => day.credits)
      .sort((a, b) => a - b),
    0.5,
  )
  return coming.reduce((sum, day) => sum + day.share * (medians[day.weekday - 1] ?? all ?? 0), 0)
}

/**
 * One future: the past is resampled first (that we saw only n days is part of the doubt), then
 * each coming day is drawn from the resampled days of its weekday where there are at least three,
 * else from all of the last seven.
 */
function drawFuture(
  past: readonly PastDay[],
  coming: readonly ComingDay[],
  random: Random,
): readonly Demand[] {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const resample = (days: readonly PastDay[]) => days.map(() => pick(days))
  const anyDay = resample(past.slice(-lastDays))
  const recent = past.slice(-drawnDays)
  const pools = [1, 2, 3, 4, 5, 6, 7].map((weekday) => {
    const same = recent.filter((day) => day.weekday === weekday)
    return same.length >= fewestDays ? resample(same) : anyDay
  })
  return coming.map(({ startUs, endUs, weekday, share }) => ({
    startUs,
    endUs,
    credits: share * pick(pools[weekday - 1]!).credits,
  }))
}

/** What a balance will go through, told from many futures. */
export interface Outlook {
  readonly depletion: Depletion
  readonly bandLosses: readonly BandLoss[]
}

/**
 * When the credits run out, which expire unused, and when each rate band is lost.
 *
 * @param grants what is held now; expired ones count nothing
 * @param coming local days from now on, the first one cut at now
 * @param random seeded: the same page twice says the same dates
 */
export function lookAhead(
  contract: Contract,
  past: readonly PastDay[],
  coming: readonly ComingDay[],
  grants: readonly Grant[] | null,
  random: Random,
): Outlook {
  const burn = forecastBurn(past)
  const bands = [...contract.bands].sort((a, b) => a.minBalance - b.minBalance)
  if (grants === null || !burn.known) {
    const says =
      grants === null
        ? 'The balance is not known: poll GET /user/credits (assay usage watch), or give --grants.'
        : burn.says
    return { depletion: { known: false, says }, bandLosses: [] }
  }
  const thresholds = bands.map((band) => band.minBalance)
  const walks = Array.from({ length: futures }, () =>
    burnDown(grants, drawFuture(past, coming, random), thresholds),
  )
  const horizonDays = coming.length
  const bandOf = (times: readonly (number | null)[]): DateBand => {
    const sorted = times.map((us) => us ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
    const at = (p: number) => {
      const us = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!
      return Number.isFinite(us) ? us : null
    }
    return { earlyUs: at(0.1), medianUs: at(0.5), lateUs: at(0.9), horizonDays }
  }
  const balance = grants.reduce((sum, grant) => sum + grant.credits, 0)
  const runsOut = bandOf(walks.map((walk) => walk.emptyUs))
  const wasted = grants.flatMap((grant, at) => {
    if (grant.expiresUs === null) return []
    const sorted = walks.map((walk) => walk.expired[at]!).sort((a, b) => a - b)
    const [low, median, high] = [0.1, 0.5, 0.9].map((p) => Math.round(percentileOf(sorted, p)!))
    if (high === 0) return []
    return [
      {
        grant: grant.name,
        expiresUs: grant.expiresUs,
        creditsLow: low!,
        creditsMedian: median!,
        creditsHigh: high!,
      },
    ]
  })
  return {
    depletion: {
      known: true,
      balance,
      runsOut,
      wasted: wasted.sort((a, b) => a.expiresUs - b.expiresUs),
      says:
        runsOut.medianUs === null
          ? `${words(balance)} credits last longer than the ${horizonDays} days looked at.`
          : `${words(balance)} credits at ${words(burn.medianPerDay)} a day.`,
    },
    bandLosses: bands.map((band, at) => {
      const lost = balance < band.minBalance ? null : bandOf(walks.map((walk) => walk.belowUs[at]!))
      return {
        band: band.name,
        minBalance: band.minBalance,
        requestsPerMinute: band.requests.minute,
        lost,
        says:
          lost === null
            ? `the balance of ${words(balance)} is below its ${words(band.minBalance)}`
            : lost.medianUs === null
              ? `kept for the ${horizonDays} days looked at`
              : `lost when the balance falls below ${words(band.minBalance)}`,
      }
    }),
  }
}

function words(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString('en-US')
}
