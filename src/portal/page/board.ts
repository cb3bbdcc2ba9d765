import { barsOf, type Period, periodAround } from '../../measure/usage/calendar.ts'
import { refundsApartSql } from '../../measure/usage/sums.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { startOfDayUs } from '../../measure/usage/zone.ts'
import { exceedsHours } from '../../report/usage/board/cells.ts'
import { type BoardData, type BoardScope, readBoardOf } from '../../report/usage/board/data.ts'
import { forecastFrom } from '../../report/usage/board/outlook.ts'
import { fillInStore } from '../../report/usage/engine/engine.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { literal, textList } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import { type Asked, shownFor } from '../api/asked.ts'
import type { BudgetState } from '../figures/budgets.ts'
import { listedHours, usedInHours } from '../figures/cause.ts'
import type { DearDay } from '../figures/dear-day.ts'
import { knownOf } from '../figures/known.ts'
import { courseIn } from '../figures/projection.ts'
import { allDays, hoursCutAt, rowsCutAt } from '../figures/rows.ts'
import type { Amounts } from './amounts.ts'
import { boardWordsOf } from './board-words.ts'
import { dearWords } from './dear-words.ts'
import type { Speech } from './speech.ts'

/** A page is sent often, and to phones, so its cells are fewer than those of a file. */
const mostCells = 2500

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
  /** Whether requests have durations. */
  readonly timed: boolean
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
  { amounts, budgets, where, isWhole, tag, tags, dears, timed }: OfBoard,
): Promise<BoardData> {
  const { session, keys: naming, bearer, nowMs } = account
  const { shows } = bearer
  const { firstUs, knownUs } = await knownOf(account)
  const column = tag === null ? 'key_fp' : tagSql(tag)
  const keys = await session.rows<{ key: string }>(
    `SELECT ${column} AS key FROM ${allDays(column)} WHERE key IS NOT NULL GROUP BY key ORDER BY sum(requests) DESC, key`,
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
  const canSee = shows.has(shownFor(amounts.unit))
  const own = dears.filter(({ unit }) => unit === amounts.unit)
  const isOpen = isWhole && period.toUs > nowUs - dayUs
  return readBoardOf(
    session,
    { fill: fillInStore, holdsRequests: false, cellsAreSums: true },
    {
      fromUs: period.fromUs,
      toUs: period.toUs,
      nowUs,
      mostCells,
      firstUs: firstUs ?? period.toUs,
      knownUs: knownUs ?? period.fromUs,
      unit: amounts.unit,
      money: amounts.money,
      asked: asked ?? {},
      timed,
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
      account: account.view.label,
      words: boardWordsOf(speech, amounts, tag),
      page: isOpen && canSee ? page : null,
      ...(isOpen ? { course: courseOf(account, period, page, amounts.unit, budgets) } : {}),
      ...apartFrom(amounts, period, speech),
      dears: own.map((each) => dearBar(each, speech)),
      marks:
        isWhole && canSee ? await marksOf(account, period, page, amounts.unit, own, speech) : [],
    },
  )
}

/** What stands beside the bar of a dear day, and in the table of the chart. */
function dearBar(dear: DearDay, speech: Speech) {
  const { headline, why, unexplained, details, lines } = dearWords(dear, speech)
  const said = [headline, why, unexplained, ...details].filter(Boolean).join(' ')
  return { atUs: dear.fromUs, lines, said }
}

/** That amounts in other units of the period are apart, and which of its days are in another unit alone. */
function apartFrom(
  { unit, units }: Amounts,
  { fromUs, toUs }: Period,
  { say, days }: Speech,
): Pick<BoardScope, 'aboutUnit' | 'blank'> {
  const nameOf = (each: string) => (each === 'credits' ? say('chart.credits') : each)
  const others = units.filter((each) => each.unit !== unit && each.lastUs !== null)
  if (others.length === 0) return {}
  const own = units.find((each) => each.unit === unit)
  const spans = others.map((each) => {
    const isBefore = (each.lastUs ?? toUs) < (own?.firstUs ?? fromUs)
    const isAfter = own?.lastUs != null && (each.firstUs ?? fromUs) > own.lastUs
    const span = {
      fromUs: Math.max(fromUs, each.firstUs ?? fromUs),
      toUs: Math.min(toUs, (each.lastUs ?? toUs) + 1),
    }
    const said = { days: days(span.fromUs, span.toUs), unit: nameOf(each.unit) }
    return isBefore || isAfter ? { ...span, text: say('apart.days', said) } : null
  })
  return {
    aboutUnit: say('board.apart', {
      unit: nameOf(unit),
      others: others.map((each) => nameOf(each.unit)).join(', '),
    }),
    blank: spans.filter((each) => each !== null),
  }
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
  return (await exceedsHours(asked.session, each, columns, mostCells, hours))
    ? wide('key_fp model endpoint tags')
    : rows
}

/** Unusual hours of the period, the most unusual first, and what each used. Days that say why have none. */
async function marksOf(
  asked: Asked,
  { fromUs, toUs }: Period,
  page: UsageForecast | null,
  unit: string,
  dears: readonly DearDay[],
  speech: Speech,
): Promise<readonly { readonly atUs: number; readonly text: string }[]> {
  const hours = listedHours(page, unit, { fromUs, toUs }).filter(
    (us) => !dears.some((dear) => dear.fromUs <= us && us < dear.toUs),
  )
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
  const own = budgets.find(
    ({ budget, part, period }) => part === null && budget.unit === unit && period.fromUs === fromUs,
  )
  const budget =
    own === undefined ? null : { amount: Number(own.budget.amount), hour: own.period.toUs }
  return { fromUs: begunUs, days, budget }
}

/** Moments at which the local clock shows a whole hour, one at least for each of its offsets in the period. */
const localStarts = (period: Period) => [
  startOfDayUs(period.fromUs, period.timezone),
  ...barsOf(period, 'month').map(({ startUs }) => startUs),
]
