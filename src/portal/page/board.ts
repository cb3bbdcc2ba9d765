import { barsOf, type Period, periodAround } from '../../measure/usage/calendar.ts'
import { refundsApartSql } from '../../measure/usage/sums.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { startOfDayUs } from '../../measure/usage/zone.ts'
import { exceedsHours } from '../../report/usage/board/cells.ts'
import { type BoardData, type BoardScope, readBoardOf } from '../../report/usage/board/data.ts'
import { forecastFrom, knownUntil } from '../../report/usage/board/outlook.ts'
import { mostRequests } from '../../report/usage/board/requests.ts'
import type { BoardWords } from '../../report/usage/board/words.ts'
import { fillInStore } from '../../report/usage/engine/engine.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { literal, textList } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import type { Asked } from '../api/asked.ts'
import { Problem } from '../api/problem.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import { listedHours, usedInHours } from '../figures/cause.ts'
import type { DearDay } from '../figures/dear-day.ts'
import { courseIn } from '../figures/projection.ts'
import { coverageOf, hoursCutAt, rowsCutAt } from '../figures/rows.ts'
import { type UsedUnit, unitsUsed } from '../figures/sums.ts'
import { dearWords } from './dear-words.ts'
import type { Speech } from './speech.ts'

/** A page is sent often, and to phones, so its cells are fewer than those of a file. */
const mostCells = 2500

/** What amounts are in, and how a customer calls them. */
export interface Amounts {
  readonly unit: string
  /** SQL for the amount of a row, and for its unit. */
  readonly sql: string
  readonly unitSql: string
  readonly money: BoardData['money']
  readonly isMoney: boolean
  /** All units that the token shows amounts of: figures of two are never one. The first is the one of the end of the period. */
  readonly units: readonly UsedUnit[]
}

/** What a board is of, and the budgets of the account. */
interface OfBoard {
  readonly amounts: Amounts
  readonly budgets: readonly BudgetState[]
  /** SQL for its rows, as a filter by a tag has it. */
  readonly where: string
  /** The own dimension that stands in the place of keys; null for keys. */
  readonly tag: string | null
  /** The own dimensions that the account has. */
  readonly tags: readonly string[]
  /** Their bars say why. */
  readonly dears: readonly DearDay[]
  /** Whether these are all of the account: a forecast is of the whole. */
  readonly isWhole: boolean
}

/**
 * The board of an account, from its own sums alone. What the token does not show has no names and no amounts.
 *
 * @param asked names of the address, which the board has even if they used little
 */
