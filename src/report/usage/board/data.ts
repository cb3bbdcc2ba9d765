import type { Session } from '../../../store/session.ts'
import { visible } from '../../../user/hostile.ts'
import { queryText, type UsageEngine } from '../engine/engine.ts'
import type { UsagePage } from '../shape.ts'
import { outlookOf } from './outlook.ts'

/** Sums of cells, in columns: cell `at` is `hour[at]`, `model[at]`, `requests[at]` and so on. */
interface Cells {
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

/** The usage of a page, in a compact form that the page's filters sum. Times are local hours since 1970. */
export interface BoardData {
  readonly unit: string
  readonly creditUsd: number | null
  readonly by: 'model' | 'key' | 'endpoint'
  readonly metrics: readonly ('credits' | 'requests' | 'tokens' | 'money')[]
  readonly from: number
  readonly to: number
  readonly now: number
  readonly measuredFrom: number
  readonly measuredTo: number
  /** The width of a cell: the narrowest with at most `mostCells` cells. */
  readonly finest: Width
  readonly names: Readonly<Record<'model' | 'key' | 'endpoint', readonly string[]>>
  readonly cells: Cells
  /** Single requests; null if there are too many, or only sums. */
  readonly requests: Readonly<Record<string, readonly unknown[]>> | null
  readonly outlook: ReturnType<typeof outlookOf>
  readonly words: { readonly outlook: string; readonly requests: string }
}

const widths = ['hour', 'day', 'week', 'month'] as const
type Width = (typeof widths)[number]

/** A page has this many cells and single requests at most: half a megabyte, and a filter sums them at once. */
const mostCells = 9000
const mostRequests = 2000

const namesOf = { model: 40, key: 40, endpoint: 20 } as const
const dimensions = ['model', 'key', 'endpoint'] as const

/** Reads the board. `prepareUsage` must have run. */
export async function readBoard(
  store: Session,
  engine: UsageEngine,
  page: UsagePage,
): Promise<BoardData> {
  await engine.fill(store, 'usage_board', queryText('board'))
  await nameCells(store)
  const finest = await widthOf(store)
  const cells = await readCells(store, finest)
  const names = await readNames(store)
  const { scope } = page
  const local = await localHours(store, [scope.fromUs, scope.toUs, scope.nowUs, ...ends(page)])
  const [from, to, now, measuredFrom, measuredTo] = local as [
    number,
    number,
    number,
    number,
    number,
  ]
  const has = (column: keyof Cells) => cells[column].some((value) => value !== null && value !== 0)
  const hasCredits = has('credits')
  return {
    ...{
      unit: scope.unit,
      creditUsd: scope.creditUsd,
      by: scope.by === 'account' ? 'key' : scope.by,
    },
    metrics: [
      ...(hasCredits ? (['credits'] as const) : []),
      ...(hasCredits && scope.creditUsd !== null ? (['money'] as const) : []),
      ...(has('input') || has('output') ? (['tokens'] as const) : []),
      'requests',
    ],
    ...{ from, to, now, measuredFrom, measuredTo, finest, names, cells },
    requests: engine.holdsRequests ? await readRequests(store) : null,
    outlook: outlookOf(page, await hoursOf(store, page)),
    words: {
      outlook:
        'Up to the thin line: what was used. Dashed: the median of 500 futures, simulated from the observed days; the band contains 80 % of them. The upper line is what is held; a step in it is credits that expire unused.',
      requests: `This page holds single requests only if there are at most ${mostRequests}: assay export usage --from … --to … writes them.`,
    },
  }
}

/** The measured time: from the first request to the last. */
function ends({ scope }: UsagePage): readonly [number, number] {
  const some = scope.sources.filter(({ origin }) => origin !== 'poll')
  return [
    Math.min(...some.map(({ firstUs }) => firstUs), scope.toUs),
    Math.max(...some.map(({ lastUs }) => lastUs), scope.fromUs),
  ]
}

const localSql = (us: string) =>
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

async function hoursOf(store: Session, page: UsagePage): Promise<(us: number) => number> {
  const moments = outlookOf(page, (us) => us)
  if (moments === null) return (us) => us
  const all = [...moments.points, ...moments.expiries].map(({ hour }) => hour)
  const hours = await localHours(store, all)
  const known = new Map(all.map((us, at) => [us, hours[at]!]))
  return (us) => known.get(us) ?? us
}

/** Gives cells their local hour and shown names; the rest of a long list is `(other)`. */
async function nameCells(store: Session): Promise<void> {
  const named = dimensions.map(
    (
      name,
    ) => `CASE WHEN ${name} IN (SELECT ${name} FROM usage_board GROUP BY 1 ORDER BY sum(requests) DESC, 1 LIMIT ${namesOf[name]})
      THEN ${name} ELSE '(other)' END AS ${name}`,
  )
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_board_cells AS
    SELECT * REPLACE (${named.join(', ')}), ${localSql('quarter * 900000000')} // 3600000000 AS hour FROM usage_board`)
}

const startSql: Readonly<Record<Width, string>> = {
  hour: 'hour',
  day: 'hour // 24 * 24',
  week: '(hour // 24 + 3) // 7 * 168 - 72',
  month: `epoch_us(date_trunc('month', make_timestamp(hour * 3600000000))) // 3600000000`,
}

async function widthOf(store: Session): Promise<Width> {
  const [wide] = await store.rows<{ us: number | null }>(
    'SELECT max(width_us)::DOUBLE AS us FROM usage_board_cells',
  )
  const narrowest = (wide?.us ?? 0) > 3600e6 ? 1 : 0
  for (const width of widths.slice(narrowest)) {
    const [row] = await store.rows<{ n: number }>(
      `SELECT count(*)::INTEGER AS n FROM (SELECT DISTINCT ${startSql[width]}, model, key, endpoint FROM usage_board_cells)`,
    )
    if (row!.n <= mostCells) return width
  }
  // Without the keys, then.
  await store.execute(`UPDATE usage_board_cells SET key = '(other)'`)
  return 'month'
}

const sums = {
  requests: 'sum(requests)::DOUBLE',
  failed: `coalesce(sum(requests) FILTER (outcome <> 'ok'), 0)::DOUBLE`,
  limited: 'coalesce(sum(requests) FILTER (status = 429), 0)::DOUBLE',
  unknown: 'greatest(0, sum(requests) - coalesce(sum(credits_known), 0))::DOUBLE',
  credits: `round(sum(credits) FILTER (unit = getvariable('usage_unit')), 6)::DOUBLE`,
  input: 'sum(prompt_tokens)::DOUBLE',
  cached: 'sum(cached_tokens)::DOUBLE',
  output: 'sum(completion_tokens)::DOUBLE',
} as const

async function readCells(store: Session, width: Width): Promise<Cells> {
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

/** Each name with its place in the list of its dimension, from 0; those with most requests first, `(other)` last. */
const placesSql = dimensions
  .map(
    (name) => `SELECT '${name}' AS dimension, ${name} AS name,
      row_number() OVER (ORDER BY ${name} = '(other)', sum(requests) DESC, ${name}) - 1 AS place
      FROM usage_board_cells GROUP BY ${name}`,
  )
  .join(' UNION ALL ')

async function readNames(store: Session): Promise<BoardData['names']> {
  const rows = await store.rows<{ dimension: string; name: string }>(
    `SELECT dimension, CASE WHEN dimension = 'key' THEN coalesce(getvariable('usage_key_names')[name], name) ELSE name END AS name
     FROM (${placesSql}) ORDER BY dimension, place`,
  )
  const of = (wanted: string) =>
    rows.filter(({ dimension }) => dimension === wanted).map(({ name }) => visible(name))
  return { model: of('model'), key: of('key'), endpoint: of('endpoint') }
}

/** All single requests of the period in columns, if they are few. */
async function readRequests(store: Session): Promise<BoardData['requests']> {
  const where = `FROM usage_shown WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')`
  const [count] = await store.rows<{ n: number }>(`SELECT count(*)::INTEGER AS n ${where}`)
  if (count!.n === 0 || count!.n > mostRequests) return null
  const place = (name: string, column: string) =>
    `coalesce((SELECT place FROM names WHERE dimension = '${name}' AND name = ${column}), (SELECT place FROM names WHERE dimension = '${name}' AND name = '(other)'))::INTEGER AS ${name}`
  const rows = await store.rows<Record<string, unknown>>(`
    WITH names AS (${placesSql})
    SELECT (local // 3600000000)::DOUBLE AS hour, strftime(make_timestamp(local), '%H:%M:%S') AS clock,
      ${place('model', `left(coalesce(model, '(unknown)'), 200)`)}, ${place('key', `left(coalesce(key_fp, '(unknown)'), 200)`)},
      ${place('endpoint', `left(coalesce(endpoint, '(unknown)'), 200)`)}, coalesce(status::VARCHAR, outcome) AS status,
      prompt_tokens::DOUBLE AS input, completion_tokens::DOUBLE AS output, round(credits, 6)::DOUBLE AS credits
    FROM (SELECT *, ${localSql('at_us')} AS local ${where})
    ORDER BY local, id`)
  const columns = Object.keys(rows[0]!)
  return Object.fromEntries(columns.map((name) => [name, rows.map((row) => row[name])]))
}
