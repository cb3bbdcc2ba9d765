import {
  anyValue,
  type Change,
  type Hours,
  type ModelPrice,
  type Price,
  type PriceOverlay,
  type Tiers,
  weekdays,
} from '../contract/prices.ts'
import { multiply, type Rational } from '../money/rational.ts'
import type { Usage } from '../tokens/usage.ts'
import { isUsualValue, selectingNames } from '../tokens/usage-names.ts'
import { dayMs, minuteMs } from '../user/durations.ts'
import { entryInAnyCase, entryOf } from '../user/lookup.ts'

/** The price of a model at a moment: after changes, service tier and hours, before tiers. */
export interface Sheet {
  readonly price: Price
  readonly tiers: Tiers | null
  /** What made it: `from 2026-12-01T00:00:00.000Z`, `service tier flex`, `hours`. */
  readonly because: readonly string[]
}

/** Names on which the price may depend, and for which the contract has none: `service tier flex`, `usage.speed fast`. */
export interface OpenNames {
  readonly open: readonly string[]
  /** Names that the contract prices, where nothing says what the usage names. */
  readonly unknown: readonly string[]
}

/**
 * @param serviceTier as the answer or the request names it
 * @param named what the usage names; null if that is not known
 */
export function sheetAt(
  model: ModelPrice,
  atMs: number,
  serviceTier: string | null,
  named: Usage['named'],
): Sheet | OpenNames {
  const service = serviceTier === null ? undefined : entryInAnyCase(model.service, serviceTier)
  const { chosen, open, unknown } = chosenBy(model, named)
  const isOpenTier = service === undefined && serviceTier !== null && !isUsualValue(serviceTier)
  const openNames = isOpenTier ? [`service tier ${serviceTier}`, ...open] : open
  if (openNames.length > 0 || unknown.length > 0) return { open: openNames, unknown }
  const changes = model.changes.filter(({ fromMs }) => fromMs <= atMs)
  const hours = model.hours.find((entry) => isWithin(entry, atMs))
  const last: Change | undefined = changes.at(-1)
  return {
    ...[...changes, service, ...chosen.map(({ overlay }) => overlay), hours].reduce<
      Omit<Sheet, 'because'>
    >((sheet, overlay) => (overlay === undefined ? sheet : overlaid(sheet, overlay)), {
      price: model.price,
      tiers: model.tiers,
    }),
    because: [
      ...(last === undefined ? [] : [`from ${new Date(last.fromMs).toISOString()}`]),
      ...(service === undefined ? [] : [`service tier ${serviceTier}`]),
      ...chosen.map(({ name }) => name),
      ...(hours === undefined ? [] : ['hours']),
    ],
  }
}

/** The prices that the names of a usage choose. A name that the contract leaves open may have any price. */
function chosenBy({ by }: ModelPrice, named: Usage['named']) {
  if (named === null) return { chosen: [], open: [], unknown: Object.keys(by).map(usageField) }
  const chosen = Object.entries(by).flatMap(([field, values]) => {
    const value = entryOf(named, field)
    if (value === undefined) return []
    const overlay = entryInAnyCase(values, value) ?? entryOf(values, anyValue)
    return overlay === undefined ? [] : [{ field, name: `${field} ${value}`, overlay }]
  })
  const priced = new Set(chosen.map(({ field }) => field))
  const open = [
    ...selectingNames(named),
    // Beyond the texts, a contract may select by any value.
    ...Object.keys(by).flatMap((field) => {
      const value = entryOf(named, field)
      return value === undefined || isUsualValue(value) ? [] : [[field, value] as const]
    }),
  ].flatMap(([field, value]) => (priced.has(field) ? [] : [`${usageField(field)} ${value}`]))
  return { chosen, open: [...new Set(open)], unknown: [] }
}

export const usageField = (field: string) => `usage.${field}`

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
