import type { Period } from '../../measure/usage/calendar.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { literal } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { hourUs } from '../../user/durations.ts'
import { type Asked, tagsShown } from '../api/asked.ts'
import { amountIn, clearly, unusualHours } from './cause.ts'
import { hoursCutAt, inSql, rowsCutAt } from './rows.ts'
import { plus, readFigures } from './sums.ts'
import { sumOf as sumOfUsed, type Used, usedFigures, usedOf, type WhyPart, whyOf } from './why.ts'

/** What most of a dear day came from: its names, and its hours. Without both, it is the whole day. */
export interface MainCause {
  /** What these names used in these hours of the day, decimal text. */
  readonly amount: string
  /** Empty if the hours alone tell it. */
  readonly names: readonly CauseName[]
  /** In the order of time; empty if the names tell it. */
  readonly spans: readonly Span[]
  /** Of what was looked at, that of which no single one stands out: several keys, or the hours. */
  readonly none: readonly ('key' | 'hour')[]
  /** The key that has most of it, as it usually has; null if names or hours tell it, or no key has. */
  readonly mostly: CauseName | null
  /** What is other in its requests, whatever their model, than in the usual ones of the same names; the greatest first. */
  readonly why: readonly WhyPart[]
}

/** @property tag the own dimension that has this value; null for a key or a model */
export interface CauseName {
  /** A key without a name of its own is called `key 3` already. */
  readonly of: 'key' | 'unnamedKey' | 'model' | 'tag'
  readonly name: string
  readonly tag: string | null
}

type Span = Pick<Period, 'fromUs' | 'toUs'>

interface DayAsked {
  readonly day: Span
  /** The days that are usual. */
  readonly usual: readonly Span[]
  /** What the day used beyond a usual day of its kind. The `excess` that makes a day dear may be that beyond all days. */
  readonly excess: number
  readonly unit: string
  /** SQL condition of its rows. */
  readonly condition: string
  readonly period: Period
  readonly page: UsageForecast | null
}

/** A share of the excess of a day that is most of it. */
export const mostOfExcess = 0.6
/** One that is nearly all. */
const nearlyAll = 0.9
/** A name that has so much more of the excess than of a usual day has caused some of it. */
const leastMore = 0.1
/** Hours are said if they have so much of what the names have. */
const leastOfNames = 0.75
/** More hours are no answer, nor are more that are apart. */
const [mostHours, mostSpans] = [12, 3]

/**
 * The names that together have most of the excess of a day: as many of them as have nearly all of it, else as many as have most. A name
 * with about as much of the excess as of a usual day is no cause, unless it has nearly all; the only name of its kind is none. Hours
 * that are busier than usual are said beside them if they have most of that.
 */
export async function mainCauseOf(asked: Asked, of: DayAsked): Promise<MainCause> {
  const { all, isOfNoKey, mostly } = await foundIn(asked, of)
  const found = await togetherIn(asked, of, all)
  const names = found.map(({ name }) => name)
  const spans = spansOf(of)
  const rows = await partsOf(asked, of, found, spans)
  const sumIn = (wanted: (row: Part) => boolean) => {
    const some = rows.filter((row) => row.isOfNames && row.isOfModel && wanted(row))
    const [own, usual] = [some.filter(({ isDear }) => isDear), some.filter(({ isDear }) => !isDear)]
    const amount = own.reduce((sum, { text }) => plus(sum, text ?? '0'), '0')
    const excess =
      Number(amount) - sumOfUsed(usual.map(({ used }) => used)).amount / of.usual.length
    return { amount, share: excess / of.excess }
  }
  const whole = sumIn(() => true)
  const inSpans = sumIn(({ isInSpans }) => isInSpans)
  const least =
    names.length === 0 ? mostOfExcess : Math.max(mostOfExcess, leastOfNames * whole.share)
  const isSpan = spans.length > 0 && inSpans.share >= least
  return {
    amount: (isSpan ? inSpans : whole).amount,
    ...{ names, spans: isSpan ? spans : [] },
    mostly: names.length === 0 && !isSpan ? mostly : null,
    none: [
      ...(isOfNoKey ? ['key' as const] : []),
      ...(!isSpan && isOfNoHour(of) ? ['hour' as const] : []),
    ],
    why: whyIn(rows, isSpan, of.usual.length).map((part) => shownOf(part, asked)),
  }
}

/** The key that a token shows alone; null for others. */
export function onlyKeyOf(asked: Asked): CauseName | null {
  const { keys, shows } = asked.bearer
  return keys?.length === 1 && shows.has('keys')
    ? nameOf(asked, { of: 'key', tag: null }, keys[0]!)
    : null
}

