import type { PastDay } from '../../src/report/usage/burn-model.ts'
import { forecastBurn, lookAhead } from '../../src/report/usage/forecast.ts'
import { type Random, randomOf } from '../../src/user/random.ts'

/** Usage patterns of the accounts that test a forecast. */
export const accountKinds = ['flat', 'weekly', 'trend', 'bursts', 'spike'] as const
export type AccountKind = (typeof accountKinds)[number]

const dayUs = 86_400e6
const monday = Date.UTC(2026, 10, 2) * 1000
const weekdayLevels = [1.2, 1.25, 1.25, 1.2, 1.1, 0.5, 0.4]
const grownDaily = 0.01

/** Credits of a day: about 1,000, within a fifth. */
function burnOf(kind: AccountKind, day: number, weekday: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const usual = 1_000 * Math.exp(0.2 * normal - 0.02)
  switch (kind) {
    case 'flat':
    case 'spike':
      return usual
    case 'weekly':
      return usual * weekdayLevels[weekday - 1]!
    case 'trend':
      return usual * (1 + grownDaily * day)
    case 'bursts': {
      // As many as chance brings, on average one a day of 600 credits.
      const exponential = () => -Math.log(1 - random())
      let burn = 0.7 * usual
      for (let at = exponential(); at < 1; at += exponential()) burn += 600 * exponential()
      return burn
    }
  }
}

/**
 * For an account: whether the interval of its end contained the end, and how many of the next
 * week's days were in theirs.
 */
export interface Held {
  readonly runOut: boolean
  /** Whether the end came before the interval. */
  readonly isEarly: boolean
  readonly days: number
}

/**
 * Makes an account that begins and is forecast at a random time of a random weekday, and lets it
 * continue until nothing is left.
 */
export function simulateAccount(kind: AccountKind, historyDays: number, seed: number): Held {
  const random = randomOf(seed)
  const begins = random()
  const firstWeekday = Math.floor(random() * 7)
  const weekdayOf = (day: number) => ((firstWeekday + day) % 7) + 1
  const startOf = (day: number) => monday + day * dayUs
  const burn = (day: number) => burnOf(kind, day, weekdayOf(day), random)

  const past = Array.from({ length: historyDays + 1 }, (_, day): PastDay => {
    const share = day === 0 ? 1 - begins : day === historyDays ? begins : 1
    return { startUs: startOf(day), weekday: weekdayOf(day), credits: share * burn(day), share }
  }).filter(({ share }) => share > 0.02)
  // One hour of a past day used as much as 3 to 40 days, and never does so again.
  if (kind === 'spike') {
    const at = Math.floor(random() * past.length)
    const day = past[at]!
    past[at] = { ...day, credits: day.credits + 1000 * (3 + 37 * random()) }
  }
  const coming = Array.from({ length: 120 }, (_, ahead) => {
    const day = historyDays + ahead
    const startUs = startOf(day) + (ahead === 0 ? begins * dayUs : 0)
    const share = ahead === 0 ? 1 - begins : 1
    return { startUs, endUs: startOf(day + 1), weekday: weekdayOf(day), share }
  })

  // Enough for 5 to 25 days.
  const lasts = 5 + 20 * random()
  const level = kind === 'trend' ? 1 + grownDaily * (historyDays + lasts / 2) : 1
  const credits = 1_000 * lasts * level * (kind === 'bursts' ? 1.3 : 1)
  const forecast = forecastBurn(past, random)
  const { depletion } = lookAhead(
    null,
    past,
    forecast,
    coming,
    [{ name: 'balance', credits, expiresUs: null }],
    random,
  )
  if (!depletion.known || !forecast.known) throw new Error(depletion.summary)

  let left = credits
  let emptyUs = Number.POSITIVE_INFINITY
  for (let ahead = 0; ahead < coming.length && left > 0; ahead++) {
    const { startUs, endUs, share } = coming[ahead]!
    const due = share * burn(historyDays + ahead)
    if (due >= left) emptyUs = startUs + (left / due) * (endUs - startUs)
    left -= due
  }
  const { earlyUs, lateUs } = depletion.runsOut
  const nextWeek = [1, 2, 3, 4, 5, 6, 7].map((ahead) => burn(historyDays + ahead))
  return {
    isEarly: emptyUs < (earlyUs ?? Infinity),
    runOut: emptyUs >= (earlyUs ?? Infinity) && emptyUs <= (lateUs ?? Infinity),
    days: nextWeek.filter((day) => day >= forecast.lowPerDay && day <= forecast.highPerDay).length,
  }
}
