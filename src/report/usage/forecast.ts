import type { Contract } from '../../contract/contract.ts'
import type { Grant } from '../../contract/grant.ts'
import { percentileOf } from '../../measure/percentile.ts'
import { dayUs } from '../../user/durations.ts'
import { type Random, randomOf } from '../../user/random.ts'
import { amountText } from './amount.ts'
import { burnDown, type Demand, type ModelShare } from './burn-down.ts'
import { type BurnModel, fitBurn, type PastDay } from './burn-model.ts'
import { unitName } from './figures.ts'
import type {
  BandLoss,
  CoursePoint,
  DateBand,
  Depletion,
  Forecast,
  FutureBalance,
} from './shape.ts'

/** A future local day. */
export interface ComingDay {
  readonly startUs: number
  readonly endUs: number
  readonly weekday: number
  /** The part of the day still to come: less than 1 for the current day. */
  readonly share: number
}

const fewestDays = 3
const futures = 500
/** Simulated weeks behind the daily burn. */
const weeks = 200

/**
 * Daily burn: the median and 80 % interval over a day of the coming week.
 *
 * @param past oldest first; the first and the last may be partly measured
 * @param random seeded, so that a repeated page has the same interval
 * @param unit of what is burned
 */
export function forecastBurn(past: readonly PastDay[], random: Random, unit = 'credits'): Forecast {
  const full = past.filter((day) => day.share === 1).length
  if (full < fewestDays) {
    return {
      known: false,
      fullDays: full,
      summary: `${fullDays(full)} of usage: a forecast needs ${fewestDays}.`,
    }
  }
  const model = fitBurn(past)
  const { weekday } = past.at(-1)!
  const burns = Array.from({ length: weeks }, () => {
    const draw = model.draw(random)
    return [1, 2, 3, 4, 5, 6, 7].map((ahead) =>
      Math.max(0, draw(ahead, ((weekday + ahead - 1) % 7) + 1, 1)),
    )
  })
  const sorted = burns.flat().sort((a, b) => a - b)
  const at = (p: number) => percentileOf(sorted, p)!
  return {
    known: true,
    medianPerDay: at(0.5),
    lowPerDay: at(0.1),
    highPerDay: at(0.9),
    fullDays: full,
    summary: `${words(at(0.5), unit)} ${unitName(unit)} a day (80 % likely ${words(at(0.1), unit)} to ${words(at(0.9), unit)}), from ${full} full days.`,
  }
}

/** Expected burn of coming days. */
export function expectedBurn(past: readonly PastDay[], coming: readonly ComingDay[]): number {
  const model = fitBurn(past)
  return coming.reduce(
    (sum, day) => sum + day.share * model.expected(aheadOf(day, past), day.weekday),
    0,
  )
}

/** Days after the last measured one. The current day begins now but ends at its midnight. */
const aheadOf = ({ endUs }: ComingDay, past: readonly PastDay[]): number =>
  Math.round((endUs - past.at(-1)!.startUs) / dayUs) - 1

/** Draws one future. A day with a negative burn burns nothing, nor do later days until that is made up for. */
function* drawFuture(
  model: BurnModel,
  past: readonly PastDay[],
  coming: readonly ComingDay[],
  random: Random,
): Generator<Demand> {
  const draw = model.draw(random)
  let burned = 0
  let most = 0
  for (const day of coming) {
    const before = most
    burned += draw(aheadOf(day, past), day.weekday, day.share)
    most = Math.max(most, burned)
    yield { startUs: day.startUs, endUs: day.endUs, credits: most - before }
  }
}

/** Days of a course: a quarter. */
const courseDays = 92
const courseFutures = 200

/** What will be used from now to the end of each coming day: the median and 80 % of the futures. Empty without a forecast. */
export function courseOf(
  past: readonly PastDay[],
  burn: Forecast,
  coming: readonly ComingDay[],
  random: Random,
): readonly CoursePoint[] {
  if (!burn.known) return []
  const model = fitBurn(past)
  const days = coming.slice(0, courseDays)
  const sums: number[][] = days.map(() => [])
  for (let future = 0; future < courseFutures; future++) {
    let sum = 0
    let at = 0
    for (const { credits } of drawFuture(model, past, days, random)) {
      sum += credits
      sums[at++]!.push(sum)
    }
  }
  return days.map(({ endUs }, at) => {
    const sorted = sums[at]!.sort((a, b) => a - b)
    const of = (p: number) => percentileOf(sorted, p)!
    return { endUs, low: of(0.1), median: of(0.5), high: of(0.9) }
  })
}

/** The future of a balance, from many simulated futures. */
export interface Outlook {
  readonly depletion: Depletion
  readonly bandLosses: readonly BandLoss[]
  /** What is left at the moments that are watched: the median and 80 % of the futures. */
  readonly balances: readonly FutureBalance[]
}

/**
 * When the credits run out, which credits expire unused, and when each rate band is lost.
 *
 * @param grants those held now, and those that begin later; expired ones do not count
 * @param burn the forecast of a day, or the reason why there is none
 * @param coming local days from now on, the first one cut at now
 * @param random seeded, so that a repeated page has the same dates
 * @param of of which models the burn is, by default of none that a grant names; the unit of the balance, by default credits; whether each day's balance is watched, by default not
 */
