import {
  type Hours,
  type ModelPrice,
  type Price,
  type PriceEntry,
  type Tiers,
  tokenPrices,
  weekdays,
} from '../../contract/prices.ts'
import { multiply, type Rational, rational } from '../../money/rational.ts'
import { minuteMs } from '../../user/durations.ts'

/** The prices that hold for one request, before tiers. */
export interface Sheet {
  readonly price: Price
  readonly tiers: Tiers | null
}

type Overlay = Sheet & { readonly times: Rational }

/**
 * The service's own reading of a price at a moment: changes, then the service tier, then hours.
 * Nothing of it is shared with the auditor's calculator.
 */
export function sheetFor(model: ModelPrice, atMs: number, serviceTier: string | null): Sheet {
  const overlays: Overlay[] = model.changes.filter(({ fromMs }) => fromMs <= atMs)
  const tier = serviceTier === null ? undefined : model.service[serviceTier]
  if (tier !== undefined) overlays.push(tier)
  const hours = model.hours.find((each) => holdsAt(each, atMs))
  if (hours !== undefined) overlays.push(hours)
  let sheet: Sheet = { price: model.price, tiers: model.tiers }
  for (const overlay of overlays) sheet = under(overlay, sheet)
  return sheet
}

/** Prices under an overlay: its own in their place, and everything times its factor. */
function under({ price, tiers, times }: Overlay, below: Sheet): Sheet {
  const kept = tiers ?? below.tiers
  const steps = kept?.steps.map((step) => ({ ...step, price: timesOf(step.price, times) })) ?? []
  return {
    price: timesOf({ ...below.price, ...price }, times),
    tiers: kept === null ? null : { ...kept, steps },
  }
}

function timesOf(price: Price, times: Rational): Price {
  const entries = Object.entries(price).map(([name, entry]): [string, PriceEntry] => [
    name,
    entry.price === 'open' ? entry : { ...entry, price: multiply(entry.price, times) },
  ])
  return Object.fromEntries(entries)
}

/** The prices that a prompt of this length reaches, and what each step of the tiers does above its threshold. */
export function reached({ price, tiers }: Sheet, count: number): Price {
  let reachedPrice = price
  for (const { above, from, price: own, times } of tiers?.steps ?? []) {
    const isReached = above === undefined ? count >= value(from!) : count > value(above)
    if (isReached) reachedPrice = timesOf({ ...reachedPrice, ...own }, times)
  }
  return reachedPrice
}

/** A threshold as a number: counts of tokens are far below 2^53. */
export const value = ({ numerator, denominator }: Rational): number =>
  Number(numerator) / Number(denominator)

/** The entry of a name, or of its nearest parent that has one. */
export function entryOf(price: Price, name: string): PriceEntry | undefined {
  let at: string | null = name
  while (at !== null && price[at] === undefined) {
    at = (tokenPrices as Readonly<Record<string, string | null>>)[at] ?? null
  }
  return at === null ? undefined : price[at]
}

const minutesOfDay = 1440

function holdsAt({ days, except, windows }: Hours, atMs: number): boolean {
  const at = new Date(atMs)
  const minute = at.getUTCHours() * 60 + at.getUTCMinutes() + at.getUTCSeconds() / 60
  const dayHolds = (day: Date) =>
    days.includes(weekdays[day.getUTCDay()]!) && !except.includes(day.toISOString().slice(0, 10))
  const dayBefore = new Date(atMs - minutesOfDay * minuteMs)
  return windows.some(({ from, to }) => {
    const isOvernight = from >= to
    if (!isOvernight) return dayHolds(at) && from <= minute && minute < to
    return (dayHolds(at) && minute >= from) || (dayHolds(dayBefore) && minute < to)
  })
}

export const nothing = rational(0n)
