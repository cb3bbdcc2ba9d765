import { samplesNeeded } from '../../../measure/percentile.ts'
import type { Session } from '../../../store/session/session.ts'
import { shortSql } from '../short-name.ts'
import { type Cells, type Dimension, dimensions, localSql, startSql, type Width } from './cells.ts'
import { secondSql } from './clock-changes.ts'
import { latencyStep } from './latency.js'
import type { ListedRequest } from './types.ts'

/** A single request; names are places in the names of the board. */
interface Single
  extends Omit<ListedRequest, 'names' | 'amount'>,
    Readonly<Record<Dimension, number>> {
  /** In the unit of the board; null in another. */
  readonly credits: number | null
}

/** Single requests in columns, as `Cells`. */
export type Requests = { readonly [Column in keyof Single]: readonly Single[Column][] }

/** How many successes of a cell had a latency of a step (`latency.js`), in columns. */
export interface Latencies {
  readonly cell: readonly number[]
  readonly step: readonly number[]
  readonly count: readonly number[]
  /** The percentiles to draw, and the samples that each needs. */
  readonly needs: readonly { readonly percent: number; readonly samples: number }[]
}

const drawn = [50, 95]

/** A page holds this many single requests at most. */
export const mostRequests = 2000
const mostSteps = 30_000

const withinSql = `FROM usage_shown WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')`

/** SQL for the place of a request's name; the rest of a long list is `(other)`. */
const placeSql = (name: string, column: string) =>
  `coalesce((SELECT place FROM usage_board_names WHERE dimension = '${name}' AND name = ${column}), (SELECT place FROM usage_board_names WHERE dimension = '${name}' AND name = '(other)'))::INTEGER AS ${name}`

const placed = [
  placeSql('model', shortSql(`coalesce(model, '(unknown)')`)),
  placeSql(
    'key',
    shortSql(
      `coalesce(CASE getvariable('usage_by') WHEN 'account' THEN account WHEN 'tag' THEN nullif(JSONExtractString(tags, getvariable('usage_tag')), '') ELSE key_fp END, '(unknown)')`,
    ),
  ),
  placeSql('endpoint', shortSql(`coalesce(endpoint, '(unknown)')`)),
].join(', ')

/** All single requests of the period in columns, if they are few. `readCells` must have run. */
export async function readRequests(session: Session): Promise<Requests | null> {
  const [count] = await session.rows<{ n: number }>(`SELECT count(*)::INTEGER AS n ${withinSql}`)
  if (count!.n === 0 || count!.n > mostRequests) return null
  const rows = await session.rows<Single>(`
    SELECT (local // 3600000000)::DOUBLE + ${secondSql('at_us')} AS hour, strftime(make_timestamp(local), '%H:%M:%S') AS clock,
      id, ${placed}, coalesce(status::VARCHAR, outcome) AS status, latency_us / 1000 AS duration,
      prompt_tokens::DOUBLE AS input, completion_tokens::DOUBLE AS output,
      CASE WHEN unit = getvariable('usage_unit') THEN credits::DOUBLE END AS credits
    FROM (SELECT *, ${localSql('at_us')} AS local ${withinSql})
    ORDER BY at_us, id`)
  return {
    hour: rows.map(({ hour }) => hour),
    clock: rows.map(({ clock }) => clock),
    id: rows.map(({ id }) => id),
    duration: rows.map(({ duration }) => duration),
    model: rows.map(({ model }) => model),
    key: rows.map(({ key }) => key),
    endpoint: rows.map(({ endpoint }) => endpoint),
    status: rows.map(({ status }) => status),
    input: rows.map(({ input }) => input),
    output: rows.map(({ output }) => output),
    credits: rows.map(({ credits }) => credits),
  }
}

/** The latencies of successes by cell. `readCells` must have run. */
export async function readLatencies(
  session: Session,
  width: Width,
  cells: Cells,
): Promise<Latencies | null> {
  const rows = await session.rows<Record<'start' | Dimension | 'step' | 'n', number>>(
    `WITH named AS (SELECT ${localSql('at_us')} // 3600000000 AS hour, ${secondSql('at_us')} AS second, ${placed}, latency_us
       ${withinSql} AND outcome = 'ok' AND latency_us > 0)
     SELECT ${startSql[width]}::DOUBLE AS start, model, key, endpoint,
       floor(ln(latency_us / 1000) / ln(${latencyStep}))::INTEGER AS step, count(*)::INTEGER AS n
     FROM named GROUP BY ALL ORDER BY ALL LIMIT ${mostSteps + 1}`,
  )
  if (rows.length === 0 || rows.length > mostSteps) return null
  const nameOf = (parts: readonly number[]) => parts.join(' ')
  const cellOf = new Map(
    cells.hour.map((hour, at) => [
      nameOf([hour, ...dimensions.map((name) => cells[name][at]!)]),
      at,
    ]),
  )
  const known = rows.flatMap((row) => {
    const cell = cellOf.get(nameOf([row.start, ...dimensions.map((name) => row[name])]))
    return cell === undefined ? [] : [{ cell, step: row.step, count: row.n }]
  })
  return {
    cell: known.map(({ cell }) => cell),
    step: known.map(({ step }) => step),
    count: known.map(({ count }) => count),
    needs: drawn.map((percent) => ({ percent, samples: samplesNeeded(percent / 100) })),
  }
}
