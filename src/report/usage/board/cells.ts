import { figures } from '../../../measure/usage/sums.ts'
import { literal } from '../../../store/literal.ts'
import type { Session } from '../../../store/session/session.ts'
import { hourUs } from '../../../user/durations.ts'
import { visible } from '../../../user/hostile.ts'
import { shortSql } from '../short-name.ts'
import { type ClockChange, secondSql, toldApart } from './clock-changes.ts'
import type { BoardData } from './data.ts'

/** Sums of cells, in columns: cell `at` is `hour[at]`, `model[at]`, `requests[at]` and so on. */
export interface Cells {
  /** Local hours since 1970. */
  readonly hour: readonly number[]
  readonly model: readonly number[]
  readonly key: readonly number[]
  readonly endpoint: readonly number[]
  /** Null where nothing says how many. */
  readonly requests: readonly (number | null)[]
  readonly failed: readonly number[]
  readonly limited: readonly number[]
  /** Requests of unknown cost. */
  readonly unknown: readonly number[]
  readonly credits: readonly (number | null)[]
  readonly input: readonly (number | null)[]
  readonly cached: readonly (number | null)[]
  readonly output: readonly (number | null)[]
}

const widths = ['hour', 'day', 'week', 'month'] as const
export type Width = (typeof widths)[number]

/** The most names of each dimension; fewer, step by step, where they are too many cells. */
const mostNames = [
  { model: 40, key: 40, endpoint: 20 },
  { model: 20, key: 20, endpoint: 10 },
  { model: 10, key: 10, endpoint: 6 },
  { model: 7, key: 7, endpoint: 4 },
  { model: 4, key: 4, endpoint: 3 },
  { model: 2, key: 2, endpoint: 2 },
  { model: 1, key: 1, endpoint: 1 },
  { model: 0, key: 0, endpoint: 0 },
] as const

/** The widest cells of a period, however many names it has: hours of two days, days of a quarter, weeks of seven years. */
const owed = (hours: number): Width =>
  hours <= 48 ? 'hour' : hours <= 93 * 24 ? 'day' : hours <= 400 * 168 ? 'week' : 'month'

export const dimensions = ['model', 'key', 'endpoint'] as const
export type Dimension = (typeof dimensions)[number]

/** SQL for the names that a board has however few requests they have. */
export const wanted = (asked: Readonly<Partial<Record<Dimension, string>>> = {}) =>
  Object.fromEntries(
    dimensions.map((name) => [
      name,
      asked[name] === undefined ? 'NULL' : shortSql(literal(asked[name])),
    ]),
  ) as Readonly<Record<Dimension, string>>

export const localSql = (us: string) =>
  `epoch_us(timezone(getvariable('usage_timezone'), make_timestamptz((${us})::BIGINT)))`

/** Local hours, with fractions, of some moments. Two equal hours are told apart. */
export async function localHours(
  session: Session,
  us: readonly number[],
  changes: readonly ClockChange[],
): Promise<readonly number[]> {
  if (us.length === 0) return []
  const rows = await session.rows<{ hour: number }>(
    `SELECT ${localSql('us')} / 3.6e9 AS hour FROM (SELECT unnest([${us.map(Math.round).join(', ')}]) AS us, generate_subscripts([${us.map(() => 0).join(', ')}], 1) AS nth) ORDER BY nth`,
  )
  return rows.map(({ hour }, at) => toldApart(hour, us[at]!, changes))
}

export const startSql: Readonly<Record<Width, string>> = {
  hour: 'hour + second',
  day: 'hour // 24 * 24',
  week: '(hour // 24 + 3) // 7 * 168 - 72',
  month: `epoch_us(date_trunc('month', make_timestamp(hour * 3600000000))) // 3600000000`,
}

/**
 * Whether a board of these rows has cells of days or wider, since its hours with use are too many however many names become `(other)`. Rows
 * that are sums of days then give the same board.
 *
 * @param wide the same rows, or sums of them, for SQL that reads some of their columns
 * @param columns of its dimensions
 * @param most cells
 * @param hours of the period
 */
