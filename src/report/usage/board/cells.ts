import { figures } from '../../../measure/usage/sums.ts'
import { literal } from '../../../store/literal.ts'
import type { Session } from '../../../store/session/session.ts'
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
  const names = await readNames(store)
  const [all] = await store.rows<Record<Dimension, number>>(
    `SELECT ${dimensions.map((name) => `count(DISTINCT ${name})::INTEGER AS ${name}`).join(', ')} FROM usage_board`,
  )
  const [shown] = await store.rows<Record<Dimension, number>>(
    `SELECT ${dimensions.map((name) => `(count(DISTINCT ${name}) FILTER (${name} <> '(other)'))::INTEGER AS ${name}`).join(', ')} FROM usage_board_cells`,
  )
  const folded = Object.fromEntries(
    dimensions.map((name) => [name, all![name] - shown![name]]),
  ) as Record<Dimension, number>
  return { finest, cells: await sumCells(store, finest), names, folded }
}

/** Gives cells their local hour and shown names; the rest of a long list is `(other)`. */
async function nameCells(
  store: Session,
  asked: Readonly<Record<Dimension, string>>,
  limits: (typeof mostNames)[number],
): Promise<void> {
  const named = dimensions.map(
    (
      name,
    ) => `CASE WHEN ${name} = ${asked[name]} OR ${name} IN (SELECT ${name} FROM shown GROUP BY 1 ORDER BY sum(requests) DESC, 1 LIMIT ${limits[name]})
      THEN ${name} ELSE '(other)' END AS ${name}`,
  )
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_board_cells AS
    WITH shown AS MATERIALIZED (SELECT * REPLACE (${dimensions.map((name) => `${shortSql(name)} AS ${name}`).join(', ')}) FROM usage_board)
    SELECT * REPLACE (${named.join(', ')}), ${localSql('quarter * 900000000')} // 3600000000 AS hour FROM shown`)
}

/** Names the cells, and finds their width. */
async function fitted(
  store: Session,
  most: number,
  asked: Readonly<Record<Dimension, string>>,
  hours: number,
): Promise<Width> {
  const countOf = async (width: Width) => {
    const [row] = await store.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (SELECT DISTINCT ${startSql[width]}, model, key, endpoint FROM usage_board_cells)`,
    )
    return row!.n
  }
  await nameCells(store, asked, mostNames[0])
  const [wide] = await store.rows<{ us: number | null }>(
    'SELECT max(width_us)::DOUBLE AS us FROM usage_board_cells',
  )
  const narrowest = (wide?.us ?? 0) > 3600e6 ? 1 : 0
  const widest = widths[Math.max(narrowest, widths.indexOf(owed(hours)))]!
  for (const width of widths.slice(narrowest, widths.indexOf(widest) + 1)) {
    if ((await countOf(width)) <= most) return width
  }
  for (const limits of mostNames.slice(1)) {
    await nameCells(store, asked, limits)
    if ((await countOf(widest)) <= most) break
  }
  return widest
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

/** Each name with its place in the list of its dimension, from 0; those with most requests first, `(other)` last. */
export const placesSql = dimensions
  .map(
    (name) => `SELECT '${name}' AS dimension, ${name} AS name,
      row_number() OVER (ORDER BY ${name} = '(other)', sum(requests) DESC, ${name}) - 1 AS place
      FROM usage_board_cells GROUP BY ${name}`,
  )
  .join(' UNION ALL ')

async function sumCells(store: Session, width: Width): Promise<Cells> {
  const rows = await store.rows<Record<keyof Cells, number>>(`
    WITH names AS (${placesSql})
    SELECT ${startSql[width]}::DOUBLE AS hour, ${dimensions.map((name) => `(SELECT place FROM names WHERE dimension = '${name}' AND name = ${name})::INTEGER AS ${name}`).join(', ')},
      ${Object.entries(sums)
        .map(([name, sql]) => `${sql} AS ${name}`)
        .join(', ')}
    FROM usage_board_cells GROUP BY 1, model, key, endpoint ORDER BY ALL`)
  const columns = ['hour', ...dimensions, ...Object.keys(sums)] as (keyof Cells)[]
  return Object.fromEntries(
    columns.map((name) => [name, rows.map((row) => row[name] ?? zeroOf(name))]),
  ) as unknown as Cells
}

const zeroOf = (name: string) =>
  ['requests', 'failed', 'limited', 'unknown'].includes(name) ? 0 : null

async function readNames(store: Session): Promise<BoardData['names']> {
  const rows = await store.rows<{ dimension: string; name: string }>(
    `SELECT dimension, CASE WHEN dimension = 'key' THEN coalesce(getvariable('usage_key_names')[name], name) ELSE name END AS name
     FROM (${placesSql}) ORDER BY dimension, place`,
  )
  const of = (dimension: Dimension) =>
    rows.filter((row) => row.dimension === dimension).map(({ name }) => visible(name))
  return { model: of('model'), key: of('key'), endpoint: of('endpoint') }
}
