import { type Period, periodAround } from '../../measure/usage/calendar.ts'
import { tagDimension, tagOf } from '../../measure/usage/tags.ts'
import { shiftDaysUs, startOfDayUs } from '../../measure/usage/zone.ts'
import { choiceOf } from '../../report/usage/board/choice.js'
import { type BoardData, boardMetrics } from '../../report/usage/board/data.ts'
import { dimensions } from '../../report/usage/board/sums.js'
import type { Choice } from '../../report/usage/board/types.ts'
import {
  type Asked,
  conditionOf,
  needsEach,
  periodAsked,
  shownFor,
  tagsShown,
} from '../api/asked.ts'
import { parametersOf } from '../api/parameters.ts'
import { presetPeriods, usualPeriod } from '../api/period.ts'
import { Problem } from '../api/problem.ts'
import { comparedWith } from '../figures/before.ts'
import { readBudgets } from '../figures/budgets.ts'
import { daysOfUse } from '../figures/dear-day.ts'
import { readFailed } from '../figures/failed.ts'
import type { ForecastSoFar } from '../figures/forecasts.ts'
import { knownOf } from '../figures/known.ts'
import { onlyKeyOf } from '../figures/main-cause.ts'
import { type NamesTable, readNames } from '../figures/names.ts'
import { noticesOf } from '../figures/notices.ts'
import { outlookOf, readHeld } from '../figures/outlook.ts'
import { monthProjections } from '../figures/projection.ts'
import { readSummary } from '../figures/summary.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { amountsOf } from './amounts.ts'
import { readBoardFor } from './board.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

const period = ['from', 'to']
const filters = ['model', 'key', 'endpoint'] as const
const unfiltered = { model: [], key: [], endpoint: [], tag: [] }
/** The parameters of the page; the period may be left out. Its days are those of the account's zone, as its bills and budgets are. */
const parameters = [...period, ...filters, 'tag', 'metric', 'by', 'unit', 'tables']
/** What is no filter. */
const views = ['metric', 'by', 'unit', 'tables']

/**
 * Reads the page: the answers of the API, and the board.
 *
 * @param search filters of the address
 * @throws Problem as the answers do
 */
export async function readPageData(
  asked: Asked,
  search: URLSearchParams,
  speech: Speech,
  { page, isPending }: ForecastSoFar,
  snapshot: Snapshot,
): Promise<PageData> {
  const { bearer, view, nowMs } = asked
  for (const name of search.keys()) {
    if (!parameters.includes(name)) {
      throw new Problem(400, 'unknown-parameter', 'A parameter is unknown', {
        hint: `Known: ${parameters.join(', ')}.`,
      })
    }
    if (search.getAll(name).length > 1)
      throw new Problem(400, 'bad-parameter', `${name} may stand once`)
  }
  const chosen = new URLSearchParams(search)
  for (const [name, value] of Object.entries(usualPeriod(view, nowMs)))
    if (!chosen.has(name)) chosen.set(name, value)
  refuseOther(search, 'metric', boardMetrics, '')
  const by = search.get('by') ?? ''
  if (!by.startsWith('tag:')) refuseOther(search, 'by', dimensions, ', and tag:NAME')
  if (by.startsWith('tag:')) needsEach(asked, [by])
  const tag = tagOf(by)
  const asking = new URLSearchParams([...chosen].filter(([name]) => !views.includes(name)))
  const query = parametersOf('summary', asking) as Parameters<typeof readSummary>[1]
  const known = await knownOf(asked)
  const asks = periodAsked(query, view)
  const { fromUs, toUs } = asks
  const before = comparedWith(asks, known)
  const summary = await readSummary(asked, query)
  const held = await readHeld(asked, snapshot)
  const canSee = bearer.shows.has(shownFor(held.unit))
  const credits = canSee ? held : null
  const amounts = await amountsOf(asked, asks, search.get('unit'))
  const unit = amounts.units.length === 0 ? null : amounts.unit
  const names = amounts.units.map((each) => each.unit)
  const units = [...names.filter((each) => each === unit), ...names.filter((each) => each !== unit)]
  const budgets = await readBudgets(asked, page)
  const tables: NamesTable[] = []
  if (bearer.shows.has('models')) tables.push(await readNames(asked, 'model', asks, query, units))
  if (bearer.shows.has('keys')) tables.push(await readNames(asked, 'key', asks, query, units))
  for (const name of tagsShown(asked)) {
    const table = await readNames(asked, tagDimension(name), asks, query, units)
    // Of a tag that the account never has, there is nothing to show.
    if (table.rows.some((row) => row.name !== null)) tables.push(table)
  }
  const asksTable = search.get('tables') ?? 'top'
  if (asksTable !== 'top' && !tables.some(({ by }) => by === asksTable))
    throw new Problem(404, 'no-such-page', 'This page has no such table')
  const isFiltered = [...filters, 'tag'].some((name) => search.has(name))
  const whole = isFiltered ? await readSummary(asked, { ...query, ...unfiltered }) : summary
  const { source } = snapshot
  const daysIn = (some: Period) => daysOfUse(asked, some, query, units, { page, source })
  const { dears, dearest } = await daysIn(asks)
  const month = monthOf(asks, nowMs)
  const around = month === null ? dears : (await daysIn(month)).dears
  const board =
    known.firstUs === null
      ? null
      : await readBoardFor(
          asked,
          asks,
          tag === null ? namesOf(search, asked.keys) : {},
          page,
          speech,
          {
            ...{ amounts, budgets, tag, dears, timed: source.timed },
            tags: tables.flatMap((table) => tagOf(table.by) ?? []),
            isWhole: query.tag.length === 0 && !(tag !== null && search.has('key')),
            // A board of a tag has no keys that its script could filter.
            where: await conditionOf(asked, {
              ...{ ...unfiltered, tag: query.tag, outcome: [] },
              key: tag === null ? [] : query.key,
            }),
          },
        )
  const named = board === null ? null : withAsked(board, search, asked.keys)
  return {
    from: chosen.get('from')!,
    to: chosen.get('to')!,
    fromUs,
    toUs,
    summary,
    lastUs: known.lastUs,
    lateUs: known.isLate && known.knownUs! < toUs ? known.knownUs : null,
    board: named?.board ?? null,
    choice: named?.choice ?? null,
    unit,
    units: amounts.units,
    tables,
    seesOneKey: bearer.keys?.length === 1,
    onlyKey: onlyKeyOf(asked),
    before,
    isClosed: isClosed(asks, view),
    whole: isFiltered ? whole : null,
    ...{ dears, dearest, around },
    // It stands where neither a budget nor a balance does.
    failed:
      budgets.length > 0 || credits?.remaining != null
        ? null
        : await readFailed(asked, asks, query, names),
    projections: await monthProjections(asked, page, names),
    price: bearer.shows.has('cost') ? view.moneyOf('1') : null,
    presets: presetPeriods(view, nowMs),
    canExport: bearer.shows.has('export'),
    canListRequests: bearer.shows.has('requests'),
    kept: [...search].filter(([name]) => !period.includes(name) && name !== 'tables'),
    isShort: search.get('tables') === 'top',
    credits: credits?.source === 'none' ? null : credits,
    isPending: canSee && isPending,
    outlook: canSee ? outlookOf(page, view, 366, nowMs) : null,
    budgets,
    notices: await noticesOf(
      page,
      // The page says of each what is used beyond it.
      budgets.filter(({ share }) => share < 1),
      asked,
      speech,
      { ...asks, isPart: isFiltered },
    ),
  }
}

