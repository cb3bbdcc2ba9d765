import type { Period } from '../../measure/usage/calendar.ts'
import { requestsOf, type Sums } from '../../measure/usage/sums.ts'
import { textList } from '../../store/literal.ts'
import type { Asked } from '../api/asked.ts'
import { comparedWith } from './before.ts'
import { knownOf } from './known.ts'
import { rowsCutAt, within } from './rows.ts'
import { readFigures } from './sums.ts'

/** What a name used before a period. */
export interface Before {
  /** In the period that this one is compared with; null if nothing is of it. */
  readonly sums: Pick<Sums, 'requests' | 'requestsUnknown' | 'amounts'> | null
  /** Whether it was never used before. */
  readonly isNew: boolean
}

/**
 * What names used in the period before, by one query, and by another where one was not used then: it may be new. Null if that period is no measure.
 *
 * @param nameSql of the names
 * @param condition SQL of the filters
 */
export async function readBefore(
  asked: Asked,
  nameSql: string,
  period: Period,
  condition: string,
  names: readonly (string | null)[],
): Promise<((name: string | null) => Before) | null> {
  const before = comparedWith(period, await knownOf(asked))
  if (before === null || names.length === 0) return null
  const rows = await readFigures<{ readonly name: string | null }, 'requests' | 'requestsUnknown'>(
    asked,
    ['requests', 'requestsUnknown'],
    {
      ...within(asked, before, `(${condition}) AND ${oneOfSql(nameSql, names)}`),
      by: { name: nameSql },
    },
  )
  const then = new Map(rows.map((row) => [row.name, row]))
  // A refund is no use.
  const isUsed = (name: string | null) => {
    const row = then.get(name)
    return row !== undefined && requestsOf(row) !== 0
  }
  const others = names.filter((name) => name !== null && !isUsed(name))
  const known = new Set(await usedBefore(asked, nameSql, period.fromUs, condition, others))
  return (name) => ({
    sums: then.get(name) ?? null,
    isNew: name !== null && !isUsed(name) && !known.has(name),
  })
}

/** Those of some names that were ever used before a time. */
async function usedBefore(
  asked: Asked,
  nameSql: string,
  beforeUs: number,
  condition: string,
  names: readonly (string | null)[],
): Promise<readonly string[]> {
  if (names.length === 0) return []
  const where = `first_us < ${beforeUs} AND (requests > 0 OR requests_unknown > 0) AND (${condition}) AND ${oneOfSql(nameSql, names)}`
  const rows = await asked.session.rows<{ readonly name: string }>(
    `SELECT DISTINCT ${nameSql} AS name FROM ${rowsCutAt(asked, [beforeUs])(`${nameSql} ${where}`)} WHERE ${where}`,
  )
  return rows.map(({ name }) => name)
}

/** A list of many is joined, and not searched for each row. */
function oneOfSql(nameSql: string, names: readonly (string | null)[]): string {
  const known = names.filter((name) => name !== null)
  const isIn = `${nameSql} IN (SELECT unnest(${textList(known)}))`
  return known.length < names.length ? `(${nameSql} IS NULL OR ${isIn})` : isIn
}
