import { Series } from '../../../measure/interval/series.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import { readGaps } from '../../../store/read/gaps.ts'
import { type Column, readOrdered } from '../../../store/read/ordered.ts'
import type { Session } from '../../../store/session/session.ts'
import { chosenRows, exactly, type Figure, none, type ThresholdScope } from './figure.ts'
import { gapsOf, timeOf } from './intervals.ts'

/** SQL over `attempt_values`: the mean gap of a stream that succeeded. */
const meanGap = {
  value: `CASE WHEN itl_max_us IS NOT NULL AND content_events > 1
    THEN (last_content_us - first_content_us) / (content_events - 1) END`,
  cut: null,
}

/**
 * The figure of the gaps between tokens, by their histograms. The gaps of a stream are not independent, so all gaps are
 * worth no more than their streams.
 */
export async function gapFigure(
  session: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<Figure> {
  const { statistic } = threshold
  // Histograms of gaps do not know which of them lie before a moment.
  if (scope.side !== undefined) return none
  const { where, parameters } = chosenRows(threshold, scope)
  const gaps = (await readGaps(session, where.join(' AND '), parameters)).get(null)
  if (gaps === undefined) return none
  if (statistic.kind === 'min' || statistic.kind === 'max') {
    return exactly(gaps[statistic.kind], gaps.n)
  }
  const from = `(FROM attempt_values WHERE ${where.join(' AND ')})`
  const [streams] = await readOrdered(session, from, [meanGap], parameters)
  const { values } = streams!
  return gapsOf(gaps, values.length === 0 ? null : new Series(values), threshold)
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
