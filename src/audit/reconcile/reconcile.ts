import { add, isZero, subtract, zero } from '../../money/rational.ts'
import { judgeAmount } from './judge-amount.ts'
import type { BillLine, Cell, Line, LogLine, Part, Pricing, Reconciliation } from './lines.ts'
import { addBilled, addLogged, closed, OpenCell } from './open-cell.ts'

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

const byPlace = (a: Cell, b: Cell) =>
  a.day < b.day ? -1 : a.day > b.day ? 1 : a.model < b.model ? -1 : a.model > b.model ? 1 : 0

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
    judgeAmount(
      here,
      billed.amount,
      logged.expected,
      billed.counts,
      logged.counts,
      logged,
      1,
      pricing,
    )
  }
  for (const [id, lines] of open) {
    for (const line of lines) {
      if (line.expected !== null) {
        cellOf(line).give('missing', subtract(zero, line.expected), `${id}: not in the bill`)
      }
    }
  }
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
      judgeAmount(cell, used, expected, billed, counted, { ...line, id: null }, logLines, pricing)
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
