import { type Cause, type Cell, causes, type Reconciliation } from '../../audit/reconcile/lines.ts'
import { add, decimalText, isZero, type Rational, roundTo, zero } from '../../money/rational.ts'

/** A bill beside the log and the contract, with the unit of its amounts. */
export interface Reconciled extends Reconciliation {
  readonly unit: string
  /** Lines of the bill that state no amount: they are in no sum. */
  readonly withoutAmount: number
  /** What a reader must know of the bill: lines of other services, lines without a model. */
  readonly billNotes: readonly string[]
}

/** Causes that no side disputes: they add up, but accuse nobody. */
const agreed: readonly Cause[] = ['rounding', 'tax', 'credit', 'fee', 'late']
export const isDisputed = (cause: Cause): boolean => !agreed.includes(cause)

/** Sums of cells. */
export interface CellSums
  extends Pick<Cell, 'bill' | 'logged' | 'expected' | 'difference' | 'unknown'> {
  readonly causes: readonly { readonly cause: Cause; readonly amount: Rational }[]
}

export function sumsOf(cells: readonly Cell[]): CellSums {
  const sum = (of: (cell: Cell) => Rational | null | undefined) =>
    cells.reduce((all, cell) => add(all, of(cell) ?? zero), zero)
  const isUnknown =
    cells.some(({ expected }) => expected === null) &&
    cells.every(({ expected }) => expected === null || isZero(expected))
  return {
    bill: sum((cell) => cell.bill),
    logged: cells.every(({ logged }) => logged === null) ? null : sum((cell) => cell.logged),
    expected: isUnknown ? null : sum((cell) => cell.expected),
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

/** The two sides in one sentence. What nobody states is unknown, and not 0. */
export function sidesText({ bill, expected }: CellSums, unit: string): string {
  const contract =
    expected === null
      ? 'by the contract, the cost of the log is unknown'
      : `by the contract, the log is ${shownExact(expected)} ${unit}`
  return `The bill is ${shownExact(bill)} ${unit}; ${contract}.`
}

/** Sentences on the lines that are in no sum. */
export function unknownTexts(unknown: number, withoutAmount: number): readonly string[] {
  const lines = (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`
  return [
    ...(unknown === 0
      ? []
      : [
          `Of ${lines(unknown)} of the log the cost is unknown: no sum of the contract has ${unknown === 1 ? 'it' : 'them'}.`,
        ]),
    ...(withoutAmount === 0
      ? []
      : [
          `Of ${lines(withoutAmount)} of the bill the amount is unknown: no sum of the bill has ${withoutAmount === 1 ? 'it' : 'them'}.`,
        ]),
  ]
}

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