/** A part without the names that the token does not show. */
function shownOf(part: WhyPart, { bearer }: Asked): WhyPart {
  if (bearer.shows.has('models')) return part
  if (part.of === 'model') return { ...part, model: null, instead: null }
  return 'model' in part ? { ...part, model: null } : part
}

/** The same of the rows of a day and of the usual ones: requests of names that are new are compared with all. */
function whyIn(rows: readonly Part[], isSpan: boolean, usualDays: number): readonly WhyPart[] {
  const isMeant = ({ isInSpans }: Part) => isInSpans || !isSpan
  const named = rows.filter(({ isOfNames }) => isOfNames)
  const usual = named.filter(({ isDear }) => !isDear)
  const isNew = sumOfUsed(usual.map(({ used }) => used)).amount <= 0
  const base = isNew ? rows.filter(({ isDear }) => !isDear) : usual
  const count = sumOfUsed(usual.filter(isMeant).map(({ used }) => used)).requests ?? 0
  return whyOf(
    named.filter((row) => row.isDear && isMeant(row)).map(({ used }) => used),
    base.map(({ used }) => used),
    count / usualDays,
  )
}

interface Part {
  readonly used: Used
  /** Decimal text. */
  readonly text: string | null
  readonly isDear: boolean
  readonly isInSpans: boolean
  /** Of the key and the own dimensions that are named. */
  readonly isOfNames: boolean
  /** Of the model that is named, if one is. */
  readonly isOfModel: boolean
}

/** The use of the day and of the usual ones by model: within these hours of each, and of these names. */
async function partsOf(
  asked: Asked,
  { day, usual, unit, condition, period }: DayAsked,
  found: readonly Found[],
  spans: readonly Span[],
): Promise<readonly Part[]> {
  const inSpans = [day, ...usual].flatMap((each) => sameHours(each, day, spans))
  const ends = [period, day, ...usual, ...inSpans].flatMap(({ fromUs, toUs }) => [fromUs, toUs])
  const sqlOf = (isModel: boolean) => [
    'true',
    ...found.filter(({ name }) => (name.of === 'model') === isModel).map(({ sql }) => sql),
  ]
  type Row = Omit<Part, 'used' | 'text'> & { readonly model: string | null }
  const rows = await readFigures<Row, (typeof usedFigures)[number]>(asked, usedFigures, {
    from: spans.length === 0 ? rowsCutAt(asked, ends) : hoursCutAt(ends),
    where: `${condition} AND ${inSql([day, ...usual])}`,
    by: {
      model: 'model',
      isDear: inSql([day]),
      isInSpans: inSpans.length === 0 ? 'false' : inSql(inSpans),
      isOfNames: sqlOf(false).join(' AND '),
      isOfModel: sqlOf(true).join(' AND '),
    },
  })
  return rows.map((row) => {
    const text = amountIn(asked, row, unit)
    return { ...row, text, used: usedOf(row, text) }
  })
}

/** Hours of a day in another one. */
const sameHours = (other: Span, day: Span, spans: readonly Span[]): readonly Span[] =>
  spans.map(({ fromUs, toUs }) => ({
    fromUs: other.fromUs + fromUs - day.fromUs,
    toUs: other.fromUs + toUs - day.fromUs,
  }))

/** The fewest of the hours that are busier than usual with nearly all of what these have beyond it, joined; empty if they are many. */
function spansOf({ day, unit, page }: DayAsked): readonly Span[] {
  const busy = (page?.busyHours ?? []).filter((each) => each.unit === unit)
  const hours = clearly(busy, day).toSorted((a, b) => a.atUs - b.atUs)
  const joined: (Span & { readonly excess: number })[] = []
  for (const { atUs, amount, usual } of hours) {
    const hour = { fromUs: atUs, toUs: atUs + hourUs, excess: amount - usual }
    const before = joined.at(-1)
    if (before?.toUs === atUs) {
      const excess = before.excess + hour.excess
      joined[joined.length - 1] = { ...hour, fromUs: before.fromUs, excess }
    } else joined.push(hour)
  }
  const all = joined.reduce((sum, { excess }) => sum + excess, 0)
  let sum = 0
  const fewest = joined
    .toSorted((a, b) => b.excess - a.excess)
    .filter(({ excess }) => {
      const isNeeded = sum < nearlyAll * all
      sum += excess
      return isNeeded
    })
  const longUs = fewest.reduce((long, { fromUs, toUs }) => long + toUs - fromUs, 0)
  return fewest.length > mostSpans || longUs > mostHours * hourUs
    ? []
    : fewest.map(({ fromUs, toUs }) => ({ fromUs, toUs })).toSorted((a, b) => a.fromUs - b.fromUs)
}

interface Found {
  readonly name: CauseName
  /** SQL condition of its rows. */
  readonly sql: string
}

