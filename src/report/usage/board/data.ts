import { tagOf } from '../../../measure/usage/tags.ts'
import type { Session } from '../../../store/session/session.ts'
import { hourUs } from '../../../user/durations.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import type { UsageDimension } from '../../pages.ts'
import { dayBeside } from '../../zone-words.ts'
import { type UsageEngine, viewInStore } from '../engine/engine.ts'
import * as queries from '../engine/queries.ts'
import type { CoursePoint, ShownUsage, UsageForecast } from '../shape.ts'
import { type Cells, localHours, readCells, type Width, wanted } from './cells.ts'
import {
  type ClockChange,
  clockChanges,
  type OffsetSpan,
  offsetsOf,
  secondsList,
} from './clock-changes.ts'
import { knownUntil, type Outlook, outlookOf } from './outlook.ts'
import { type Latencies, type Requests, readLatencies, readRequests } from './requests.ts'
import { accountWords, type BoardWords, boardWords, tagWords } from './words.ts'

/** What bars may show: the unit of the page, requests, tokens, and credits as money. */
export const boardMetrics = ['credits', 'requests', 'tokens', 'money'] as const

/** The usage of a page, in a compact form that the page's filters sum. Times are local hours since 1970. */
export interface BoardData {
  /** Whose usage it is, as the page calls it; null for that of several. */
  readonly account: string | null
  /** BCP 47: how numbers and dates are written. */
  readonly locale: string
  readonly words: BoardWords
  /** The unit of `credits`. */
  readonly unit: string
  /** Whether `credits` are money, of the currency `unit`. */
  readonly isMoney: boolean
  /** What a unit costs; null if the page shows no costs. */
  readonly money: { readonly currency: string; readonly perCredit: number } | null
  readonly by: 'model' | 'key' | 'endpoint'
  /** What its keys are, in the address too: a page by account or by tag has accounts or values in their place. */
  readonly keyIs: 'key' | 'account' | 'tag'
  /** Other splits that only the server of the page can make: what its address says, and their names. */
  readonly splits: readonly { readonly by: string; readonly name: string }[]
  readonly metrics: readonly (typeof boardMetrics)[number][]
  readonly from: number
  readonly to: number
  /** From when on the clock has which offset; the second of two equal hours is as `offsets.js` has it. */
  readonly offsets: readonly OffsetSpan[]
  readonly now: number
  readonly measuredFrom: number
  readonly measuredTo: number
  /** Times of which only a part of a log was imported. */
  readonly partial: readonly { readonly from: number; readonly to: number }[]
  /** The width of a cell: the narrowest with few enough cells. */
  readonly finest: Width
  readonly names: Readonly<Record<'model' | 'key' | 'endpoint', readonly string[]>>
  readonly cells: Cells
  /** How many names of a dimension are `(other)`. */
  readonly folded: Readonly<Record<'model' | 'key' | 'endpoint', number>>
  /** Latencies of successes; null if nothing reports them, or if they are too many. */
  readonly latency: Latencies | null
  /** Single requests; null if there are too many, or only sums. */
  readonly requests: Requests | null
  /** Whether requests have durations, by which a list may be sorted. */
  readonly timed: boolean
  /** Null without a forecast of the unit. */
  readonly outlook: Outlook | null
  /** What the reader must know of the amounts; null for nothing. */
  readonly aboutUnit: string | null
  /** Times without amounts of the unit, and why: local hours. */
  readonly blank: readonly { readonly from: number; readonly to: number; readonly text: string }[]
  /** Hours that a person should look at, the most unusual first. */
  readonly marks: readonly { readonly hour: number; readonly text: string }[]
  /** Days far above the others, the most first. */
  readonly dears: readonly DearBar[]
  /** The filters that these are of; an empty name is none. */
  readonly dearsOf: Readonly<Record<'model' | 'key' | 'endpoint', string>>
}

/** A day whose bar says its amount and why it is far above the others. */
export interface DearBar {
  /** Its start. */
  readonly hour: number
  /** A few words each, beside the bar. */
  readonly lines: readonly string[]
  /** The same in whole sentences. */
  readonly said: string
}

