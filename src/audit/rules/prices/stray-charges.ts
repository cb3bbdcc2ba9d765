import type { Currency } from '../../../money/money.ts'
import { add, isZero, zero } from '../../../money/rational.ts'
import { isWithin, unitOf } from '../../../price/judge/tolerance.ts'
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
): { readonly charges: readonly LogRow[]; readonly fees: readonly LogRow[] } {
  const all = [...joined, ...strays]
  const charging = strays.filter((row) => row.cost !== null && !isZero(row.cost.value))
  const others = charging.filter((row) => !isTotal(row, all, currency) && !isPayment(row))
  const { true: fees = [], false: charges = [] } = Object.groupBy(others, (row) =>
    String(isOfNoRequest(row)),
  )
  return { charges, fees }
}

/** Whether a row has the sum of all others, as the last line of an export has it, and names neither a model nor a time. */
function isTotal(row: LogRow, all: readonly LogRow[], currency: Currency): boolean {
  if (row.models.length > 0 || row.atMs !== null) return false
  const others = all.filter((each) => each !== row)
  const costs = others.flatMap(({ cost }) => cost ?? [])
  const sum = costs.map(({ value }) => value).reduce(add, zero)
  const hasSumOf = (name: 'prompt' | 'completion') =>
    row.tokens[name] === null ||
    row.tokens[name] === others.reduce((tokens, each) => tokens + (each.tokens[name] ?? 0), 0)
  return (
    isWithin(row.cost!.value, sum, unitOf([...costs, row.cost!], currency), null) &&
    hasSumOf('prompt') &&
    hasSumOf('completion')
  )
}

const isPayment = (row: LogRow) => isOfNoRequest(row) && row.cost!.value.numerator < 0n

const isOfNoRequest = ({ models, tokens }: LogRow) =>
  models.length === 0 && !tokens.prompt && !tokens.completion
