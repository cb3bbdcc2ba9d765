import type { Currency } from '../../../money/money.ts'
import { add, isZero, larger, powerOfTen, subtract, zero } from '../../../money/rational.ts'
import { isWithin, unitOf } from '../../../price/judge/tolerance.ts'
import { type Amount, amountOf } from '../../evidence/prices/answer-json.ts'
import type { LogRow } from '../../evidence/prices/log.ts'

/**
 * Rows of a log that charge something and belong to no request, without its totals and the payments of its payer. A row that names
 * neither a model nor tokens may be a fee.
 *
 * @param strays rows without a request
 * @param joined rows with one
 */
export function strayCharges(
  strays: readonly LogRow[],
  joined: readonly LogRow[],
  currency: Currency,
): {
  readonly charges: readonly LogRow[]
  readonly fees: readonly LogRow[]
  /** Those with a cost that nobody can read: they may charge something, or nothing. */
  readonly unreadable: readonly LogRow[]
} {
  const isTotal = totalIn([...joined, ...strays], currency)
  const charging = strays.filter((row) => row.cost !== null && !isZero(row.cost.value))
  const others = charging.filter((row) => !isTotal(row, [row.cost!]) && !isPayment(row))
  const { true: fees = [], false: charges = [] } = Object.groupBy(others, (row) =>
    String(isOfNoRequest(row)),
  )
  const unreadable = strays.filter(
    (row) => row.unreadable !== null && !isTotal(row, amountsIn(row.unreadable)),
  )
  return { charges, fees, unreadable }
}

/** What a written amount may be: `$1,499.00` is one with a mark of thousands, and `1.499` is one with or without. */
function amountsIn(text: string): readonly Amount[] {
  const written = /^[^\d-]*(-?\d[\d.,'’\s]*)\D*$/u.exec(text)?.[1]?.trim() ?? ''
  return [written.replace(/[,'’\s]/g, ''), written.replace(/[.'’\s]/g, '').replace(',', '.')]
    .map(amountOf)
    .filter((amount) => amount !== null)
}

/** Whether a row has the sum of all others, as the last line of an export has it, and names neither a model nor a time. */
function totalIn(
  all: readonly LogRow[],
  currency: Currency,
): (row: LogRow, amounts: readonly Amount[]) => boolean {
  const costs = all.flatMap(({ cost }) => cost ?? [])
  const sum = costs.reduce((total, { value }) => add(total, value), zero)
  const unit = unitOf(costs, currency)
  const sumOf = (name: 'prompt' | 'completion') =>
    all.reduce((total, { tokens }) => total + (tokens[name] ?? 0), 0)
  const sums = { prompt: sumOf('prompt'), completion: sumOf('completion') }
  return ({ models, atMs, cost, tokens }, amounts) => {
    if (models.length > 0 || atMs !== null) return false
    const hasSumOf = (name: 'prompt' | 'completion') =>
      tokens[name] === null || 2 * tokens[name] === sums[name]
    const others = cost === null ? sum : subtract(sum, cost.value)
    const isSum = ({ value, decimals }: Amount) =>
      // A total for the eye is rounded to its own decimals.
      isWithin(value, others, cost === null ? larger(unit, powerOfTen(-decimals)) : unit, null)
    return amounts.some(isSum) && hasSumOf('prompt') && hasSumOf('completion')
  }
}

const isPayment = (row: LogRow) => isOfNoRequest(row) && row.cost!.value.numerator < 0n

const isOfNoRequest = ({ models, tokens }: LogRow) =>
  models.length === 0 && !tokens.prompt && !tokens.completion