/** What a board is of. Times are Unix microseconds. */
export interface BoardScope {
  readonly fromUs: number
  readonly toUs: number
  readonly nowUs: number
  /** The measured time: from the first request until when use is known. */
  readonly firstUs: number
  readonly knownUs: number
  readonly unit: string
  readonly money: BoardData['money']
  readonly by: BoardData['by']
  readonly keyIs: BoardData['keyIs']
  readonly mostCells: number
  /** Default: of several. */
  readonly account?: string
  readonly locale: string
  readonly words: BoardWords
  /** The forecast and the flags of the page; null shows neither. */
  readonly page: UsageForecast | null
  /** The use to come in the unit, and what its budget allows from `fromUs` on; default: none. */
  readonly course?: CourseToCome
  readonly marks: readonly { readonly atUs: number; readonly text: string }[]
  /** Days far above the others; default: none. */
  readonly dears?: readonly (Omit<DearBar, 'hour'> & { readonly atUs: number })[]
  /** Default: none. */
  readonly splits?: BoardData['splits']
  /** What the reader must know of the amounts; default: nothing. */
  readonly aboutUnit?: string
  /** Default: none. */
  readonly blank?: readonly {
    readonly fromUs: number
    readonly toUs: number
    readonly text: string
  }[]
  /** Whether requests have durations; default: yes. */
  readonly timed?: boolean
  /** Names that the board always has. */
  readonly asked?: Readonly<Partial<Record<'model' | 'key' | 'endpoint', string>>>
}

/** @property days to come from `fromUs` on, the last at the end of the chart */
interface CourseToCome {
  readonly fromUs: number
  readonly days: readonly CoursePoint[]
  readonly budget: Outlook['budget']
}

/** A page has this many cells at most: half a megabyte, and a filter sums them at once. */
const mostCells = 9000

/** Reads the board of the usage page. `prepareUsage` must have run. */
export function readBoard(
  session: Session,
  engine: UsageEngine,
  page: ShownUsage,
): Promise<BoardData> {
  const { scope, anomalies } = page
  const some = scope.sources.filter(({ origin }) => origin !== 'poll')
  const unusual = anomalies.find(({ kind }) => kind === 'unusual-hour')?.rows ?? []
  return readBoardOf(session, engine, {
    fromUs: scope.fromUs,
    toUs: scope.toUs,
    nowUs: scope.nowUs,
    unit: scope.unit,
    firstUs: smallest(
      some.map(({ firstUs }) => firstUs),
      scope.toUs,
    ),
    knownUs:
      some.length === 0
        ? scope.fromUs
        : knownUntil(page, largest(some.map(({ lastUs }) => lastUs)), scope.nowUs),
    money: scope.creditUsd === null ? null : { currency: 'USD', perCredit: scope.creditUsd },
    ...splitOf(scope.by),
    mostCells,
    locale: 'en-GB',
    page,
    marks: unusual.map(({ atUs, id, shows }) => ({
      atUs,
      text: `${dayBeside(atUs, scope.toUs - 1, scope.timezone)} ${id.slice(11, 16)}: ${shows}`,
    })),
  })
}

/** A board splits by three dimensions: others stand in the place of keys. */
function splitOf(by: UsageDimension): Pick<BoardScope, 'by' | 'keyIs' | 'words'> {
  const tag = tagOf(by)
  if (tag !== null) return { by: 'key', keyIs: 'tag', words: tagWords(tag) }
  if (by === 'account') return { by: 'key', keyIs: 'account', words: accountWords }
  return { by: by as BoardData['by'], keyIs: 'key', words: boardWords }
}

/**
 * Reads a board from `usage_cells` of the engine. The variables `usage_from`, `usage_to`, `usage_timezone`, `usage_unit`,
 * `usage_key_names` and, unless `usage_by` puts accounts or tags in the place of keys, `usage_top` (keys that have a name of their own) must be set.
 */
