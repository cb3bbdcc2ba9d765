import { figures } from '../../../measure/usage/sums.ts'
import { literal } from '../../../store/literal.ts'
import type { Session } from '../../../store/session/session.ts'
import { hourUs } from '../../../user/durations.ts'
import { visible } from '../../../user/hostile.ts'
import { shortSql } from '../short-name.ts'
import type { BoardData } from './data.ts'

/** Sums of cells, in columns: cell `at` is `hour[at]`, `model[at]`, `requests[at]` and so on. */
export interface Cells {
  /** Local hours since 1970. */
  readonly hour: readonly number[]
  readonly model: readonly number[]
  readonly key: readonly number[]
  readonly endpoint: readonly number[]
  readonly requests: readonly number[]
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

/** Local hours, with fractions, of some moments. */
export async function localHours(
  store: Session,
  us: readonly number[],
): Promise<readonly number[]> {
  if (us.length === 0) return []
  const rows = await store.rows<{ hour: number }>(
    `SELECT ${localSql('us')} / 3.6e9 AS hour FROM (SELECT unnest([${us.map(Math.round).join(', ')}]) AS us, generate_subscripts([${us.map(() => 0).join(', ')}], 1) AS nth) ORDER BY nth`,
  )
  return rows.map(({ hour }) => hour)
}

export const startSql: Readonly<Record<Width, string>> = {
  hour: 'hour',
  day: 'hour // 24 * 24',
  week: '(hour // 24 + 3) // 7 * 168 - 72',
  month: `epoch_us(date_trunc('month', make_timestamp(hour * 3600000000))) // 3600000000`,
}

/**
 * Whether a board of these rows has cells of days or wider, since its hours with use are too many however many names become `(other)`. Rows
 * that are sums of days then give the same board.
 *
 * @param wide the same rows, or sums of them
 * @param columns of its dimensions
 * @param most cells
 * @param hours of the period
 */
export async function exceedsHours(
  store: Session,
  { rows, wide, where }: { readonly rows: string; readonly wide: string; readonly where: string },
  columns: readonly (readonly [Dimension, string])[],
  most: number,
  hours: number,
): Promise<boolean> {
  if (owed(hours) === 'hour') return false
  const [names] = await store.rows<Record<Dimension, number>>(
    `SELECT ${columns.map(([name, column]) => `count(DISTINCT ${column})::INTEGER AS ${name}`).join(', ')} FROM ${wide} WHERE ${where}`,
  )
  const whole = columns.flatMap(([name, column]) =>
    names![name] < mostNames[0][name] ? [column] : [],
  )
  const countIn = async (from: string, times: readonly string[]) => {
    const hours = times.map(
      (time) =>
        `SELECT ${[`${time} // ${hourUs} AS hour`, ...whole].join(', ')} FROM ${from} WHERE requests > 0 AND ${where}`,
    )
    const [cells] = await store.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (SELECT DISTINCT * FROM (${hours.join(' UNION ALL ')}))`,
    )
    return cells!.n
  }
  // An hour of a zone has parts of at most two of these.
  const least = 2 * most
  // The first and the last hour of each wide row are some of the hours, and often enough of them.
  if ((await countIn(wide, ['first_us', 'last_us'])) > least) return true
  return (await countIn(rows, ['first_us'])) > least
}

/**
 * Sums `usage_board` into cells of the narrowest width with at most this many. Where the width that the period is owed has more,
 * names with few requests become `(other)`, and `folded` counts them.
 *
 * @param hours of the period
 */
export async function readCells(
  store: Session,
  most: number,
  asked: Readonly<Record<Dimension, string>>,
  hours: number,
): Promise<Pick<BoardData, 'finest' | 'names' | 'cells' | 'folded'>> {
  const finest = await fitted(store, most, asked, hours)
  await store.execute(`CREATE OR REPLACE TEMP TABLE usage_board_names AS ${placesSql}`)
  const names = await readNames(store)
  const all = await store.rows<{ dimension: Dimension; names: number }>(
    'SELECT dimension, count(*)::INTEGER AS names FROM usage_board_ranks GROUP BY dimension',
  )
  const countOf = (name: Dimension) => all.find(({ dimension }) => dimension === name)?.names ?? 0
  const folded = Object.fromEntries(
    dimensions.map((name) => [name, countOf(name) - names.shown[name]]),
  ) as Record<Dimension, number>
  return { finest, cells: await sumCells(store, finest), names: names.of, folded }
}

/** The rank of what is `(other)`. */
const otherRank = 1_000_000_000

/**
 * Gives cells their local hour, and, in the place of their names, the ranks of these by their requests: 0 for a name that a board always has.
 * `usage_board_ranks` has the name of each rank, in short.
 */
async function rankCells(
  store: Session,
  asked: Readonly<Record<Dimension, string>>,
): Promise<void> {
  const ranks = dimensions.map(
    (name) =>
      `SELECT '${name}' AS dimension, name, (CASE WHEN name = '(other)' THEN ${otherRank} WHEN name = ${asked[name]} THEN 0
        ELSE row_number() OVER (ORDER BY requests DESC, name) END)::INTEGER AS rank
      FROM (SELECT ${name} AS name, sum(requests) AS requests FROM named GROUP BY ALL)`,
  )
  const short = dimensions.map((name) => `${shortSql(name)} AS ${name}`)
  const joins = dimensions.map(
    (name) =>
      `JOIN (FROM usage_board_ranks WHERE dimension = '${name}') AS of_${name} ON of_${name}.name = ${shortSql(`board.${name}`)}`,
  )
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_board_ranks AS
    WITH named AS MATERIALIZED (SELECT ${short.join(', ')}, sum(requests) AS requests FROM usage_board GROUP BY ALL)
    ${ranks.join(' UNION ALL ')};
    CREATE OR REPLACE TEMP TABLE usage_board_ranked AS
    WITH hours AS (SELECT quarter, ${localSql('quarter * 900000000')} // ${hourUs} AS hour FROM (SELECT DISTINCT quarter FROM usage_board))
    SELECT board.* EXCLUDE (${dimensions.join(', ')}), hour, ${dimensions.map((name) => `of_${name}.rank AS ${name}`).join(', ')}
    FROM usage_board AS board JOIN hours USING (quarter) ${joins.join(' ')}`)
}

/** Names beyond the limits become `(other)`. */
function nameCells(store: Session, limits: (typeof mostNames)[number]): Promise<void> {
  const named = dimensions.map(
    (name) => `CASE WHEN ${name} <= ${limits[name]} THEN ${name} ELSE ${otherRank} END AS ${name}`,
  )
  return store.execute(
    `CREATE OR REPLACE TEMP VIEW usage_board_cells AS SELECT * REPLACE (${named.join(', ')}) FROM usage_board_ranked`,
  )
}

/** Names the cells, and finds their width. */
async function fitted(
  store: Session,
  most: number,
  asked: Readonly<Record<Dimension, string>>,
  hours: number,
): Promise<Width> {
  const cells = (width: Width) =>
    `(SELECT count(*)::INTEGER FROM (SELECT DISTINCT ${startSql[width]}, model, key, endpoint FROM usage_board_cells))`
  await rankCells(store, asked)
  await nameCells(store, mostNames[0])
  const [wide] = await store.rows<{ us: number | null }>(
    'SELECT max(width_us)::DOUBLE AS us FROM usage_board_cells',
  )
  const narrowest = (wide?.us ?? 0) > hourUs ? 1 : 0
  const widest = Math.max(narrowest, widths.indexOf(owed(hours)))
  const possible = widths.slice(narrowest, widest + 1)
  const [counts] = await store.rows<Record<Width, number>>(
    `SELECT ${possible.map((width) => `${cells(width)} AS ${width}`).join(', ')}`,
  )
  const fitting = possible.find((width) => counts![width] <= most)
  if (fitting !== undefined) return fitting
  const last = possible.at(-1)!
  for (const limits of mostNames.slice(1)) {
    const ranks = dimensions.map((name) => `least(${name}, ${limits[name] + 1})`)
    const [row] = await store.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (SELECT DISTINCT ${[startSql[last], ...ranks].join(', ')} FROM usage_board_ranked)`,
    )
    if (row!.n > most && limits !== mostNames.at(-1)) continue
    await nameCells(store, limits)
    break
  }
  return last
}

const sums = {
  requests: `${figures.requests}::DOUBLE`,
  failed: `coalesce(${figures.failed}, 0)::DOUBLE`,
  limited: `coalesce(${figures.limited}, 0)::DOUBLE`,
  unknown: `greatest(0, ${figures.requests} - coalesce(${figures.costKnown}, 0))::DOUBLE`,
  credits: `sum(credits) FILTER (unit = getvariable('usage_unit'))::DOUBLE`,
  input: `${figures.input}::DOUBLE`,
  cached: `${figures.cached}::DOUBLE`,
  output: `${figures.output}::DOUBLE`,
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

async function sumCells(store: Session, width: Width): Promise<Cells> {
  const placeOf = (name: Dimension) =>
    `(SELECT place FROM usage_board_names WHERE dimension = '${name}' AND rank = ${name})::INTEGER AS ${name}`
  const rows = await store.rows<Record<keyof Cells, number>>(`
    SELECT start::DOUBLE AS hour, ${dimensions.map(placeOf).join(', ')}, ${Object.keys(sums).join(', ')}
    FROM (
      SELECT ${startSql[width]} AS start, ${dimensions.join(', ')}, ${Object.entries(sums)
        .map(([name, sql]) => `${sql} AS ${name}`)
        .join(', ')}
      FROM usage_board_cells GROUP BY start, ${dimensions.join(', ')})
    ORDER BY ALL`)
  const columns = ['hour', ...dimensions, ...Object.keys(sums)] as (keyof Cells)[]
  return Object.fromEntries(
    columns.map((name) => [name, rows.map((row) => row[name] ?? zeroOf(name))]),
  ) as unknown as Cells
}

const zeroOf = (name: string) =>
  ['requests', 'failed', 'limited', 'unknown'].includes(name) ? 0 : null

/** The names of each dimension, and how many of them are names of one alone. */
async function readNames(store: Session): Promise<{
  readonly of: BoardData['names']
  readonly shown: Readonly<Record<Dimension, number>>
}> {
  const rows = await store.rows<{ dimension: string; name: string; isOne: boolean }>(
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
