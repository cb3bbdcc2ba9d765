import {
  compare,
  decimalsOf,
  decimalText,
  divide,
  isZero,
  one,
  type Rational,
} from '../money/rational.ts'
import { entryFor } from './price-entry.ts'
import {
  type BalanceTerms,
  type BalanceValue,
  type LogTerms,
  type ModelPrice,
  type Price,
  type PriceEntry,
  type PriceOverlay,
  type PriceTerms,
  type StatedPlace,
  type Tiers,
  type TokenPrice,
  tokenPriceNames,
  tokenPrices,
  weekdays,
} from './prices.ts'

type Written = Readonly<Record<string, unknown>>

/** Prices as a contract file states them, with every default as if it were written. */
export function writtenPrices({ currency, is, allowance, evidence }: PriceTerms) {
  const { cost, balance, log } = evidence
  return {
    currency: currency.name,
    digits: currency.digits,
    ...stated({ is: mapped(is, number), allowance }),
    evidence: stated({
      cost: cost.map(writtenPlace),
      balance: balance && writtenBalance(balance),
      log: log && writtenLog(log),
    }),
  }
}

export function writtenModel(model: ModelPrice) {
  const { tiers, changes, service, by, hours, factors, round, minimum, charged, clock } = model
  return {
    ...stated({ usage: model.dialect }),
    price: writtenPrice(withParents(model)),
    ...stated({
      tiers: tiers && writtenTiers(tiers),
      changes: changes.map((change) => ({
        from: new Date(change.fromMs).toISOString(),
        ...writtenOverlay(change),
      })),
      service: mapped(service, writtenOverlay),
      by: mapped(by, (values) => mapped(values, writtenOverlay)),
      hours: hours.map(({ days, except, windows, ...overlay }) => ({
        days: weekdays.filter((day) => days.includes(day)),
        ...stated({ except }),
        utc: windows.map(({ from, to }) => `${clockTime(from)}-${clockTime(to)}`),
        ...writtenOverlay(overlay),
      })),
      times: mapped(factors, (factor) =>
        'value' in factor ? number(factor.value) : mapped(factor.choices, number),
      ),
      round,
      minimum: minimum && number(minimum),
    }),
    charged,
    priced: model.priced,
    served: model.served,
    clock,
  }
}

/**
 * Every token price, its own or its parent's. A price that the contract does not state stays out if its nearest stated parent changes
 * in a tier, hours or a change: written here, it would no longer follow.
 */
function withParents(model: ModelPrice): Price {
  const { price, tiers, changes, service, by, hours } = model
  const ofNames = Object.values(by).flatMap((values) => Object.values(values))
  const overlays = [...changes, ...Object.values(service), ...ofNames, ...hours]
  const steps = [tiers, ...overlays.map((overlay) => overlay.tiers)].flatMap(
    (each) => each?.steps ?? [],
  )
  const changed = new Set([...overlays, ...steps].flatMap((over) => Object.keys(over.price)))
  /** Whether a parent changes, up to the nearest one that has a price of its own. */
  const follows = (name: TokenPrice): boolean => {
    const parent = tokenPrices[name]
    if (parent === null) return false
    return changed.has(parent) || (price[parent] === undefined && follows(parent))
  }
  const tokens = tokenPriceNames.flatMap((name: TokenPrice) => {
    const found = price[name] === undefined && follows(name) ? null : entryFor(price, name)
    return found === null ? [] : [[name, found.entry] as const]
  })
  const fees = Object.entries(price).filter(([name]) => !Object.hasOwn(tokenPrices, name))
  return Object.fromEntries([...tokens, ...fees])
}

function writtenPrice(price: Price) {
  return Object.fromEntries(
    Object.entries(price).map(([name, entry]) => [name, writtenEntry(name, entry)]),
  )
}

function writtenEntry(name: string, { price, per, minimum, step }: PriceEntry) {
  const shown = price === 'open' ? price : number(price)
  const usual = Object.hasOwn(tokenPrices, name) ? 1_000_000n : 1n
  const rest = stated({ minimum: minimum && number(minimum), step: step && number(step) })
  const plain = compare(per, { numerator: usual, denominator: 1n }) === 0
  return plain && Object.keys(rest).length === 0
    ? shown
    : { price: shown, per: number(per), ...rest }
}

function writtenTiers({ count, apply, steps }: Tiers): Written {
  return {
    count,
    apply,
    steps: steps.map(({ above, from, ...step }) => ({
      ...(above === undefined ? { from: number(from!) } : { above: number(above) }),
      ...writtenOverlay({ ...step, tiers: null }),
    })),
  }
}

const writtenOverlay = ({ price, tiers, times: scale }: PriceOverlay) =>
  stated({ price: writtenPrice(price), tiers: tiers && writtenTiers(tiers), ...times(scale) })

const times = (value: Rational) => (compare(value, one) === 0 ? {} : { times: number(value) })

const writtenPlace = ({ times: scale, ...place }: StatedPlace) => ({ ...place, ...times(scale) })

const writtenBalance = ({
  get,
  also,
  limit,
  limitTimes,
  lowest,
  grants,
  withinMs,
  isWithinPromised,
  ...own
}: BalanceTerms) => ({
  ...stated({ get }),
  ...writtenValue(own),
  ...stated({
    also: also.map(writtenValue),
    limit: limit === null ? null : writtenLimit(limit, limitTimes, own.times),
    lowest: lowest === null ? 'open' : isZero(lowest) ? null : number(divide(lowest, own.times)),
    grants,
  }),
  ...(isWithinPromised ? { within: `${withinMs}ms` } : {}),
})

/** In the unit of the first value, or with its own. */
function writtenLimit(limit: Rational | string, limitTimes: Rational, ofValue: Rational) {
  const value = typeof limit === 'string' ? limit : number(limit)
  return compare(limitTimes, ofValue) === 0 ? value : { value, ...times(limitTimes) }
}

const writtenValue = ({ header, value, moves, times: scale }: BalanceValue) => ({
  ...stated({ header, value }),
  moves,
  ...times(scale),
})

function writtenLog({ get, cost, id, model, at, tokens, join, withinMs, ...log }: LogTerms) {
  return {
    ...stated({ get, cost, id, model, at }),
    tokens,
    join: join === 'response.id' ? join : `header:${join.header}`,
    within: `${withinMs}ms`,
    ...times(log.times),
  }
}

/** The fields that hold something: not null, nor an empty list or table. */
const stated = (fields: Written) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))

const isEmpty = (value: unknown) =>
  value == null || (typeof value === 'object' && Object.keys(value).length === 0)

function mapped<Value, Result>(
  fields: Readonly<Record<string, Value>>,
  of: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, of(value)]))
}

/** A number as YAML writes it; a text, which the reader takes with all its digits, where a double would lose some or the fraction has no end. */
function number(value: Rational): number | string {
  const text = decimalText(value)
  if (decimalsOf(value) === null) return text
  return decimalDigits(text) <= 15 ? Number(text) : text
}

const decimalDigits = (text: string) => text.replace(/\D/g, '').replace(/^0+|0+$/g, '').length

const clockTime = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