export async function readBoardOf(
  session: Session,
  engine: Pick<UsageEngine, 'fill' | 'holdsRequests'> & { readonly cellsAreSums?: boolean },
  scope: BoardScope,
): Promise<BoardData> {
  const { unit, money, by, keyIs, page, locale, words } = scope
  const [zone] = await session.rows<{ name: string }>(
    `SELECT getvariable('usage_timezone') AS name`,
  )
  const changes = clockChanges(scope, zone!.name)
  await session.execute(`SET VARIABLE usage_second = ${secondsList(changes)}`)
  // Of sums, no table is made: they are read as they are.
  if (engine.cellsAreSums === true) await viewInStore(session, 'usage_board', queries.boardOfSums)
  else await engine.fill(session, 'usage_board', queries.board)
  const { finest, names, cells, folded } = await readCells(
    session,
    scope.mostCells,
    wanted(scope.asked),
    (scope.toUs - scope.fromUs) / hourUs,
  )
  const cuts = (page?.scope.sources ?? []).flatMap(({ partial }) => partial ?? [])
  const dears = scope.dears ?? []
  const blank = scope.blank ?? []
  const [from, to, now, measuredFrom, measuredTo, ...hours] = (await localHours(
    session,
    [
      ...[scope.fromUs, scope.toUs, scope.nowUs, scope.firstUs, scope.knownUs],
      ...scope.marks.map(({ atUs }) => atUs),
      ...dears.map(({ atUs }) => atUs),
      ...[...cuts, ...blank].flatMap(({ fromUs, toUs }) => [fromUs, toUs]),
    ],
    changes,
  )) as [number, number, number, number, number, ...number[]]
  const dearHours = hours.slice(scope.marks.length)
  const cutHours = dearHours.slice(dears.length)
  const spanAt = (at: number) => ({ from: cutHours[2 * at]!, to: cutHours[2 * at + 1]! })
  const has = (column: keyof Cells) => cells[column].some((value) => value !== null && value !== 0)
  const hasCredits = has('credits')
  return {
    isMoney: /^[A-Z]{3}$/.test(unit),
    account: scope.account ?? null,
    folded,
    locale,
    words,
    unit,
    money,
    by,
    keyIs,
    from,
    to,
    offsets: offsetsOf(scope, zone!.name, changes),
    now,
    measuredFrom,
    measuredTo,
    metrics: [
      ...(hasCredits ? (['credits'] as const) : []),
      ...(hasCredits && money !== null ? (['money'] as const) : []),
      ...(has('input') || has('output') ? (['tokens'] as const) : []),
      'requests',
    ],
    partial: cuts.map((_, at) => spanAt(at)),
    blank: blank.map(({ text }, at) => ({ ...spanAt(cuts.length + at), text })),
    finest,
    names,
    cells,
    latency: engine.holdsRequests ? await readLatencies(session, finest, cells) : null,
    requests: engine.holdsRequests ? await readRequests(session) : null,
    outlook: await readOutlook(session, scope, changes),
    splits: scope.splits ?? [],
    timed: scope.timed ?? true,
    aboutUnit: scope.aboutUnit ?? null,
    marks: scope.marks.map(({ text }, at) => ({ hour: hours[at]!, text })),
    dearsOf: { model: '', key: '', endpoint: '' },
    dears: dears.map(({ lines, said }, at) => ({ hour: dearHours[at]!, lines, said })),
  }
}

/** The forecast of what is held, else the course of the unit. */
async function readOutlook(
  session: Session,
  { page, unit, course, nowUs }: BoardScope,
  changes: readonly ClockChange[],
): Promise<Outlook | null> {
  const held = page === null ? null : outlookOf(page, unit, course?.budget ?? null, nowUs)
  const moments = held ?? (course === undefined ? null : courseOf(course))
  if (moments === null) return null
  const { points, expiries, budget, runsOut } = moments
  const all = [...points, ...expiries, ...[budget, runsOut].filter((each) => each !== null)]
  const hours = await localHours(
    session,
    all.map(({ hour }) => hour),
    changes,
  )
  const local = <Timed extends { readonly hour: number }>(each: Timed): Timed => ({
    ...each,
    hour: hours[all.indexOf(each)]!,
  })
  return {
    ...moments,
    budget: budget && local(budget),
    runsOut: runsOut && local(runsOut),
    points: points.map(local),
    expiries: expiries.map(local),
  }
}

/** The same of a unit without a balance; times are Unix microseconds. */
function courseOf({ fromUs, days, budget }: CourseToCome): Outlook | null {
  if (days.length === 0) return null
  const points = days.map(({ endUs, low, median, high }) => ({ hour: endUs, low, median, high }))
  const start = { hour: fromUs, low: 0, median: 0, high: 0 }
  return { balance: null, budget, runsOut: null, points: [start, ...points], expiries: [] }
}