export async function readBoardFor(
  account: Asked,
  period: Period,
  asked: BoardScope['asked'],
  page: UsageForecast | null,
  speech: Speech,
  { amounts, budgets, where, isWhole, tag, tags, dears }: OfBoard,
): Promise<BoardData> {
  const { session, keys: naming, bearer, nowMs } = account
  const { shows } = bearer
  const { first, last } = await coverageOf(session)
  const column = tag === null ? 'key_fp' : tagSql(tag)
  const keys = await session.rows<{ key: string }>(
    `SELECT ${column} AS key FROM my_day_sums WHERE key IS NOT NULL GROUP BY key ORDER BY sum(requests) DESC, key`,
  )
  const names = keys.map(({ key }) => key)
  const nameOf = (key: string) => (tag === null ? naming.nameOf(key) : key)
  const hasKeys = tag !== null || shows.has('keys')
  // A refund is of no model and no key: it is a line of its own.
  const refunds = literal(speech.say('table.refunds'))
  const refundOr = (name: string) =>
    `CASE WHEN requests = 0 AND refunds IS NOT NULL THEN ${refunds} ELSE ${name} END`
  const rows = await rowsFor(account, period, where, [
    ...(shows.has('models') ? [['model', 'model'] as const] : []),
    ...(hasKeys ? [['key', column] as const] : []),
    ['endpoint', 'endpoint'] as const,
  ])
  // Every key has a name of its own, so none is looked for in a list: keys stand in the place of accounts.
  await session.execute(`
    SET VARIABLE usage_timezone = ${literal(period.timezone)};
    SET VARIABLE usage_from = ${period.fromUs}::BIGINT;
    SET VARIABLE usage_to = ${period.toUs}::BIGINT;
    SET VARIABLE usage_unit = ${literal(amounts.unit)};
    SET VARIABLE usage_by = 'account';
    SET VARIABLE usage_key_names = MAP(${textList(names)}, ${textList(names.map(nameOf))});
    CREATE OR REPLACE TEMP VIEW usage_cells AS SELECT * REPLACE (${[
      `${amounts.sql} AS credits`,
      `${amounts.unitSql} AS unit`,
      `CASE WHEN (${amounts.unitSql}) = ${literal(amounts.unit)} THEN credits_known ELSE requests END AS credits_known`,
      `${refundOr(shows.has('models') ? 'model' : 'NULL::VARCHAR')} AS model`,
      `${refundOr('endpoint')} AS endpoint`,
    ].join(
      ', ',
    )}), coalesce(${refundOr(hasKeys ? column : 'NULL::VARCHAR')}, '(other)') AS account FROM (${refundsApartSql(`(FROM ${rows} WHERE ${where})`, refunds)})`)
  const nowUs = nowMs * 1000
  const isOpen = isWhole && period.toUs > nowUs - dayUs
  return readBoardOf(
    session,
    { fill: fillInStore, holdsRequests: false, cellsAreSums: true },
    {
      fromUs: period.fromUs,
      toUs: period.toUs,
      nowUs,
      mostCells,
      firstUs: first ?? period.toUs,
      knownUs: last === null ? period.fromUs : knownUntil(page, last, nowUs),
      unit: amounts.unit,
      money: amounts.money,
      asked: asked ?? {},
      by: tag === null && shows.has('models') ? 'model' : hasKeys ? 'key' : 'endpoint',
      keyIs: tag === null ? 'key' : 'tag',
      splits: [
        ...(tag !== null && shows.has('keys')
          ? [{ by: 'key', name: speech.say('board.key') }]
          : []),
        ...tags
          .filter((each) => each !== tag)
          .map((each) => ({ by: tagDimension(each), name: speech.tag(each) })),
      ],
      locale: speech.locale,
      words: boardWordsOf(speech, amounts, tag),
      page: isOpen && shows.has('credits') ? page : null,
      ...(isOpen ? { course: courseOf(account, period, page, amounts.unit, budgets) } : {}),
      ...apartFrom(amounts, speech),
      dears: dears.filter(({ unit }) => unit === amounts.unit).map((each) => dearBar(each, speech)),
      marks:
        isWhole && shows.has(amounts.unit === 'credits' ? 'credits' : 'cost')
          ? await marksOf(account, period, page, amounts.unit, speech)
          : [],
    },
  )
}

/** What stands beside the bar of a dear day, and in the table of the chart. */
function dearBar(dear: DearDay, speech: Speech) {
  const { headline, details, lines } = dearWords(dear, speech)
  return { atUs: dear.fromUs, lines, said: [headline, ...details].join(' ') }
}

/** That amounts in other units of the period are apart, and why days may have none. */
function apartFrom({ unit, units }: Amounts, { say }: Speech): Pick<BoardScope, 'aboutUnit'> {
  const nameOf = (each: string) => (each === 'credits' ? say('chart.credits') : each)
  const others = units
    .filter((each) => each.unit !== unit && each.lastUs !== null)
    .map((each) => nameOf(each.unit))
  if (others.length === 0) return {}
  return { aboutUnit: say('board.apart', { unit: nameOf(unit), others: others.join(', ') }) }
}

/** The widest rows that give the same board. @param columns of its dimensions */
async function rowsFor(
  asked: Asked,
  period: Period,
  where: string,
  columns: Parameters<typeof exceedsHours>[2],
): Promise<string> {
  const days = barsOf(period, 'day').map(({ startUs }) => startUs)
  const wide = rowsCutAt(asked, [period.fromUs, period.toUs, ...days])
  const rows = hoursCutAt([period.fromUs, period.toUs, ...localStarts(period)])
  const inPeriod = `first_us >= ${period.fromUs} AND first_us < ${period.toUs} AND ${where}`
  const hours = (period.toUs - period.fromUs) / hourUs
  const each = { rows, wide, where: inPeriod }
  return (await exceedsHours(asked.session, each, columns, mostCells, hours)) ? wide : rows
}

/** Unusual hours of the period, the most unusual first, and what each used. */
async function marksOf(
  asked: Asked,
  { fromUs, toUs }: Period,
  page: UsageForecast | null,
  unit: string,
  speech: Speech,
): Promise<readonly { readonly atUs: number; readonly text: string }[]> {
  const hours = listedHours(page, unit, { fromUs, toUs })
  const amounts = await usedInHours(asked, hours, unit)
  return hours.map((atUs, at) => {
    const amount = amounts[at] ?? null
    const moment = speech.moment(atUs)
    return { atUs, text: amount === null ? moment : `${moment} · ${speech.amount(unit, amount)}` }
  })
}

