import { limitSql } from '../../../measure/limit.ts'
import { columnOf, cutOf, type MeasureName } from '../../../measure/measures.ts'
import type { OwnLimit, Threshold } from '../../../scenario/threshold.ts'
import { readOrdered } from '../../../store/read/ordered.ts'
import type { Session } from '../../../store/session/session.ts'
import { grouped } from '../../../user/grouped.ts'
import type { Figure } from './figure.ts'
import { shareOf } from './intervals.ts'

/** What the share of such a threshold is of. */
export const withinOwnLimits = 'within their own limits'

/**
 * The share of the requests that have a measure and are within their own limits. A time that was cut off is not within its
 * limit. Nobody knows it of an answer whose tokens are not known: the share lies between none and all of those.
 */
export async function ownLimitFigure(
  session: Session,
  threshold: Threshold,
  { limit, isStrict }: OwnLimit,
  rows: {
    readonly from: string
    readonly measure: MeasureName
    readonly parameters: readonly string[]
  },
): Promise<Figure> {
  const [us, cut] = [columnOf(rows.measure), cutOf(rows.measure)]
  const share = (isWithin: string) => ({
    value: `CASE WHEN ${us} IS NOT NULL THEN (${cut === null ? 'true' : `NOT ${cut}`} AND ${isWithin})::INTEGER END`,
    cut: null,
  })
  const isWithin = `${us} ${isStrict ? '<' : '<='} ${limitSql(limit).us}`
  const read = await readOrdered(
    session,
    rows.from,
    [share(`coalesce(${isWithin}, false)`), share(`coalesce(${isWithin}, true)`)],
    rows.parameters,
  )
  const [least, most] = read.map(({ values }) => Uint8Array.from(values)) as [
    Uint8Array,
    Uint8Array,
  ]
  const figure = shareOf(least, threshold)
  const unknown = count(most) - count(least)
  if (unknown === 0) return figure
  const { high } = shareOf(most, threshold)
  const of = unknown === 1 ? 'of one request' : `of ${grouped(unknown)} requests`
  return { ...figure, high, needs: null, unknown: `${of} the tokens are not known` }
}

const count = (ones: Uint8Array) => ones.reduce((sum, one) => sum + one, 0)