/** Whether the hours are known, and the chart marks none of the day. */
const isOfNoHour = ({ day, unit, page }: DayAsked) =>
  page !== null &&
  !unusualHours(page, unit).some(({ atUs }) => atUs >= day.fromUs && atUs < day.toUs)

/** Of the keys, of each own dimension and of the models, the name with most of the excess; and of several keys, the one that has most of it, or that none has. */
async function foundIn(
  asked: Asked,
  of: DayAsked,
): Promise<
  Pick<MainCause, 'mostly'> & { readonly all: readonly Found[]; readonly isOfNoKey: boolean }
> {
  const { bearer } = asked
  const dimensions = [
    ...(bearer.shows.has('keys') ? [{ of: 'key' as const, tag: null, sql: 'key_fp' }] : []),
    ...tagsShown(asked).map((tag) => ({ of: 'tag' as const, tag, sql: tagSql(tag) })),
    ...(bearer.shows.has('models') ? [{ of: 'model' as const, tag: null, sql: 'model' }] : []),
  ]
  const found: Found[] = []
  let isOfNoKey = false
  let mostly: CauseName | null = null
  for (const dimension of dimensions) {
    const rows = await daySums<{ readonly name: string | null }>(asked, of, { name: dimension.sql })
    // Where everything is of one name, that is no reason.
    if (rows.filter(({ group }) => group.name !== null).length < 2) continue
    const all = rows.reduce((sum, row) => sum + row.usual, 0)
    const [first] = rows.toSorted((a, b) => b.excess - a.excess)
    if (first === undefined || first.group.name === null) continue
    const share = first.excess / of.excess
    const name = nameOf(asked, dimension, first.group.name)
    if (dimension.of === 'key') {
      isOfNoKey = share < mostOfExcess
      mostly = isOfNoKey ? null : name
    }
    const isUsual = all > 0 && share < first.usual / all + leastMore
    if (share < mostOfExcess || (isUsual && share < nearlyAll)) continue
    found.push({
      name,
      sql: `coalesce(${dimension.sql} = ${literal(first.group.name)}, false)`,
    })
  }
  return { all: found, isOfNoKey, mostly }
}

function nameOf(
  { keys }: Asked,
  { of, tag }: Pick<CauseName, 'tag'> & { readonly of: 'key' | 'tag' | 'model' },
  name: string,
): CauseName {
  if (of !== 'key') return { of, tag, name }
  return { of: keys.isNamed(name) ? 'key' : 'unnamedKey', tag, name: keys.nameOf(name) }
}

/** As many of these names as have nearly all of the excess together, else as many as have most. */
async function togetherIn(
  asked: Asked,
  of: DayAsked,
  found: readonly Found[],
): Promise<readonly Found[]> {
  if (found.length < 2) return found
  const by = Object.fromEntries(found.map(({ sql }, at) => [`has_${at}`, sql]))
  const rows = await daySums<Readonly<Record<string, boolean>>>(asked, of, by)
  const sets = Array.from({ length: 2 ** found.length - 1 }, (_, bits) => {
    const places = [...found.keys()].filter((at) => ((bits + 1) >> at) % 2 === 1)
    const within = rows.filter(({ group }) => places.every((at) => group[`has_${at}`]))
    const share = within.reduce((sum, { excess }) => sum + excess, 0) / of.excess
    return { names: places.map((at) => found[at]!), share }
  }).sort((a, b) => b.names.length - a.names.length || b.share - a.share)
  const best = [nearlyAll, mostOfExcess].map((least) => sets.find(({ share }) => share >= least))
  return (best[0] ?? best[1])?.names ?? []
}

/** What each group used on a usual day, and on the day beyond that. */
async function daySums<Group extends object>(
  asked: Asked,
  { day, usual, unit, condition, period }: DayAsked,
  by: Readonly<Record<string, string>>,
): Promise<readonly { readonly group: Group; readonly usual: number; readonly excess: number }[]> {
  const days = [day, ...usual]
  const rows = await readFigures<Group & { readonly isDear: boolean }, never>(asked, [], {
    from: rowsCutAt(
      asked,
      [period, ...days].flatMap(({ fromUs, toUs }) => [fromUs, toUs]),
    ),
    where: `${condition} AND ${inSql(days)}`,
    by: { ...by, isDear: inSql([day]) },
  })
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(Object.keys(by).map((name) => row[name as keyof Group])),
  )
  return [...groups.values()].map((own) => {
    const sum = (isDear: boolean) =>
      own.reduce(
        (so, row) => so + (row.isDear === isDear ? Number(amountIn(asked, row, unit) ?? 0) : 0),
        0,
      )
    const mean = sum(false) / usual.length
    return { group: own[0]!, usual: mean, excess: sum(true) - mean }
  })
}
