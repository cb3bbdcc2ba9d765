import type { Period } from '../../measure/usage/calendar.ts'
import { endSql } from '../../measure/usage/ends.ts'
import { requestsOf } from '../../measure/usage/sums.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { amountIn } from './cause.ts'
import { within } from './rows.ts'
import { readFigures } from './sums.ts'

/** Requests that failed or reached a limit. */
export interface Failed {
  readonly requests: number
  /** What they cost in each unit, decimal text; null if some of them report nothing. */
  readonly amounts: readonly { readonly unit: string; readonly value: string }[] | null
}

/** How many requests of a period failed, and whether they were charged; null if their number is not known. */
export async function readFailed(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
): Promise<Failed | null> {
  const condition = `${await conditionOf(asked, query)} AND (${endSql}) <> 'ok'`
  const [row] = await readFigures<object, 'requests' | 'requestsUnknown' | 'costKnown'>(
    asked,
    ['requests', 'requestsUnknown', 'costKnown'],
    within(asked, period, condition),
  )
  const requests = row === undefined ? null : requestsOf(row)
  if (requests === null) return null
  const amounts = units.flatMap((unit) => {
    const value = amountIn(asked, row!, unit)
    return value === null ? [] : [{ unit, value }]
  })
  return { requests, amounts: (row!.costKnown ?? 0) < requests ? null : amounts }
}
