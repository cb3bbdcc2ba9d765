import {
  type Change,
  type Hours,
  type ModelPrice,
  type Price,
  type PriceOverlay,
  type Tiers,
  weekdays,
} from '../contract/prices.ts'
import { multiply, type Rational } from '../money/rational.ts'

/** The price of a model at a moment: after changes, service tier and hours, before tiers. */
export interface Sheet {
  readonly price: Price
  readonly tiers: Tiers | null
  /** What made it: `from 2026-12-01T00:00:00.000Z`, `service tier flex`, `hours`. */
  readonly because: readonly string[]
}

/** Tiers of a service whose requests cost the base price. */
const standardTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'on_demand',
  'standard',
  'standard_only',
])

/**
 * @param serviceTier as the answer or the request names it
 * @returns null if the contract has service tiers, and this one is not among them
 */
export function sheetAt(model: ModelPrice, atMs: number, serviceTier: string | null): Sheet | null {
  const service = serviceTier === null ? undefined : model.service[serviceTier]
  if (
    service === undefined &&
    serviceTier !== null &&
    !standardTiers.has(serviceTier) &&
    Object.keys(model.service).length > 0
  )
    return null
  const changes = model.changes.filter(({ fromMs }) => fromMs <= atMs)
  const hours = model.hours.find((entry) => isWithin(entry, atMs))
  const last: Change | undefined = changes.at(-1)
  return {
    ...[...changes, service, hours].reduce<Omit<Sheet, 'because'>>(
      (sheet, overlay) => (overlay === undefined ? sheet : overlaid(sheet, overlay)),
      { price: model.price, tiers: model.tiers },
    ),
    because: [
      ...(last === undefined ? [] : [`from ${new Date(last.fromMs).toISOString()}`]),
      ...(service === undefined ? [] : [`service tier ${serviceTier}`]),
      ...(hours === undefined ? [] : ['hours']),
    ],
  }
}

function overlaid(
  { price, tiers }: Omit<Sheet, 'because'>,
  over: PriceOverlay,
): Omit<Sheet, 'because'> {
  const kept = over.tiers ?? tiers
  return {
    price: scaled({ ...price, ...over.price }, over.times),
    tiers:
      kept === null
        ? null
        : {
            ...kept,
            steps: kept.steps.map((step) => ({ ...step, price: scaled(step.price, over.times) })),
          },
  }
}

export function scaled(price: Price, times: Rational): Price {
  if (times.numerator === times.denominator) return price
  return Object.fromEntries(
    Object.entries(price).map(([name, entry]) => [
      name,
      entry.price === 'open' ? entry : { ...entry, price: multiply(entry.price, times) },
    ]),
  )
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Whether a moment is in a window of these hours. A window past midnight belongs to the day it begins. */
export function isWithin({ days, except, windows }: Hours, atMs: number): boolean {
  const midnight = Math.floor(atMs / dayMs) * dayMs
  const minute = (atMs - midnight) / minuteMs
  const isDay = (ms: number) =>
    days.includes(weekdays[new Date(ms).getUTCDay()]!) &&
    !except.includes(new Date(ms).toISOString().slice(0, 10))
  return windows.some(({ from, to }) => {
    if (from < to) return minute >= from && minute < to && isDay(midnight)
    return (minute >= from && isDay(midnight)) || (minute < to && isDay(midnight - dayMs))
  })
}
