import { compare, decimalsOf, decimalText, one, type Rational } from '../money/rational.ts'
import { entryFor } from './price-entry.ts'
import {
  type BalanceTerms,
  type BalanceValue,
  type LogTerms,
  type ModelPrice,
  type Price,
  type PriceEntry,
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
export function writtenPrices({ currency, is, evidence }: PriceTerms) {
  const { cost, balance, log } = evidence
  return {
    currency: currency.name,
    digits: currency.digits,
    ...(Object.keys(is).length === 0 ? {} : { is: mapped(is, number) }),
    evidence: {
      ...(cost.length === 0 ? {} : { cost: cost.map(writtenPlace) }),
      ...(balance === null ? {} : { balance: writtenBalance(balance) }),
      ...(log === null ? {} : { log: writtenLog(log) }),
    },
  }
}

/** The price fields of one model. */
export function writtenModel(model: ModelPrice) {
  const { changes, service, by, hours, factors, round, minimum, charged, clock } = model
  return {
    ...(model.dialect === null ? {} : { usage: model.dialect }),
    price: writtenPrice(withParents(model)),
    ...(model.tiers === null ? {} : { tiers: writtenTiers(model.tiers) }),
    ...(changes.length === 0
      ? {}
      : {
          changes: changes.map((change) => ({
            from: new Date(change.fromMs).toISOString(),
            ...writtenOverlay(change),
          })),
        }),
    ...(Object.keys(service).length === 0 ? {} : { service: mapped(service, writtenOverlay) }),
    ...(Object.keys(by).length === 0
      ? {}
      : { by: mapped(by, (values) => mapped(values, writtenOverlay)) }),
    ...(hours.length === 0
      ? {}
      : {
          hours: hours.map(({ days, except, windows, ...overlay }) => ({
            days: weekdays.filter((day) => days.includes(day)),
            ...(except.length === 0 ? {} : { except }),
            utc: windows.map(({ from, to }) => `${clockTime(from)}-${clockTime(to)}`),
            ...writtenOverlay(overlay),
          })),
        }),
    ...(Object.keys(factors).length === 0
      ? {}
      : {
          times: mapped(factors, (factor) =>
            'value' in factor ? number(factor.value) : mapped(factor.choices, number),
          ),
        }),
    ...(round === null ? {} : { round }),
    ...(minimum === null ? {} : { minimum: number(minimum) }),
    charged,
    priced: model.priced,
    served: model.served,
    clock,
  }
}

/**
 * Every token price, its own or its parent's. A part that follows its parent into a tier, a service tier, hours or a
 * change stays unwritten: written, it would keep its price there.
 */
function withParents(model: ModelPrice): Price {
  const { price, tiers, changes, service, by, hours } = model
  const ofNames = Object.values(by).flatMap((values) => Object.values(values))
  const overlays = [...changes, ...Object.values(service), ...ofNames, ...hours]
  const steps = [tiers, ...overlays.map((overlay) => overlay.tiers)].flatMap(
    (each) => each?.steps ?? [],
  )
  const changed = new Set([...overlays, ...steps].flatMap((over) => Object.keys(over.price)))
  const follows = (name: TokenPrice): boolean => {
    const parent = tokenPrices[name]
    return (
      parent !== null && (changed.has(parent) || (price[parent] === undefined && follows(parent)))
    )
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
  if (
    per.numerator === usual &&
    per.denominator === 1n &&
    minimum === undefined &&
    step === undefined
  )
    return shown
  return {
    price: shown,
    per: number(per),
    ...(minimum === undefined ? {} : { minimum: number(minimum) }),
    ...(step === undefined ? {} : { step: number(step) }),
  }
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

function writtenOverlay(overlay: {
  readonly price: Price
  readonly tiers: Tiers | null
  readonly times: Rational
}): Written {
  return {
    ...(Object.keys(overlay.price).length === 0 ? {} : { price: writtenPrice(overlay.price) }),
    ...(overlay.tiers === null ? {} : { tiers: writtenTiers(overlay.tiers) }),
    ...(compare(overlay.times, one) === 0 ? {} : { times: number(overlay.times) }),
  }
}

const times = (value: Rational) => (compare(value, one) === 0 ? {} : { times: number(value) })

function writtenPlace(place: StatedPlace) {
  return {
    ...('header' in place ? { header: place.header } : { body: place.body }),
    ...times(place.times),
  }
}

function writtenBalance({ get, also, limit, withinMs, ...own }: BalanceTerms) {
  return {
    ...present({ get }),
    ...writtenValue(own),
    ...(also.length > 0 ? { also: also.map(writtenValue) } : {}),
    ...(limit === null ? {} : { limit: typeof limit === 'string' ? limit : number(limit) }),
    within: `${withinMs}ms`,
  }
}

const writtenValue = ({ header, value, moves, times: scale }: BalanceValue) => ({
  ...present({ header, value }),
  moves,
  ...times(scale),
})

function writtenLog({ get, cost, id, model, at, tokens, join, withinMs, ...log }: LogTerms) {
  return {
    ...present({ get, cost, id, model, at }),
    tokens,
    join: join === 'response.id' ? join : `header:${join.header}`,
    within: `${withinMs}ms`,
    ...times(log.times),
  }
}

function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function mapped<Value, Result>(
  fields: Readonly<Record<string, Value>>,
  of: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, of(value)]))
}

/** A number as YAML writes it; a text where a double would lose digits, or the fraction has no end. */
function number(value: Rational): number | string {
  const text = decimalText(value)
  if (decimalsOf(value) === null) return text
  return decimalDigits(text) <= 15 ? Number(text) : text
}

const decimalDigits = (text: string) => text.replace(/\D/g, '').replace(/^0+|0+$/g, '').length

const clockTime = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
