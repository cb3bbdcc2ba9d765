import type { Session } from '../../store/session/session.ts'
import { unitName } from './figures.ts'
import type { Anomaly, BusyHour } from './shape.ts'
import { busyIn, medianOf, type UsedHour, unusualIn } from './unusual-hours.ts'

/** Hours with fewer requests are too small for an error rate. */
const fewestRequests = 20

export interface HourFigures extends UsedHour {
  readonly requests: number
  /** Answers with an error but 429. */
  readonly failed: number
  readonly limited: number
}

/** Hours that used unusually much, or in which unusually much failed. @param units of amounts; hours are judged in each of them */
export async function oddHours(
  session: Session,
  units: readonly string[],
): Promise<readonly Anomaly[]> {
  const judged = (await readHours(session, units)).map(({ unit, hours }) => judgeHours(hours, unit))
  // Errors and 429s have no unit.
  const [first, ...others] = judged
  return first!.map((anomaly) =>
    anomaly.kind === 'unusual-hour' ? joined([anomaly, ...others.map(([each]) => each!)]) : anomaly,
  )
}

/** Hours that are busier than usual, in each unit, the greatest excess first: of a day that is known to be dear, those that made it so. */
export const busyHours = async (
  session: Session,
  units: readonly string[],
): Promise<readonly BusyHour[]> =>
  (await readHours(session, units)).flatMap(({ unit, hours }) =>
    busyIn(hours).map(({ hour, usual }) => ({
      ...{ unit, atUs: hour.startUs, amount: hour.credits ?? 0, usual },
    })),
  )

/** The hours with what they used in each unit. */
async function readHours(
  session: Session,
  units: readonly string[],
): Promise<readonly { readonly unit: string; readonly hours: readonly HourFigures[] }[]> {
  const several = units.length > 1
  const amounts = several
    ? units.map((_, at) => `sum(amount_${at}::DOUBLE) AS amount_${at}`)
    : [
        'CASE WHEN count(*) FILTER (WHERE credits IS NULL) = 0 THEN sum(credits)::DOUBLE END AS amount_0',
      ]
  const hours = await session.rows<
    HourFigures & Readonly<Record<`amount_${number}`, number | null>>
  >(
    `SELECT start_us AS "startUs", label, sum(requests)::DOUBLE AS requests,
       sum(failed - limited - ambiguous)::DOUBLE AS failed, sum(limited)::DOUBLE AS limited,
       ${amounts.join(', ')}, bool_or(open) AS open
     FROM usage_hours WHERE requests IS NOT NULL GROUP BY start_us, label ORDER BY "startUs"`,
  )
  return (several ? units : [units[0] ?? 'credits']).map((unit, at) => ({
    unit,
    hours: hours.map((hour) => ({ ...hour, credits: hour[`amount_${at}`] ?? null })),
  }))
}

/** Unusual hours of several units. */
function joined(found: readonly Anomaly[]): Anomaly {
  const rows = found.flatMap((each) => each.rows)
  return { ...found[0]!, count: rows.length, summary: unusualSummary(rows.length), rows }
}

const unusualSummary = (count: number) =>
  `${count} ${count === 1 ? 'hour' : 'hours'} used far more than the median of the same time of day.`

/** Accepted chance of a false alarm per hour. */
const falseAlarm = 1e-5

/**
 * Finds two kinds of hours, each with the greatest excess first. Unusual hours used far more than the others explain (`unusualIn`). Jumps
 * have more than twice the usual share of errors or 429s, significantly against all other hours. An open hour can be unusual, because more
 * of it makes it only more so; jumps are of whole hours.
 *
 * @param unit of the amounts
 */
export function judgeHours(hours: readonly HourFigures[], unit = 'credits'): readonly Anomaly[] {
  const whole = hours.filter(({ open = false }) => !open)
  const found = unusualIn(hours)
  const usual = new Map(found.map((each) => [each.hour, each.usual]))
  const excessOf = (hour: HourFigures) => (hour.credits ?? 0) - (usual.get(hour) ?? 0)
  const total = (of: (hour: HourFigures) => number) =>
    whole.reduce((sum, hour) => sum + of(hour), 0)
  const jumps = (of: (hour: HourFigures) => number) => {
    const [allOf, all] = [total(of), total((hour) => hour.requests)]
    return whole.filter((hour) => {
      const [others, n] = [all - hour.requests, hour.requests]
      if (n < fewestRequests || others < fewestRequests) return false
      const usual = Math.max((allOf - of(hour)) / others, 1 / others)
      return of(hour) > 2 * usual * n && chanceOfAtLeast(of(hour), usual * n) < falseAlarm
    })
  }
  const flag = (
    kind: Anomaly['kind'],
    found: readonly HourFigures[],
    summary: (count: number) => string,
    shows: (hour: HourFigures) => string,
    excess: (hour: HourFigures) => number,
    more: (hour: HourFigures) => Partial<Anomaly['rows'][number]> = () => ({}),
  ): Anomaly => ({
    kind,
    count: found.length,
    summary: summary(found.length),
    rows: found
      .toSorted((a, b) => excess(b) - excess(a))
      .map((hour) => ({
        ...{ source: 'hour', id: hour.label, atUs: hour.startUs, shows: shows(hour) },
        ...more(hour),
      })),
  })
  const had = (what: string) => (count: number) =>
    `${count} ${count === 1 ? 'hour' : 'hours'} had more ${what} than chance explains.`
  const usualRequests = medianOf(whole.flatMap(({ requests }) => (requests > 0 ? [requests] : [])))
  const share = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`
  return [
    flag(
      'unusual-hour',
      found.map(({ hour }) => hour),
      unusualSummary,
      (hour) =>
        `${hour.open ? 'at least ' : ''}${shown(hour.credits)} ${unitName(unit)}, usually ${shown(usual.get(hour))}`,
      excessOf,
      (hour) => ({
        hour: {
          ...{ unit, amount: hour.credits ?? 0, usual: usual.get(hour) ?? 0 },
          ...{ requests: hour.requests, usualRequests },
        },
      }),
    ),
    flag(
      'error-jump',
      jumps((hour) => hour.failed),
      had('errors'),
      (hour) => `${share(hour.failed, hour.requests)} of ${hour.requests} failed`,
      (hour) => hour.failed,
    ),
    flag(
      'limit-jump',
      jumps((hour) => hour.limited),
      had('429s'),
      (hour) => `${share(hour.limited, hour.requests)} of ${hour.requests} were limited`,
      (hour) => hour.limited,
    ),
  ]
}

/** A sum of doubles ends in digits that are in none of them. */
const shown = (amount: number | null | undefined) => Number((amount ?? 0).toPrecision(12))

/** Above 708, the exponential of a mean has fewer digits, and above 745 it is 0. */
const mostExact = 700

/** Poisson probability of at least `count` if `mean` are expected. */
export function chanceOfAtLeast(count: number, mean: number): number {
  let term = Math.exp(-mean)
  if (mean > mostExact) {
    // The bound of the normal tail.
    const deviations = (count - mean) / Math.sqrt(mean)
    return deviations <= 0 ? 1 : Math.exp(-(deviations ** 2) / 2) / 2
  }
  let below = 0
  for (let at = 0; at < count; at++) {
    below += term
    term *= mean / (at + 1)
  }
  return Math.max(0, 1 - below)
}
