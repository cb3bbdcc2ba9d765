import type { Period } from '../../measure/usage/calendar.ts'
import type { Sums } from '../../measure/usage/sums.ts'
import type { BusyHour, UnusualHour, UsageForecast } from '../../report/usage/shape.ts'
import { hourUs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import type { Asked } from '../api/asked.ts'
import { within } from './rows.ts'
import { creditsOf, moneyOf, readFigures } from './sums.ts'

/** An amount, and the names that most of it is of. */
export interface Cause {
  readonly fromUs: number
  readonly toUs: number
  /** Decimal text. */
  readonly amount: string
  /** The model and the key that used the most of it, if the token shows them, and each used more than half. */
  readonly names: readonly NameOfCause[]
}

/** @property share of the amount, between 0.5 and 1 */
export interface NameOfCause {
  /** A key without a name of its own is called `key 3` already. */
  readonly of: 'model' | 'key' | 'unnamedKey'
  readonly name: string
  readonly share: number
}

/** An amount of some sums in a unit, decimal text; null without one. */
export const amountIn = (asked: Asked, sums: Pick<Sums, 'amounts'>, unit: string): string | null =>
  unit === 'credits'
    ? creditsOf(sums)
    : (moneyOf(asked, sums).find(({ currency }) => currency === unit)?.value ?? null)

/** What was used in a while, and by whom. Null without an amount. */
export async function causeOf(
  asked: Asked,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
  unit: string,
): Promise<Cause | null> {
  const { bearer, keys } = asked
  const { from, where } = within(asked, { fromUs, toUs })
  const value = (sums: Pick<Sums, 'amounts'>) => amountIn(asked, sums, unit)
  const [all] = await readFigures<object, never>(asked, [], { from, where })
  const amount = value(all!)
  if (amount === null || Number(amount) <= 0) return null
  const names: NameOfCause[] = []
  for (const [shown, column] of [
    ['models', 'model'],
    ['keys', 'key_fp'],
  ] as const) {
    if (!bearer.shows.has(shown)) continue
    const rows = await readFigures<{ readonly name: string | null }, never>(asked, [], {
      from,
      where,
      by: { name: column },
    })
    const most = rows.find((row) => Number(value(row) ?? 0) > Number(amount) / 2)
    if (!most?.name) continue
    const share = Math.min(1, Number(value(most)) / Number(amount))
    names.push(
      column === 'model'
        ? { of: 'model', name: most.name, share }
        : {
            of: keys.isNamed(most.name) ? 'key' : 'unnamedKey',
            name: keys.nameOf(most.name),
            share,
          },
    )
  }
  return { fromUs, toUs, amount, names }
}

/** What each of these hours used in a unit, decimal text; null without an amount. */
export async function usedInHours(
  asked: Asked,
  hoursUs: readonly number[],
  unit: string,
): Promise<readonly (string | null)[]> {
  if (hoursUs.length === 0) return []
  const starts = [...new Set(hoursUs.flatMap((us) => [us, us + hourUs]))].sort((a, b) => a - b)
  const rows = await readFigures<{ readonly bar: number }, never>(asked, [], {
    ...within(asked, { fromUs: starts[0]!, toUs: starts.at(-1)! }, 'true', starts),
    bars: starts,
  })
  const byBar = new Map(rows.map((row) => [row.bar, amountIn(asked, row, unit)]))
  return hoursUs.map((us) => byBar.get(starts.indexOf(us)) ?? null)
}

/** Hours far above the usual of their time of day in a unit, the greatest excess first; default: in any. */
export const unusualHours = (
  page: Pick<UsageForecast, 'anomalies'> | null,
  unit?: string,
): readonly (UnusualHour & { readonly atUs: number })[] =>
  (page?.anomalies.find(({ kind }) => kind === 'unusual-hour')?.rows ?? []).flatMap(
    ({ atUs, hour }) =>
      hour === undefined || (unit !== undefined && hour.unit !== unit) ? [] : [{ ...hour, atUs }],
  )

/** The unusual hours of a period that a customer reads. */
export const listedHours = (
  page: Pick<UsageForecast, 'anomalies'> | null,
  unit: string,
  period: Pick<Period, 'fromUs' | 'toUs'>,
): readonly number[] => clearly(unusualHours(page, unit), period).map(({ atUs }) => atUs)

/** Of the hours that begin in a period, those with at least a twentieth of the greatest excess among them: a customer reads no small change. */
export function clearly<Hour extends Pick<BusyHour, 'atUs' | 'amount' | 'usual'>>(
  all: readonly Hour[],
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
): readonly Hour[] {
  const hours = all.filter(({ atUs }) => atUs >= fromUs && atUs < toUs)
  const excessOf = ({ amount, usual }: Hour) => amount - usual
  const least = leastShareOfExcess * largest(hours.map(excessOf), 0)
  return hours.filter((hour) => excessOf(hour) >= least)
}

const leastShareOfExcess = 0.05

/** A ratio as it is said: with one digit below 10. */
export const roundTimes = (times: number) =>
  times < 10 ? Number(times.toFixed(1)) : Math.round(times)