export async function exceedsHours(
  session: Session,
  {
    rows,
    wide,
    where,
  }: {
    readonly rows: string
    readonly wide: (reads: string) => string
    readonly where: string
  },
  columns: readonly (readonly [Dimension, string])[],
  most: number,
  hours: number,
): Promise<boolean> {
  if (owed(hours) === 'hour') return false
  const [names] = await session.rows<Record<Dimension, number>>(
    `SELECT ${columns.map(([name, column]) => `(SELECT count(DISTINCT ${column})::INTEGER FROM ${wide(`${column} ${where}`)} WHERE ${where}) AS ${name}`).join(', ')}`,
  )
  const whole = columns.flatMap(([name, column]) =>
    names![name] < mostNames[0][name] ? [column] : [],
  )
  const countIn = async (from: string) => {
    const [cells] = await session.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (
         SELECT DISTINCT ${[`first_us // ${hourUs}`, ...whole].join(', ')} FROM ${from} WHERE requests > 0 AND ${where})`,
    )
    return cells!.n
  }
  // An hour of a zone has parts of at most two of these.
  const least = 2 * most
  // The first hours of wide rows are some of the hours, and often enough of them.
  if ((await countIn(wide(columns.map(([, column]) => column).join(' ')))) > least) return true
  return (await countIn(rows)) > least
}

/**
 * Sums `usage_board` into cells of the narrowest width with at most this many. Where the width that the period is owed has more,
 * names with few requests become `(other)`, and `folded` counts them.
 *
 * @param hours of the period
 */
export async function readCells(
  session: Session,
  most: number,
  asked: Readonly<Record<Dimension, string>>,
  hours: number,
): Promise<Pick<BoardData, 'finest' | 'names' | 'cells' | 'folded'>> {
  const finest = await fitted(session, most, asked, hours)
  await session.execute(`CREATE OR REPLACE TEMP TABLE usage_board_names AS ${placesSql}`)
  const names = await readNames(session)
  const all = await session.rows<{ dimension: Dimension; names: number }>(
    'SELECT dimension, count(*)::INTEGER AS names FROM usage_board_ranks GROUP BY dimension',
  )
  const countOf = (name: Dimension) => all.find(({ dimension }) => dimension === name)?.names ?? 0
  const folded = Object.fromEntries(
    dimensions.map((name) => [name, countOf(name) - names.shown[name]]),
  ) as Record<Dimension, number>
  return { finest, cells: await sumCells(session, finest), names: names.of, folded }
}

/** The rank of what is `(other)`. */
const otherRank = 1_000_000_000

/** Ranks beyond the most names: whatever the limits, these are `(other)`. */
const mostRank = (name: Dimension) => mostNames[0][name] + 1

/**
 * Sums cells by their quarter, with its local hour, and by the ranks of their names, by requests: 0 for a name that a board always has. `usage_board_ranks` has the name
 * of each rank, in short; cells of names that no board has are one.
 */
async function rankCells(
  session: Session,
  asked: Readonly<Record<Dimension, string>>,
): Promise<void> {
  const ranks = dimensions.map(
    (name) =>
      `SELECT '${name}' AS dimension, name, (CASE WHEN name = '(other)' THEN ${otherRank} WHEN name = ${asked[name]} THEN 0
        ELSE row_number() OVER (ORDER BY requests DESC, name) END)::INTEGER AS rank
      FROM (SELECT name, sum(requests) AS requests FROM usage_board_named WHERE dimension = '${name}' GROUP BY name)`,
  )
  const whole = dimensions.map((name) => `WHEN grouping(${name}) = 0 THEN ${name}`).join(' ')
  const dimension = dimensions.map((name) => `WHEN grouping(${name}) = 0 THEN '${name}'`).join(' ')
  const joins = dimensions.map(
    (name) => `JOIN (
      SELECT whole, least(rank, ${mostRank(name)}) AS rank FROM usage_board_named JOIN usage_board_ranks USING (dimension, name) WHERE dimension = '${name}'
    ) AS of_${name} ON of_${name}.whole = board.${name}`,
  )
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_board_named AS
    SELECT dimension, whole, ${shortSql('whole')} AS name, requests FROM (
      SELECT CASE ${dimension} END AS dimension, CASE ${whole} END AS whole, sum(requests) AS requests
      FROM usage_board GROUP BY GROUPING SETS (${dimensions.map((name) => `(${name})`).join(', ')}));
    CREATE OR REPLACE TEMP TABLE usage_board_ranks AS ${ranks.join(' UNION ALL ')};
    CREATE OR REPLACE TEMP TABLE usage_board_ranked AS
    WITH summed AS MATERIALIZED (
      SELECT quarter, ${dimensions.map((name) => `of_${name}.rank AS ${name}`).join(', ')}, max(width_us) AS width_us, ${Object.entries(
        sums,
      )
        .map(([name, sql]) => `${sql} AS ${name}`)
        .join(', ')}
      FROM usage_board AS board ${joins.join(' ')} GROUP BY quarter, ${dimensions.map((name) => `of_${name}.rank`).join(', ')})
    SELECT hour, second, summed.* FROM summed
    JOIN (SELECT quarter, ${localSql('quarter * 900000000')} // ${hourUs} AS hour, ${secondSql('quarter * 900000000')} AS second FROM (SELECT DISTINCT quarter FROM summed)) USING (quarter)`)
}

/** Names beyond the limits become `(other)`. */
function nameCells(session: Session, limits: (typeof mostNames)[number]): Promise<void> {
  const named = dimensions.map(
    (name) => `CASE WHEN ${name} <= ${limits[name]} THEN ${name} ELSE ${otherRank} END AS ${name}`,
  )
  return session.execute(
    `CREATE OR REPLACE TEMP VIEW usage_board_cells AS SELECT * REPLACE (${named.join(', ')}) FROM usage_board_ranked`,
  )
}

