import {
  type Cause,
  type Cell,
  causes,
  type Reconciliation,
} from '../../audit/reconcile/reconcile.ts'
import { add, decimalText, type Rational, roundTo, zero } from '../../money/rational.ts'

/** A bill beside the log and the contract, with the unit of its amounts. */
export interface Reconciled extends Reconciliation {
  readonly unit: string
}

/** Causes that no side disputes: they add up, but accuse nobody. */
const agreed: readonly Cause[] = ['rounding', 'tax', 'credit', 'fee', 'late']
export const isDisputed = (cause: Cause): boolean => !agreed.includes(cause)

/** Sums of cells. `logged` is null if no line of the log has a cost. */
export interface CellSums {
  readonly bill: Rational
  readonly logged: Rational | null
  readonly expected: Rational
  readonly difference: Rational
  /** Lines of the log whose cost the contract does not say. */
  readonly unknown: number
  readonly causes: readonly { readonly cause: Cause; readonly amount: Rational }[]
}

export function sumsOf(cells: readonly Cell[]): CellSums {
  const sum = (of: (cell: Cell) => Rational | null | undefined) =>
    cells.reduce((all, cell) => add(all, of(cell) ?? zero), zero)
  return {
    bill: sum((cell) => cell.bill),
    logged: cells.every(({ logged }) => logged === null) ? null : sum((cell) => cell.logged),
    expected: sum((cell) => cell.expected),
    difference: sum((cell) => cell.difference),
    unknown: cells.reduce((all, { unknown }) => all + unknown, 0),
    causes: causes.flatMap((cause) => {
      const amount = sum((cell) => cell.causes[cause])
      return cells.some((cell) => cell.causes[cause] !== undefined) ? [{ cause, amount }] : []
    }),
  }
}

export const isDisputedBill = (cells: readonly Cell[]): boolean =>
  causes.some(
    (cause) => isDisputed(cause) && cells.some((cell) => cell.causes[cause] !== undefined),
  )

const mostDecimals = 12

/** An amount with at most 12 decimals, as far as it has them. */
export function shownExact(value: Rational | null): string {
  if (value === null) return '-'
  const text = decimalText(value)
  return (text.split('.')[1]?.length ?? 0) <= mostDecimals
    ? text
    : `${decimalText(roundTo(value, mostDecimals, 'half_even'))}…`
}

/** Amounts with as many decimals as the longest has, so that their points are below each other. */
export function aligned(values: readonly (Rational | null)[]): readonly string[] {
  const texts = values.map(shownExact)
  const decimalsOf = (text: string) => text.replace('…', '').split('.')[1]?.length ?? 0
  const most = texts.reduce((all, text) => Math.max(all, decimalsOf(text)), 0)
  return texts.map((text) => {
    if (text === '-' || text.endsWith('…') || most === 0) return text
    return `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(most - decimalsOf(text))}`
  })
}