export function lookAhead(
  contract: Contract | null,
  past: readonly PastDay[],
  burn: Forecast,
  coming: readonly ComingDay[],
  grants: readonly Grant[] | null,
  random: Random,
  of: {
    readonly mix?: readonly ModelShare[] | undefined
    readonly unit?: string
    readonly watchesDays?: boolean
  } = {},
): Outlook {
  const { mix, unit = 'credits', watchesDays = false } = of
  // Bands are of credits.
  const bands = (unit === 'credits' ? (contract?.bands ?? []) : []).toSorted(
    (a, b) => a.minBalance - b.minBalance,
  )
  const held = (amount: number) => `${words(amount, unit)} ${unitName(unit)}`
  const rounded = (amount: number) =>
    unit === 'credits' ? Math.round(amount) : Number(amount.toFixed(2))
  if (grants === null || !burn.known) {
    const summary =
      grants === null
        ? 'The balance is not known: poll GET /user/credits (assay usage watch), or give --grants.'
        : `${held(balanceOf(grants))}; without a forecast, it is not known how long they last.`
    return { depletion: { known: false, summary }, bandLosses: [], balances: [] }
  }
  const thresholds = bands.map((band) => band.minBalance)
  const model = fitBurn(past)
  const atUs = watchesDays ? watchedTimes(coming, grants) : []
  const left = atUs.map(() => new Float64Array(futures))
  let future = -1
  const watched = () => {
    const mine = ++future
    return (at: number, balance: number) => {
      left[at]![mine] = balance
    }
  }
  // Each future has its own seed, so more credits extend the same futures.
  const walks = Array.from({ length: futures }, () => {
    const own = randomOf(random() * 2 ** 32)
    const watch = atUs.length === 0 ? null : { atUs, note: watched() }
    return burnDown(grants, drawFuture(model, past, coming, own), thresholds, mix, watch)
  })
  const horizonDays = coming.length
  const bandOf = (times: readonly (number | null)[]): DateBand => {
    const sorted = times.map((us) => us ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
    const at = (p: number) => {
      const us = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!
      return Number.isFinite(us) ? Math.round(us) : null
    }
    return { earlyUs: at(0.1), medianUs: at(0.5), lateUs: at(0.9), horizonDays }
  }
  const balance = balanceOf(grants)
  const runsOut = bandOf(walks.map((walk) => walk.emptyUs))
  const wasted = grants.flatMap((grant, at) => {
    if (grant.expiresUs === null) return []
    const sorted = walks.map((walk) => walk.expired[at]!).sort((a, b) => a - b)
    const [low, median, high] = [0.1, 0.5, 0.9].map((p) => rounded(percentileOf(sorted, p)!))
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
    balances: atUs.map((us, at) => {
      const sorted = left[at]!.sort()
      const of = (p: number) => percentileOf(sorted, p)!
      return { atUs: us, low: of(0.1), median: of(0.5), high: of(0.9) }
    }),
    depletion: {
      known: true,
      unit,
      balance,
      runsOut,
      wasted: wasted.sort((a, b) => a.expiresUs - b.expiresUs),
      summary:
        runsOut.medianUs === null
          ? `${held(balance)} last longer than the ${horizonDays} days of the forecast.`
          : `${held(balance)} at ${words(burn.medianPerDay, unit)} a day.`,
    },
    bandLosses: bands.map((band, at) => {
      const lost = balance < band.minBalance ? null : bandOf(walks.map((walk) => walk.belowUs[at]!))
      return {
        band: band.name,
        minBalance: band.minBalance,
        requestsPerMinute: band.requests.minute,
        lost,
        summary:
          lost === null
            ? `the balance of ${words(balance)} is below its ${words(band.minBalance)}`
            : lost.medianUs === null
              ? `kept for the ${horizonDays} days of the forecast`
              : `lost when the balance falls below ${words(band.minBalance)}`,
      }
    }),
  }
}

/** The beginning of each coming day, and each start and end of a grant with the moment before it: between two of them a balance falls without a step. */
function watchedTimes(coming: readonly ComingDay[], grants: readonly Grant[]): readonly number[] {
  const endUs = coming.at(-1)?.endUs ?? 0
  const edges = grants
    .flatMap(({ fromUs, expiresUs }) => [fromUs ?? null, expiresUs])
    .flatMap((us) => (us === null ? [] : [us - 1, us]))
  const all = [...coming.map(({ startUs }) => startUs), ...edges]
  return [...new Set(all)]
    .filter((us) => us >= (coming[0]?.startUs ?? 0) && us < endUs)
    .sort((a, b) => a - b)
}

/** The credits of those that have begun. */
function balanceOf(grants: readonly Grant[]): number {
  return grants.reduce(
    (sum, { credits, fromUs }) => sum + ((fromUs ?? null) === null ? credits : 0),
    0,
  )
}

/** An amount of credits has one decimal; any other has those of its unit. What is not 0 is never shown as 0. */
function words(value: number, unit = 'credits'): string {
  const isShort = unit === 'credits' && (value === 0 || Math.abs(value) >= 0.05)
  return isShort
    ? (Math.round(value * 10) / 10).toLocaleString('en-US')
    : amountText(Number(value.toPrecision(6)).toFixed(12), unit)
}

const fullDays = (n: number) =>
  n === 0 ? 'No full day' : n === 1 ? 'Only 1 full day' : `Only ${n} full days`
