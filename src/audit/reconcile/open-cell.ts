import { add, isZero, type Rational, subtract, zero } from '../../money/rational.ts'
import { eachKind, type KindCounts } from '../../tokens/kinds.ts'
import { lookup } from '../../user/lookup.ts'
import { type BillLine, type Cause, type Cell, causes, type Line, type LogLine } from './lines.ts'

/** A day of a model, while its lines are read. */
export class OpenCell {
  bill = zero
  used = zero
  logged: Rational | null = null
  expected = zero
  unknown = 0
  billLines = 0
  logLines = 0
  requests: number | null = null
  billed: KindCounts | null = null
  counted: KindCounts | null = null
  readonly causes = new Map<Cause, Rational>()
  readonly notes = new Set<string>()
  readonly line: Line

  constructor(line: Line) {
    this.line = line
  }

  give(cause: Cause, amount: Rational, note?: string): void {
    if (isZero(amount)) return
    this.causes.set(cause, add(this.causes.get(cause) ?? zero, amount))
    if (note !== undefined && this.notes.size < 6) this.notes.add(note)
  }
}

const beside: Readonly<Record<string, Cause>> = lookup({
  tax: 'tax',
  credit: 'credit',
  refund: 'credit',
  correction: 'credit',
  adjustment: 'credit',
  discount: 'tier or discount',
  purchase: 'fee',
  fee: 'fee',
})

export function addBilled(cell: OpenCell, line: BillLine): void {
  cell.bill = add(cell.bill, line.amount)
  if (line.type === 'usage') {
    cell.used = add(cell.used, line.amount)
    cell.billLines++
    cell.billed = plus(cell.billed, line.counts)
    if (line.requests !== null) cell.requests = (cell.requests ?? 0) + line.requests
    return
  }
  const cause = beside[line.type] ?? 'unexplained'
  if (cause === line.type) cell.give(cause, line.amount)
  else cell.give(cause, line.amount, line.type)
}

export function addLogged(cell: OpenCell, line: LogLine): void {
  cell.logLines++
  cell.counted = plus(cell.counted, line.counts)
  if (line.logged !== null) cell.logged = add(cell.logged ?? zero, line.logged)
  if (line.expected === null) cell.unknown++
  else cell.expected = add(cell.expected, line.expected)
}

/** The sum of counts. A kind that one side does not state is not known only if no line states it. */
function plus(a: KindCounts | null, b: KindCounts | null): KindCounts | null {
  if (a === null || b === null) return a ?? b
  return eachKind((kind) =>
    a[kind] === null && b[kind] === null ? null : (a[kind] ?? 0) + (b[kind] ?? 0),
  )
}

export function closed(cell: OpenCell): Cell {
  const { day, model, account } = cell.line
  if (cell.unknown > 0) {
    cell.notes.add(
      `${cell.unknown} ${cell.unknown === 1 ? 'line' : 'lines'} of the log: cost unknown`,
    )
  }
  const difference = subtract(cell.bill, cell.expected)
  const told = [...cell.causes.values()].reduce(add, zero)
  cell.give('unexplained', subtract(difference, told))
  return {
    day,
    model,
    account,
    bill: cell.bill,
    logged: cell.logged,
    expected: cell.unknown > 0 && cell.unknown === cell.logLines ? null : cell.expected,
    unknown: cell.unknown,
    difference,
    notes: [...cell.notes],
    causes: Object.fromEntries(
      causes.flatMap((cause) => {
        const amount = cell.causes.get(cause)
        return amount === undefined || isZero(amount) ? [] : [[cause, amount] as const]
      }),
    ),
  }
}
