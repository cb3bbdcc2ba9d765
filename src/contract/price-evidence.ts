import type { Currency } from '../money/money.ts'
import { divide, multiply, one, type Rational, readNumber, zero } from '../money/rational.ts'
import { isObject, type JsonObject } from '../user/json.ts'
import type { PriceReader } from './price-reader.ts'
import {
  type BalanceTerms,
  type BalanceValue,
  balanceMoves,
  type GrantPlaces,
  type LogTerms,
  logTokens,
  type PriceEvidence,
  type StatedPlace,
} from './prices.ts'

/** Reads `evidence`: the places where a service shows money. Without one, no rule looks there. */
export function readPriceEvidence(
  value: unknown,
  unit: Currency,
  is: Readonly<Record<string, Rational>>,
  reader: PriceReader,
): PriceEvidence {
  const fields = reader.mapping(value, 'evidence', ['cost', 'balance', 'log'])
  return {
    cost: reader
      .list(fields.cost, 'evidence.cost')
      .flatMap((place, at) => readStated(place, `evidence.cost.${at}`, scaleOf, reader)),
    balance: fields.balance === undefined ? null : readBalance(fields.balance, scaleOf, reader),
    log: fields.log === undefined ? null : readLog(fields.log, scaleOf, reader),
  }

  function scaleOf(fields: JsonObject, path: string): Rational {
    const times =
      fields.times === undefined ? one : (reader.number(fields.times, `${path}.times`) ?? one)
    const name = reader.text(fields.in, `${path}.in`, 'a currency') ?? unit.name
    if (name === unit.name) return times
    const rate = is[name]
    if (rate !== undefined) return divide(times, divide(one, rate))
    reader.issue(`${path}.in`, `${unit.name}, or a currency of \`is\``, fields.in)
    return times
  }
}

/** The places of a sum such as `prepaid - due`, and whether each is taken from it; one place alone is the only one. */
export function placesOf(
  sum: string,
): readonly { readonly place: string; readonly isTaken: boolean }[] {
  const [first = '', ...rest] = sum.trim().split(/ +([+-]) +/)
  const others = rest.flatMap((sign, at) =>
    at % 2 === 0 ? [{ place: rest[at + 1]!, isTaken: sign === '-' }] : [],
  )
  return [{ place: first, isTaken: false }, ...others]
}

/** The factor from the unit of a place to the contract's currency: `in: USD`, or `times: 1/10000000000`. */
type ScaleOf = (fields: JsonObject, path: string) => Rational

function readStated(
  value: unknown,
  path: string,
  scaleOf: ScaleOf,
  reader: PriceReader,
): readonly StatedPlace[] {
  const fields = reader.mapping(value, path, ['header', 'body', 'in', 'times'])
  const times = scaleOf(fields, path)
  const header = reader.text(fields.header, `${path}.header`, 'the name of a header')
  const body = reader.text(fields.body, `${path}.body`, 'a place such as usage.cost')
  if ((header === null) === (body === null)) {
    reader.issue(path, 'either header or body', value)
    return []
  }
  return [header === null ? { body: body!, times } : { header: header.toLowerCase(), times }]
}

function readBalance(value: unknown, scaleOf: ScaleOf, reader: PriceReader): BalanceTerms {
  const path = 'evidence.balance'
  const words = [...balanceWords, 'get', 'within', 'also', 'limit', 'lowest', 'grants']
  const fields = reader.mapping(value, path, words)
  const get = reader.text(fields.get, `${path}.get`, 'a path such as /key/info')
  const own = readBalanceValue(fields, path, scaleOf, reader)
  if ((get === null) === (own.header === null)) reader.issue(path, 'either get or header', value)
  const also = reader.list(fields.also, `${path}.also`).map((each, at) => {
    const place = `${path}.also.${at}`
    const fields = reader.mapping(each, place, balanceWords)
    const read = readBalanceValue(fields, place, scaleOf, reader)
    const isThere = get === null ? read.header !== null : read.value !== null
    if (!isThere) reader.issue(place, get === null ? 'a header' : 'a value', each)
    return read
  })
  return {
    get,
    ...own,
    also,
    ...readLimit(fields.limit, own.times, scaleOf, reader),
    lowest: readLowest(fields.lowest, own.times, reader),
    grants: readGrants(fields.grants, get, reader),
    withinMs: reader.duration(fields.within, `${path}.within`),
    isWithinPromised: fields.within != null,
  }
}