/** What the days to the end of this month will use, and its budget; none if the chart is of another time. */
function courseOf(
  asked: Asked,
  { fromUs, toUs, timezone }: Period,
  page: UsageForecast | null,
  unit: string,
  budgets: readonly BudgetState[],
) {
  const { nowMs, view } = asked
  const month = periodAround(nowMs * 1000, timezone, 'month', view.firstWeekday)
  const course = page?.courses[0]
  const begunUs = page && course ? forecastFrom(page, course, nowMs * 1000) : nowMs * 1000
  if (fromUs !== month.fromUs || toUs > month.toUs)
    return { fromUs: begunUs, days: [], budget: null }
  const days = courseIn(page, unit, asked).filter(({ endUs }) => endUs <= month.toUs)
  const own = budgets.find(({ budget, period }) => budget.unit === unit && period.fromUs === fromUs)
  const budget =
    own === undefined ? null : { amount: Number(own.budget.amount), hour: own.period.toUs }
  return { fromUs: begunUs, days, budget }
}

/** Moments at which the local clock shows a whole hour, one at least for each of its offsets in the period. */
const localStarts = (period: Period) => [
  startOfDayUs(period.fromUs, period.timezone),
  ...barsOf(period, 'month').map(({ startUs }) => startUs),
]

/**
 * The unit of the page, and its others.
 *
 * @param wanted default: the first of `unitsUsed`
 * @throws Problem 404 for a unit without an amount
 */
export async function amountsOf(
  asked: Asked,
  period: Period,
  wanted: string | null,
): Promise<Amounts> {
  const { view, bearer } = asked
  const { shows } = bearer
  const found = await unitsUsed(asked, period)
  const price = shows.has('cost') ? view.moneyOf('1') : null
  // Who may see costs and no credits sees their price alone.
  const isPriced = !shows.has('credits') && price !== null
  const units = found.flatMap((used) =>
    used.unit === 'credits'
      ? shows.has('credits')
        ? [used]
        : isPriced
          ? [{ ...used, unit: price.currency }]
          : []
      : shows.has('cost')
        ? [used]
        : [],
  )
  const shown = units.filter(({ unit }, at) => units.findIndex((each) => each.unit === unit) === at)
  const names = shown.map(({ unit }) => unit)
  if (wanted !== null && !names.includes(wanted)) {
    throw new Problem(404, 'no-such-unit', 'This account has no amounts in such a unit', {
      hint: names.length === 0 ? 'It has none at all.' : `It has ${names.join(', ')}.`,
    })
  }
  const unit = wanted ?? names[0] ?? 'credits'
  const none = {
    unit,
    sql: 'NULL::DECIMAL(38, 18)',
    unitSql: 'unit',
    money: null,
    isMoney: false,
    units: shown,
  }
  if (shown.length === 0) return none
  if (isPriced && unit === price.currency) {
    const sql = `CASE WHEN unit = 'credits' THEN credits * ${price.value} ELSE credits END`
    const unitSql = `CASE WHEN unit = 'credits' THEN ${literal(unit)} ELSE unit END`
    return { ...none, sql, unitSql, isMoney: true }
  }
  if (unit !== 'credits') return { ...none, sql: 'credits', isMoney: true }
  const money = price === null ? null : { currency: price.currency, perCredit: Number(price.value) }
  return { ...none, sql: 'credits', money }
}