/** Names the cells, and finds their width. */
async function fitted(
  session: Session,
  most: number,
  asked: Readonly<Record<Dimension, string>>,
  hours: number,
): Promise<Width> {
  const cells = (width: Width) =>
    `(SELECT count(*)::INTEGER FROM (SELECT DISTINCT ${startSql[width]}, model, key, endpoint FROM usage_board_cells))`
  await rankCells(session, asked)
  await nameCells(session, mostNames[0])
  const [wide] = await session.rows<{ us: number | null }>(
    'SELECT max(width_us)::DOUBLE AS us FROM usage_board_cells',
  )
  const narrowest = (wide?.us ?? 0) > hourUs ? 1 : 0
  const widest = Math.max(narrowest, widths.indexOf(owed(hours)))
  const possible = widths.slice(narrowest, widest + 1)
  const [counts] = await session.rows<Record<Width, number>>(
    `SELECT ${possible.map((width) => `${cells(width)} AS ${width}`).join(', ')}`,
  )
  const fitting = possible.find((width) => counts![width] <= most)
  if (fitting !== undefined) return fitting
  const last = possible.at(-1)!
  for (const limits of mostNames.slice(1)) {
    const ranks = dimensions.map((name) => `least(${name}, ${limits[name] + 1})`)
    const [row] = await session.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (SELECT DISTINCT ${[startSql[last], ...ranks].join(', ')} FROM usage_board_ranked)`,
    )
    if (row!.n > most && limits !== mostNames.at(-1)) continue
    await nameCells(session, limits)
    break
  }
  return last
}

/** What a cell sums of the rows of a board, and how cells become wider ones. */
const sums = {
  requests: figures.requests,
  failed: figures.failed,
  limited: figures.limited,
  cost_known: figures.costKnown,
  credits: `sum(credits) FILTER (unit = getvariable('usage_unit'))`,
  input: figures.input,
  cached: figures.cached,
  output: figures.output,
} as const
const wider = {
  requests: 'sum(requests)::DOUBLE',
  failed: 'coalesce(sum(failed), 0)::DOUBLE',
  limited: 'coalesce(sum(limited), 0)::DOUBLE',
  unknown: 'greatest(0, sum(requests) - coalesce(sum(cost_known), 0))::DOUBLE',
  credits: 'sum(credits)::DOUBLE',
  input: 'sum(input)::DOUBLE',
  cached: 'sum(cached)::DOUBLE',
  output: 'sum(output)::DOUBLE',
} as const

/** `usage_board_names`: each name with its place in the list of its dimension, from 0; those with most requests first, `(other)` last. */
const placesSql = dimensions
  .map(
    (dimension) => `SELECT '${dimension}' AS dimension, rank, name,
      row_number() OVER (ORDER BY rank = ${otherRank}, requests DESC, name) - 1 AS place
      FROM (
        SELECT cells.rank, coalesce(ranks.name, '(other)') AS name, requests
        FROM (SELECT ${dimension} AS rank, sum(requests) AS requests FROM usage_board_cells GROUP BY ALL) AS cells
        LEFT JOIN usage_board_ranks AS ranks ON ranks.dimension = '${dimension}' AND ranks.rank = cells.rank)`,
  )
  .join(' UNION ALL ')

async function sumCells(session: Session, width: Width): Promise<Cells> {
  const placeOf = (name: Dimension) =>
    `(SELECT place FROM usage_board_names WHERE dimension = '${name}' AND rank = ${name})::INTEGER AS ${name}`
  const rows = await session.rows<Record<keyof Cells, number>>(`
    SELECT start::DOUBLE AS hour, ${dimensions.map(placeOf).join(', ')}, ${Object.keys(wider).join(', ')}
    FROM (
      SELECT ${startSql[width]} AS start, ${dimensions.join(', ')}, ${Object.entries(wider)
        .map(([name, sql]) => `${sql} AS ${name}`)
        .join(', ')}
      FROM usage_board_cells GROUP BY start, ${dimensions.join(', ')})
    ORDER BY ALL`)
  const columns = ['hour', ...dimensions, ...Object.keys(wider)] as (keyof Cells)[]
  return Object.fromEntries(
    columns.map((name) => [name, rows.map((row) => row[name] ?? zeroOf(name))]),
  ) as unknown as Cells
}

const zeroOf = (name: string) => (['failed', 'limited', 'unknown'].includes(name) ? 0 : null)

/** The names of each dimension, and how many of them are names of one alone. */
async function readNames(session: Session): Promise<{
  readonly of: BoardData['names']
  readonly shown: Readonly<Record<Dimension, number>>
}> {
  const rows = await session.rows<{ dimension: string; name: string; isOne: boolean }>(
    `SELECT dimension, CASE WHEN dimension = 'key' THEN coalesce(getvariable('usage_key_names')[name], name) ELSE name END AS name,
       name <> '(other)' AS "isOne"
     FROM usage_board_names ORDER BY dimension, place`,
  )
  const each = <Value>(of: (own: typeof rows) => Value) =>
    Object.fromEntries(
      dimensions.map((name) => [name, of(rows.filter(({ dimension }) => dimension === name))]),
    ) as Record<Dimension, Value>
  return {
    of: each((own) => own.map(({ name }) => visible(name))),
    shown: each((own) => own.filter(({ isOne }) => isOne).length),
  }
}
