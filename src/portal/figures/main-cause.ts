import type { Period } from '../../measure/usage/calendar.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { literal } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { hourUs } from '../../user/durations.ts'
import { type Asked, tagsShown } from '../api/asked.ts'
import { amountIn, listedHours, unusualHours } from './cause.ts'
import { hoursCutAt, inSql, rowsCutAt } from './rows.ts'
import { readFigures } from './sums.ts'

/** What most of a dear day came from: its names, and its hours. */
export interface MainCause {
  /** What these names used in these hours of the day, decimal text. */
  readonly amount: string
  /** Empty if the hours alone tell it. */
  readonly names: readonly CauseName[]
  /** In the order of time; empty if the names tell it. */
  readonly spans: readonly Span[]
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
  /** What the day used beyond a usual one. */
  readonly excess: number
  readonly unit: string
  /** SQL condition of its rows. */
  readonly condition: string
  readonly period: Period
  readonly page: UsageForecast | null
}

/** A share of the excess that is most of it, and one that is nearly all. */
const [most, nearlyAll] = [0.5, 0.9]
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
export async function mainCauseOf(asked: Asked, of: DayAsked): Promise<MainCause | null> {
  const found = await togetherIn(asked, of, await foundIn(asked, of))
  const condition = [of.condition, ...found.map(({ sql }) => sql)].join(' AND ')
  const names = found.map(({ name }) => name)
  const whole = await beyondUsual(asked, { ...of, condition }, null)
  const spans = spansOf(of)
  if (spans.length > 0) {
    const inSpans = await beyondUsual(asked, { ...of, condition }, spans)
    const least = names.length === 0 ? most : Math.max(most, leastOfNames * whole.share)
    if (inSpans.share >= least) return { amount: inSpans.amount, names, spans }
  }
  return names.length === 0 ? null : { amount: whole.amount, names, spans: [] }
}

/** The fewest of the hours that are busier than usual with nearly all of what these have beyond it, joined; empty if they are many. */
function spansOf({ day, unit, page }: DayAsked): readonly Span[] {
  const listed = new Set(listedHours(page, unit, day))
  const hours = unusualHours(page, unit)
    .filter(({ atUs }) => listed.has(atUs))
    .sort((a, b) => a.atUs - b.atUs)
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

/** Of the keys, of each own dimension and of the models, the name with most of the excess. */
async function foundIn(asked: Asked, of: DayAsked): Promise<readonly Found[]> {
  const { bearer } = asked
  const dimensions = [
    ...(bearer.shows.has('keys') ? [{ of: 'key' as const, tag: null, sql: 'key_fp' }] : []),
    ...tagsShown(asked).map((tag) => ({ of: 'tag' as const, tag, sql: tagSql(tag) })),
    ...(bearer.shows.has('models') ? [{ of: 'model' as const, tag: null, sql: 'model' }] : []),
  ]
  const found: Found[] = []
  for (const dimension of dimensions) {
    const rows = await daySums<{ readonly name: string | null }>(asked, of, { name: dimension.sql })
    // Where everything is of one name, that is no reason.
    if (rows.filter(({ group }) => group.name !== null).length < 2) continue
    const all = rows.reduce((sum, row) => sum + row.usual, 0)
    const [first] = rows.toSorted((a, b) => b.excess - a.excess)
    if (first === undefined || first.group.name === null) continue
    const share = first.excess / of.excess
    const isUsual = all > 0 && share < first.usual / all + leastMore
    if (share < most || (isUsual && share < nearlyAll)) continue
    found.push({
      name: nameOf(asked, dimension, first.group.name),
      sql: `coalesce(${dimension.sql} = ${literal(first.group.name)}, false)`,
    })
  }
  return found
}

function nameOf(
  { keys, view }: Asked,
  { of, tag }: Pick<CauseName, 'tag'> & { readonly of: 'key' | 'tag' | 'model' },
  name: string,
): CauseName {
  if (of !== 'key') return { of, tag, name }
  return { of: view.keyNames.has(name) ? 'key' : 'unnamedKey', tag, name: keys.nameOf(name) }
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
  const best = [nearlyAll, most].map((least) => sets.find(({ share }) => share >= least))
  return (best[0] ?? best[1])?.names ?? []
}

/** What each group used on a usual day, and on the day beyond that. */
async function daySums<Group extends object>(
  asked: Asked,
  of: DayAsked,
  by: Readonly<Record<string, string>>,
): Promise<readonly { readonly group: Group; readonly usual: number; readonly excess: number }[]> {
  const rows = await rowsOf<Group>(asked, of, by, null)
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(Object.keys(by).map((name) => row[name as keyof Group])),
  )
  return [...groups.values()].map((own) => {
    const usual = sumOf(own, false) / of.usual.length
    return { group: own[0]!, usual, excess: sumOf(own, true) - usual }
  })
}

/** What rows used on the day, and the share of its excess that they have. */
async function beyondUsual(
  asked: Asked,
  of: DayAsked,
  spans: readonly Span[] | null,
): Promise<{ readonly amount: string; readonly share: number }> {
  const rows = await rowsOf<object>(asked, of, {}, spans)
  const excess = sumOf(rows, true) - sumOf(rows, false) / of.usual.length
  const amount = rows.find(({ isDear }) => isDear)?.amount ?? '0'
  return { amount, share: excess / of.excess }
}

interface OfDay {
  readonly isDear: boolean
  /** Decimal text; null without one. */
  readonly amount: string | null
}

const sumOf = (rows: readonly OfDay[], isDear: boolean) =>
  rows.reduce((sum, row) => sum + (row.isDear === isDear ? Number(row.amount ?? 0) : 0), 0)

/**
 * Amounts of the day, and of all usual days, by some names.
 *
 * @param spans of the day, and the same ones of each usual day; null for whole days
 */
async function rowsOf<Group extends object>(
  asked: Asked,
  { day, usual, unit, condition, period }: DayAsked,
  by: Readonly<Record<string, string>>,
  spans: readonly Span[] | null,
): Promise<readonly (Group & OfDay)[]> {
  const times = [day, ...usual].flatMap((each) =>
    (spans ?? [day]).map(({ fromUs, toUs }) => ({
      fromUs: each.fromUs + fromUs - day.fromUs,
      toUs: spans === null ? each.toUs : each.fromUs + toUs - day.fromUs,
    })),
  )
  const ends = times.flatMap(({ fromUs, toUs }) => [fromUs, toUs])
  const rows = await readFigures<Group & { readonly isDear: boolean }, never>(asked, [], {
    from:
      spans === null
        ? rowsCutAt(asked, [period.fromUs, period.toUs, ...ends])
        : hoursCutAt([period.fromUs, period.toUs, ...ends]),
    where: `${condition} AND ${inSql(times)}`,
    by: { ...by, isDear: inSql([day]) },
  })
  return rows.map((row) => ({ ...row, amount: amountIn(asked, row, unit) }))
}