/** How far a balance may fall: to 0 where nothing is said; `open` where the rest is paid later, and nothing says how much. */
function readLowest(given: unknown, own: Rational, reader: PriceReader): Rational | null {
  if (given === 'open') return null
  if (given === undefined || given === null) return zero
  const written =
    typeof given === 'number' || typeof given === 'string' ? readNumber(`${given}`) : null
  if (written === null)
    reader.issue('evidence.balance.lowest', 'an amount such as -50, or open', given)
  return multiply(written ?? zero, own)
}

/** `{ list: grants, left: amount_left, expires: expires_at }`; what is left may be a sum of places. */
function readGrants(value: unknown, get: string | null, reader: PriceReader): GrantPlaces | null {
  if (value === undefined || value === null) return null
  const path = 'evidence.balance.grants'
  const fields = reader.mapping(value, path, ['list', 'left', 'expires'])
  const place = (word: string, of: unknown, what: string) => {
    const read = reader.text(of, `${path}.${word}`, what)
    if (read === null && (of === undefined || of === null))
      reader.issue(`${path}.${word}`, what, of)
    return read ?? ''
  }
  if (get === null) reader.issue(path, 'a page that lists them (get)', value)
  return {
    list: place('list', fields.list, 'the place of a list, such as grants'),
    left: place('left', fields.left, 'a place in each grant, such as left'),
    expires: place('expires', fields.expires, 'a place in each grant, such as expires_at'),
  }
}

const balanceWords = ['header', 'value', 'moves', 'in', 'times'] as const

function readBalanceValue(
  fields: JsonObject,
  path: string,
  scaleOf: ScaleOf,
  reader: PriceReader,
): BalanceValue {
  const header = reader.text(fields.header, `${path}.header`, 'the name of a header')
  return {
    header: header?.toLowerCase() ?? null,
    value: reader.text(fields.value, `${path}.value`, 'a place such as info.spend'),
    moves: reader.word(fields.moves, `${path}.moves`, balanceMoves),
    times: scaleOf(fields, path),
  }
}

/** An amount or its place: `100`, `"99.50"`, `data.limit`; in the first value's unit or its own: `{ value: data.limit, in: USD }`. */
function readLimit(
  given: unknown,
  own: Rational,
  scaleOf: ScaleOf,
  reader: PriceReader,
): Pick<BalanceTerms, 'limit' | 'limitTimes'> {
  const path = 'evidence.balance.limit'
  if (given === undefined || given === null) return { limit: null, limitTimes: own }
  const hasUnit = isObject(given)
  const fields = hasUnit ? reader.mapping(given, path, ['value', 'in', 'times']) : {}
  const value = hasUnit ? fields.value : given
  const says = 'an amount, or a place such as info.max_budget'
  if (hasUnit && value === undefined) reader.issue(`${path}.value`, says, value)
  return {
    limit:
      typeof value === 'string' && readNumber(value) === null
        ? reader.text(value, path, says)
        : reader.number(value, path),
    limitTimes: hasUnit ? scaleOf(fields, path) : own,
  }
}

/** What a read of the log fills in. */
const logPlaces = /^\{(?:response\.id|page(?::\d+)?|offset|cursor)\}$/

function readLog(value: unknown, scaleOf: ScaleOf, reader: PriceReader): LogTerms {
  const path = 'evidence.log'
  const place = (word: string, of: unknown) =>
    reader.text(of, `${path}.${word}`, 'a place in a row')
  const words = ['get', 'cost', 'id', 'model', 'at', 'tokens', 'join', 'within', 'in', 'times']
  const fields = reader.mapping(value, path, words)
  const places = reader.mapping(fields.tokens, `${path}.tokens`, logTokens)
  const tokens = logTokens.flatMap((name) => {
    const read = place(`tokens.${name}`, places[name])
    return read === null ? [] : [[name, read] as const]
  })
  const join = reader.text(fields.join, `${path}.join`, 'response.id, or header:<name>')
  const asPath = 'a path such as /spend/logs?request_id={response.id}'
  const get = reader.text(fields.get, `${path}.get`, asPath)
  const unknown = get?.match(/\{[^}]*\}/g)?.find((each) => !logPlaces.test(each))
  if (unknown !== undefined)
    reader.issue(`${path}.get`, '{response.id}, {page}, {page:0}, {offset} or {cursor}', unknown)
  return {
    get,
    cost: place('cost', fields.cost),
    id: place('id', fields.id),
    model: place('model', fields.model),
    at: place('at', fields.at),
    tokens: Object.fromEntries(tokens),
    join:
      join?.startsWith('header:') === true
        ? { header: join.slice('header:'.length).trim().toLowerCase() }
        : 'response.id',
    times: scaleOf(fields, path),
    withinMs: reader.duration(fields.within, `${path}.within`),
  }
}
