import {
  absolute,
  add,
  compare,
  isZero,
  multiply,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../money/rational.ts'
import { eachKind, type KindCounts, tokenNames } from '../../tokens/kinds.ts'
import { lookup } from '../../user/lookup.ts'

/** Why a bill differs from what the contract gives for the log, in the order in which they are looked for. */
export const causes = [
  'missing',
  'tokens',
  'price',
  'tier or discount',
  'rounding',
  'tax',
  'credit',
  'fee',
  'late',
  'unexplained',
] as const
export type Cause = (typeof causes)[number]

interface Line {
  readonly id: string | null
  /** UTC. */
  readonly day: string
  readonly model: string
  readonly account: string | null
}

/** A line of a bill. */
export interface BillLine extends Line {
  /** `usage`, or what it is beside use: `tax`, `credit`, `discount`, `fee` … */
  readonly type: string
  readonly amount: Rational
  /** Null if the bill does not say it. */
  readonly requests: number | null
  readonly counts: KindCounts | null
}

/** A request of the own log. */
export interface LogLine extends Line {
  readonly counts: KindCounts | null
  /** What the log says that it cost; null if it does not. */
  readonly logged: Rational | null
  /** What the contract gives; null if that is not known. */
  readonly expected: Rational | null
}

/** What explains an amount that is not the expected one. */
export interface Explained {
  readonly cause: 'price' | 'tier or discount'
  readonly summary: string
}

export interface Pricing {
  /** The cost of other tokens than a line of the log has, or of the sum of lines; null if that is not known. */
  costOf(counts: KindCounts, like: Line, requests: number): Rational | null
  /** The single change to the prices that gives an amount exactly. */
  explain(amount: Rational, counts: KindCounts, like: Line, requests: number): Explained | null
  /** Takes note of an amount that is right: a change that would have moved it explains others only if no other change does. */
  keepRight(counts: KindCounts, like: Line): void
  /** The smallest unit that the bill shows. */
  readonly unit: Rational
}

export interface Cell {
  readonly day: string
  readonly model: string
  readonly account: string | null
  /** All that the bill charges, with what is no use. */
  readonly bill: Rational
  /** Null if no line of the log has a cost. */
  readonly logged: Rational | null
  /** Null if the log has lines, and the contract says the cost of none. */
  readonly expected: Rational | null
  /** Lines of the log whose cost the contract does not say: they are in no sum. */
  readonly unknown: number
  /** bill - expected, as far as that is known: the sum of the causes. */
  readonly difference: Rational
  readonly causes: Readonly<Partial<Record<Cause, Rational>>>
  /** What the causes are, in words, with the ids of some requests. */
  readonly notes: readonly string[]
}

export interface Reconciliation {
  readonly joinedBy: 'id' | 'day and model'
  readonly cells: readonly Cell[]
}

class OpenCell {
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

/** Lines of a bill and of a log. All lines of one id are in one part, so that one part at a time is in memory. */
export interface Part {
  readonly bill: readonly BillLine[]
  readonly log: readonly LogLine[]
}

/** {@link reconcileParts} of lines that are in memory. */
export const reconcile = (
  bill: readonly BillLine[],
  log: readonly LogLine[],
  pricing: Pricing,
): Reconciliation => reconcileParts([{ bill, log }], pricing)

/**
 * Lays a bill beside the own log and the contract, by day, model and account. The causes of a difference are disjoint, and add
 * up to it exactly. Requests are joined by their ids if the two have any in common, else by day and model.
 *
 * Accounts tell cells apart only if both sides name one in common.
 *
 * @param parts are read twice
 */
export function reconcileParts(parts: Iterable<Part>, pricing: Pricing): Reconciliation {
  const { isById, byAccount } = inCommon(parts)
  const cells = new Map<string, OpenCell>()
  const cellOf = (line: Line): OpenCell => {
    const account = byAccount ? line.account : null
    const key = JSON.stringify([line.day, line.model, account])
    const cell = cells.get(key) ?? new OpenCell({ ...line, account })
    cells.set(key, cell)
    return cell
  }
  for (const { bill, log } of parts) {
    for (const line of bill) addBilled(cellOf(line), line)
    for (const line of log) addLogged(cellOf(line), line)
    const used = bill.filter(({ type }) => type === 'usage')
    if (isById) joinById(used, log, pricing, cellOf)
  }
  if (!isById) joinByCell([...cells.values()], pricing)
  return {
    joinedBy: isById ? 'id' : 'day and model',
    cells: [...cells.values()].map(closed).toSorted(byPlace),
  }
}

/** What both sides name: an id of use, an account. */
function inCommon(parts: Iterable<Part>): {
  readonly isById: boolean
  readonly byAccount: boolean
} {
  let isById = false
  const [billed, logged] = [new Set<string | null>(), new Set<string | null>()]
  for (const { bill, log } of parts) {
    for (const { account } of bill) billed.add(account)
    for (const { account } of log) logged.add(account)
    if (isById) continue
    const ids = new Set(log.map(({ id }) => id))
    isById = bill.some(({ id, type }) => type === 'usage' && id !== null && ids.has(id))
  }
  const byAccount = [...billed].some((account) => account !== null && logged.has(account))
  return { isById, byAccount }
}

function addBilled(cell: OpenCell, line: BillLine): void {
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

function addLogged(cell: OpenCell, line: LogLine): void {
  cell.logLines++
  cell.counted = plus(cell.counted, line.counts)
  if (line.logged !== null) cell.logged = add(cell.logged ?? zero, line.logged)
  if (line.expected === null) cell.unknown++
  else cell.expected = add(cell.expected, line.expected)
}

const byPlace = (a: Cell, b: Cell) =>
  a.day < b.day ? -1 : a.day > b.day ? 1 : a.model < b.model ? -1 : a.model > b.model ? 1 : 0

function closed(cell: OpenCell): Cell {
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

function joinById(
  bill: readonly BillLine[],
  log: readonly LogLine[],
  pricing: Pricing,
  cellOf: (line: Line) => OpenCell,
): void {
  const open = new Map<string, LogLine[]>()
  for (const line of log) {
    if (line.id === null) continue
    const lines = open.get(line.id)
    if (lines === undefined) open.set(line.id, [line])
    else lines.push(line)
  }
  const known = new Set(open.keys())
  for (const billed of bill) {
    const logged = billed.id === null ? undefined : open.get(billed.id)?.shift()
    if (logged === undefined) {
      const isTwice = billed.id !== null && known.has(billed.id)
      const why = isTwice ? 'twice in the bill' : 'not in the log'
      cellOf(billed).give(
        'missing',
        billed.amount,
        `${billed.id ?? 'a line without an id'}: ${why}`,
      )
      continue
    }
    const [there, here] = [cellOf(billed), cellOf(logged)]
    if (there !== here) {
      // The same amount at both places: what is left is judged at that of the request.
      const isLate = billed.day !== logged.day
      const note = isLate
        ? `${billed.id}: of ${logged.day}, booked on ${billed.day}`
        : `${billed.id}: ${logged.model} in the log, billed as ${billed.model}`
      there.give(isLate ? 'late' : 'price', billed.amount, note)
      here.give(isLate ? 'late' : 'price', subtract(zero, billed.amount), note)
    }
    if (logged.expected === null) {
      here.give('unexplained', billed.amount, `${logged.id}: cost unknown`)
      continue
    }
    judge(here, billed.amount, logged.expected, billed.counts, logged.counts, logged, 1, pricing)
  }
  for (const [id, lines] of open) {
    for (const line of lines) {
      if (line.expected !== null) {
        cellOf(line).give('missing', subtract(zero, line.expected), `${id}: not in the bill`)
      }
    }
  }
}

/** Gives the difference of one amount, or one sum, to its causes. */
function judge(
  cell: OpenCell,
  amount: Rational,
  expected: Rational,
  billed: KindCounts | null,
  counted: KindCounts | null,
  like: LogLine | Line,
  requests: number,
  pricing: Pricing,
): void {
  const named = 'id' in like && like.id !== null ? `${like.id}: ` : ''
  let right = expected
  let counts = counted
  if (billed !== null && counted !== null && differ(billed, counted)) {
    counts = filled(billed, counted)
    const cost = pricing.costOf(counts, like, requests)
    if (cost !== null) {
      const isCounted = cell.requests !== null && requests > 1 && cell.requests !== requests
      cell.give(
        isCounted ? 'missing' : 'tokens',
        subtract(cost, expected),
        `${named}${countsText(billed, counted)}`,
      )
      right = cost
    }
  }
  const apart = subtract(amount, right)
  if (isZero(apart)) {
    if (counts !== null) pricing.keepRight(counts, like)
    return
  }
  const half = multiply(pricing.unit, rational(BigInt(Math.max(1, requests)), 2n))
  if (compare(absolute(apart), half) <= 0) {
    cell.give('rounding', apart)
    return
  }
  const explained = counts === null ? null : pricing.explain(amount, counts, like, requests)
  if (explained === null) cell.give('unexplained', apart, `${named}no single change gives it`)
  else cell.give(explained.cause, apart, explained.summary)
}

function joinByCell(cells: readonly OpenCell[], pricing: Pricing): void {
  const late = lateOf(cells)
  const isRight = ({ used, expected }: OpenCell) => isZero(subtract(used, expected))
  // Right ones first: they contradict what may explain the others.
  for (const cell of cells.toSorted((a, b) => Number(isRight(b)) - Number(isRight(a)))) {
    const apart = subtract(cell.used, cell.expected)
    const moved = late.get(cell)
    if (moved !== undefined) cell.give('late', apart, moved)
    else if (cell.billLines === 0) cell.give('missing', apart, 'not in the bill')
    else if (cell.logLines === 0) cell.give('missing', apart, 'not in the log')
    else if (cell.unknown === 0) {
      const { used, expected, billed, counted, line, logLines } = cell
      judge(cell, used, expected, billed, counted, { ...line, id: null }, logLines, pricing)
    }
  }
}

/** Use of a day that is booked on the next: what one day lacks, the next has too much, to the last digit. */
function lateOf(cells: readonly OpenCell[]): ReadonlyMap<OpenCell, string> {
  const late = new Map<OpenCell, string>()
  const series = Map.groupBy(cells, ({ line }) => JSON.stringify([line.model, line.account]))
  for (const each of series.values()) {
    const days = new Map(each.map((cell) => [cell.line.day, cell]))
    for (const cell of each.toSorted((a, b) => (a.line.day < b.line.day ? -1 : 1))) {
      const next = days.get(dayAfter(cell.line.day))
      if (next === undefined || late.has(cell)) continue
      const [here, there] = [subtract(cell.used, cell.expected), subtract(next.used, next.expected)]
      if (here.numerator >= 0n || !isZero(add(here, there))) continue
      late.set(cell, `booked on ${next.line.day}`)
      late.set(next, `of ${cell.line.day}`)
    }
  }
  return late
}

const dayAfter = (day: string) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400e3).toISOString().slice(0, 10)

/** The sum of counts. A kind that one side does not state is not known only if no line states it. */
function plus(a: KindCounts | null, b: KindCounts | null): KindCounts | null {
  if (a === null || b === null) return a ?? b
  return eachKind((kind) =>
    a[kind] === null && b[kind] === null ? null : (a[kind] ?? 0) + (b[kind] ?? 0),
  )
}

/** Whether a kind that both state differs. */
const differ = (a: KindCounts, b: KindCounts) =>
  tokenNames.some((kind) => a[kind] !== null && b[kind] !== null && a[kind] !== b[kind])

/** The counts of the bill, and those of the log where the bill states none. */
const filled = (billed: KindCounts, counted: KindCounts) =>
  eachKind((kind) => billed[kind] ?? counted[kind])

const countsText = (a: KindCounts, b: KindCounts) =>
  tokenNames
    .filter((kind) => a[kind] !== null && b[kind] !== null && a[kind] !== b[kind])
    .map((kind) => `${kind} ${a[kind]} in the bill, ${b[kind]} in the log`)
    .join(', ')
