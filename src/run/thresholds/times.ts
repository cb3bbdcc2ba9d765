import { intervalRanks } from '../../measure/percentile.ts'
import type { Threshold } from '../../scenario/threshold.ts'
import { readGaps } from '../../store/gaps.ts'
import type { Session } from '../../store/session.ts'
import { chosenRows, exactly, type Figure, none, type ThresholdScope } from './figure.ts'

/** The figure of the gaps between tokens, by their histograms. */
export async function gapFigure(
  store: Session,
  threshold: Threshold,
  { runId }: ThresholdScope,
): Promise<Figure> {
  const { statistic, bound } = threshold
  const { where, parameters } = chosenRows(threshold, runId)
  const gaps = (await readGaps(store, where.join(' AND '), parameters)).get(null)
  if (gaps === undefined) return none
  if (statistic.kind !== 'percentile') {
    return exactly(gaps[statistic.kind as 'mean' | 'min' | 'max'], gaps.n)
  }
  const p = statistic.p / 100
  const [low, high] = intervalRanks(p, gaps.n)
  return {
    value: gaps.atShare(p),
    low: low < 1 ? -Infinity : gaps.atShare(low / gaps.n),
    high: high > gaps.n ? Infinity : gaps.atShare(high / gaps.n),
    samples: gaps.n,
    within: gaps.within(bound),
  }
}

/** The figure of a time over rows: their relation, the column, and the one that says whether a value is cut off. */
export async function timeFigure(
  store: Session,
  threshold: Threshold,
  of: {
    readonly from: string
    readonly us: string
    readonly cut: string | null
    readonly parameters: string[]
  },
): Promise<Figure> {
  const { from, parameters } = of
  const sql = timeSql(of.us, of.cut, threshold)
  const [counted] = await store.rows<{ n: number; within: number | null }>(
    `SELECT ${sql.counts} FROM ${from}`,
    parameters,
  )
  const { n, within } = counted!
  if (n === 0) return none
  const [row] = await store.rows<{ value: number; low: number; high: number }>(
    `SELECT ${sql.figures(n)} FROM ${from}`,
    parameters,
  )
  return { ...row!, samples: n, within }
}

/** SQL of the figure of a time: a value that was cut off is a lower bound without an upper one. */
function timeSql(us: string, cut: string | null, { statistic, bound }: Threshold) {
  const least = `${us}::DOUBLE`
  const most = cut === null ? least : `CASE WHEN ${cut} THEN 'infinity'::DOUBLE ELSE ${least} END`
  const figures = (n: number) => {
    if (statistic.kind !== 'percentile') {
      const of = statistic.kind === 'mean' ? 'avg' : statistic.kind
      // A mean or maximum with an endless value is endless.
      const high =
        cut === null || statistic.kind === 'min'
          ? `${of}(${most})`
          : `CASE WHEN bool_or(${cut}) THEN 'infinity'::DOUBLE ELSE ${of}(${least}) END`
      return `${of}(${least}) AS value, ${of}(${least}) AS low, ${high} AS high`
    }
    const p = statistic.p / 100
    const [low, high] = intervalRanks(p, n)
    const at = (rank: number, values: string) => `quantile_disc(${values}, ${(rank - 0.5) / n})`
    return `quantile_cont(${least}, ${p}) AS value,
      ${low < 1 ? `'-infinity'::DOUBLE` : at(low, least)} AS low,
      ${high > n ? `'infinity'::DOUBLE` : at(high, most)} AS high`
  }
  return {
    counts: `count(${us}) AS n, count(*) FILTER (${most} <= ${bound}) / nullif(count(${us}), 0) AS within`,
    figures,
  }
}
