import { Series } from '../../../measure/interval/series.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import { type ItlFigures, readItl } from '../../../store/read/itl.ts'
import { type Column, readOrdered } from '../../../store/read/ordered.ts'
import type { Session } from '../../../store/session/session.ts'
import { chosenRows, exactly, type Figure, none, type ThresholdScope } from './figure.ts'
import { itlOf, timeOf } from './intervals.ts'

/** SQL over `attempt_values`: the mean ITL of a stream that succeeded. */
const meanItl = {
  value: `CASE WHEN itl_max_us IS NOT NULL AND content_events > 1
    THEN (last_content_us - first_content_us) / (content_events - 1) END`,
  cut: null,
}

/**
 * The figure of ITL, by histograms. The values of a stream are not independent, so all values are
 * worth no more than their streams.
 */
export async function itlFigure(
  session: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<Figure> {
  const { statistic } = threshold
  // Histograms do not know which values lie before a moment.
  if (scope.side !== undefined) return none
  const { where, parameters } = chosenRows(threshold, scope)
  const itl = (await readItl(session, where.join(' AND '), parameters)).get(null)
  if (itl === undefined) return none
  if (statistic.kind === 'min' || statistic.kind === 'max') {
    return endOf(session, itl, statistic.kind, { where: where.join(' AND '), parameters })
  }
  const from = `(FROM attempt_values WHERE ${where.join(' AND ')})`
  const [streams] = await readOrdered(session, from, [meanItl], parameters)
  const { values } = streams!
  return itlOf(itl, values.length === 0 ? null : new Series(values), threshold)
}

/** The smallest or the largest ITL: a histogram has it within a cell, and streams keep their largest exactly. */
async function endOf(
  session: Session,
  itl: ItlFigures,
  kind: 'min' | 'max',
  { where, parameters }: { readonly where: string; readonly parameters: readonly string[] },
): Promise<Figure> {
  const [low, high] = itl[`${kind}Within`]
  const cell = { ...exactly(itl[kind], itl.n), low, high }
  if (kind === 'min' || low === high) return cell
  const [row] = await session.rows<{ largest: number | null }>(
    `SELECT max(itl_max_us)::DOUBLE AS largest FROM attempt_values WHERE ${where}`,
    parameters,
  )
  const largest = row?.largest ?? null
  return largest !== null && low <= largest && largest <= high ? exactly(largest, itl.n) : cell
}

/** The figure of a time over rows: their relation, the column, and the one that says whether a value is cut off. */
export async function timeFigure(
  session: Session,
  threshold: Threshold,
  of: {
    readonly from: string
    readonly column: Column
    readonly parameters: readonly string[]
    readonly ties?: string
  },
): Promise<Figure> {
  const [ordered] = await readOrdered(session, of.from, [of.column], of.parameters, of.ties)
  const { values, isCut } = ordered!
  return values.length === 0 ? none : timeOf(new Series(values, isCut), threshold)
}
