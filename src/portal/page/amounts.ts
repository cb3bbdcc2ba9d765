import type { Period } from '../../measure/usage/calendar.ts'
import type { BoardData } from '../../report/usage/board/data.ts'
import { literal } from '../../store/literal.ts'
import type { Asked } from '../api/asked.ts'
import { Problem } from '../api/problem.ts'
import { type UsedUnit, unitsShown } from '../figures/sums.ts'

/** What amounts are in, and how a customer calls them. */
export interface Amounts {
  readonly unit: string
  /** SQL for the amount of a row, and for its unit. */
  readonly sql: string
  readonly unitSql: string
  readonly money: BoardData['money']
  readonly isMoney: boolean
  /** All units that the token shows amounts of: figures of two are never one. The first is the one of the end of the period. */
  readonly units: readonly UsedUnit[]
}

/**
 * The unit of the page, and its others.
 *
 * @param wanted default: the first of `unitsUsed`
 * @throws Problem 404 for a unit without an amount
 */
export async function amountsOf(
  asked: Asked,
  period: Period,
  wanted: string | null,
): Promise<Amounts> {
  const { view, bearer } = asked
  const { shows } = bearer
  const price = shows.has('cost') ? view.moneyOf('1') : null
  const shown = await unitsShown(asked, period)
  const names = shown.map(({ unit }) => unit)
  if (wanted !== null && !names.includes(wanted)) {
    throw new Problem(404, 'no-such-unit', 'This account has no amounts in such a unit', {
      gone: [wanted],
      hint: names.length === 0 ? 'It has none at all.' : `It has ${names.join(', ')}.`,
    })
  }
  const unit = wanted ?? names[0] ?? 'credits'
  const none = {
    unit,
    sql: 'NULL::DECIMAL(38, 18)',
    unitSql: 'unit',
    money: null,
    isMoney: false,
    units: shown,
  }
  if (shown.length === 0) return none
  if (!shows.has('credits') && unit === price?.currency) {
    const sql = `CASE WHEN unit = 'credits' THEN credits * ${price.value} ELSE credits END`
    const unitSql = `CASE WHEN unit = 'credits' THEN ${literal(unit)} ELSE unit END`
    return { ...none, sql, unitSql, isMoney: true }
  }
  if (unit !== 'credits') return { ...none, sql: 'credits', isMoney: true }
  const money = price === null ? null : { currency: price.currency, perCredit: Number(price.value) }
  return { ...none, sql: 'credits', money }
}