/** The board in the words of a customer. @param tag in the place of keys */
export function boardWordsOf(
  speech: Speech,
  { unit, isMoney, money }: Pick<Amounts, 'unit' | 'isMoney' | 'money'>,
  tag: string | null = null,
): BoardWords {
  const { say } = speech
  const cost = say('card.cost')
  return {
    filters: say('board.filters'),
    from: say('board.from'),
    to: say('board.to'),
    all: say('board.all'),
    allKeys: say('board.allKeys'),
    show: say('board.show'),
    by: say('board.by'),
    reset: say('board.reset'),
    resetAll: say('board.resetAll'),
    table: say('table.values'),
    explore: say('board.explore'),
    exploreValues: say('board.exploreValues'),
    use: isMoney ? `${cost} (${unit})` : say('card.credits'),
    requests: say('card.requests'),
    tokens: say('board.tokens'),
    money: money === null ? cost : `${cost} ({currency})`,
    hour: say('board.hour'),
    day: say('board.day'),
    week: say('board.week'),
    month: say('board.month'),
    sum: say('board.sum'),
    held: say('board.held'),
    heldLine: say('board.heldLine'),
    heldKey: say('board.heldKey'),
    outLine: say('board.outLine'),
    usedLine: say('board.usedLine'),
    forecastLine: say('board.forecastLine'),
    rangeBand: say('board.rangeBand'),
    now: say('board.now'),
    dataTo: say('board.dataTo'),
    course: say('board.course'),
    budgetLine: say('board.budgetLine'),
    budgetKey: say('board.budgetKey'),
    cut: say('board.cut'),
    expire: say('board.expire'),
    outlook: say('note.outlook'),
    failures: say('board.failures'),
    failuresAll: say('table.failed'),
    limits: say('board.limited'),
    limited: say('board.limited'),
    kinds: say('board.kinds'),
    input: say('board.input'),
    cached: say('board.cached'),
    output: say('board.output'),
    inputTokens: say('card.input'),
    outputTokens: say('card.output'),
    // Sums have no latencies.
    latency: '',
    latencyNote: '',
    busy: say('board.busy'),
    busyNote: say('board.busyNote'),
    marks: say('board.marks'),
    marked: say('board.marked'),
    why: say('board.why'),
    model: say('board.model'),
    key: tag === null ? say('board.key') : speech.tag(tag),
    endpoint: say('board.endpoint'),
    byModel: say('table.models'),
    byKey: tag === null ? say('table.keys') : speech.tag(tag),
    byEndpoint: say('board.endpoints'),
    some: say('board.some'),
    time: say('table.time'),
    until: say('board.until'),
    requestsHead: say('card.requests'),
    unitHead: isMoney ? `${cost} (${unit})` : say('chart.credits'),
    failedHead: say('table.failed'),
    status: say('board.status'),
    hourRequests: say('board.hourRequests'),
    noRequests: say('board.noRequests'),
    ofAll: say('board.ofAll'),
    amount: ofCredits(say('unit.credit'), say('unit.credits')),
    count: say('card.count'),
    failed: say('table.failed'),
    percent: say('board.percent'),
    unknownCost: say('card.partial'),
    inOut: say('board.inOut'),
    unmeasured: say('card.unmeasured'),
    nothing: say('board.nothing'),
    open: say('board.open'),
    other: say('table.other'),
    others: say('most.others'),
    unknown: say('table.unnamed'),
  }
}

/** An amount of credits, of which the singular and the plural are two texts, as one whose word agrees with its `sum`. */
function ofCredits(one: string, more: string): string {
  const head = '{amount}'
  return one.startsWith(head) && more.startsWith(head)
    ? `{sum}{sum|${one.slice(head.length)}|${more.slice(head.length)}}`
    : more.replaceAll(head, '{sum}')
}

/** How requests ended, in the words of a customer. */
export const outcomeWords = ({ say }: Speech) => ({
  ok: say('outcome.ok'),
  limited: say('outcome.limited'),
  error: say('outcome.error'),
  unknown: say('outcome.unknown'),
})

/** The single requests of a file, if they are few; the newest come first. */
export function withRequests(
  data: BoardData,
  requests: Answers['requests']['requests'],
  speech: Speech,
): BoardData {
  if (requests.length === 0 || requests.length > mostRequests) return data
  const all = [...requests].reverse()
  const words = outcomeWords(speech)
  const placeOf = (dimension: 'model' | 'key' | 'endpoint', name: string | null) => {
    const place = data.names[dimension].indexOf(name ?? '(unknown)')
    return place >= 0 ? place : data.names[dimension].indexOf('(other)')
  }
  return {
    ...data,
    requests: {
      hour: all.map(({ at }) => Date.parse(`${at.slice(0, 13)}:00:00Z`) / 3_600_000),
      clock: all.map(({ at }) => at.slice(11, 19)),
      model: all.map(({ model }) => placeOf('model', model)),
      key: all.map(({ key }) => placeOf('key', key)),
      endpoint: all.map(({ endpoint }) => placeOf('endpoint', endpoint)),
      status: all.map(({ outcome }) => words[outcome]),
      input: all.map(({ input }) => input),
      output: all.map(({ output }) => output),
      credits: all.map(({ credits }) => (credits === null ? null : Number(credits))),
    },
  }
}