/** @throws Problem 400 for another value of a parameter than these, so that a typo is no other page */
function refuseOther(
  search: URLSearchParams,
  name: string,
  values: readonly string[],
  more: string,
): void {
  const value = search.get(name)
  if (value === null || values.includes(value)) return
  throw new Problem(400, 'bad-parameter', `${name} has a value that is not known here`, {
    hint: `Known: ${values.join(', ')}${more}.`,
  })
}

/** Fewer days of a month explain no day: then those before it do, too. */
const [fewestDays, daysBefore] = [7, 30]

/** The month of a day or less, until today at most, whose days explain it; null of a longer period. */
function monthOf({ fromUs, toUs, timezone }: Period, nowMs: number): Period | null {
  const startUs = startOfDayUs(fromUs, timezone)
  if (toUs > shiftDaysUs(startUs, 1, timezone)) return null
  const month = periodAround(fromUs, timezone, 'month', 1)
  const today = shiftDaysUs(startOfDayUs(nowMs * 1000, timezone), 1, timezone)
  if (month.fromUs >= today) return null
  const endUs = Math.min(month.toUs, today)
  const isShort = endUs < shiftDaysUs(month.fromUs, fewestDays, timezone)
  return {
    ...{ toUs: endUs, timezone },
    fromUs: isShort ? shiftDaysUs(endUs, -daysBefore, timezone) : month.fromUs,
  }
}

/** Whether closed months hold the whole period. */
function isClosed({ fromUs, toUs }: Period, { closed }: AccountView): boolean {
  const inside = closed.filter((month) => month.fromUs < toUs && month.toUs > fromUs)
  const held = inside.reduce(
    (sum, month) => sum + Math.min(month.toUs, toUs) - Math.max(month.fromUs, fromUs),
    0,
  )
  return held === toUs - fromUs
}

function namesOf(search: URLSearchParams, { fingerprintOf }: Asked['keys']) {
  const asked = Object.fromEntries(
    filters.flatMap((name) => (search.has(name) ? [[name, search.get(name)!]] : [])),
  )
  return asked.key === undefined ? asked : { ...asked, key: fingerprintOf(asked.key) }
}

/** A filter by a name that was not used in the period leaves nothing, and never everything. */
function withAsked(
  board: BoardData,
  search: URLSearchParams,
  { fingerprintOf, nameOf }: Asked['keys'],
): { readonly board: BoardData; readonly choice: Choice } {
  const said = new URLSearchParams(search)
  for (const name of period) said.delete(name)
  const key = said.get('key')
  if (key !== null && board.keyIs === 'key') said.set('key', nameOf(fingerprintOf(key)))
  const names = Object.fromEntries(
    filters.map((name) => {
      const wanted = name === 'key' && board.keyIs !== 'key' ? null : said.get(name)
      const all = board.names[name]
      return [name, wanted === null || all.includes(wanted) ? all : [...all, wanted]]
    }),
  ) as unknown as BoardData['names']
  const whole = { ...board, names }
  const choice = choiceOf(whole, said.toString())
  const { model, endpoint } = choice
  return { board: { ...whole, dearsOf: { model, endpoint, key: choice.key } }, choice }
}
