import { existsSync, readFileSync } from 'node:fs'
import { type ReconcileFiles, reconcileFiles } from '../../audit/reconcile/read-bill.ts'
import { type Cause, type Cell, causes } from '../../audit/reconcile/reconcile.ts'
import { loadContract } from '../../contract/load.ts'
import { add, decimalText, type Rational, roundTo, zero } from '../../money/rational.ts'
import { parseMapping } from '../../public/import.ts'
import { jsonText, markdownCell, printable } from '../../report/summary/printable.ts'
import { UserError } from '../../user/user-error.ts'
import type { ReconcileOptions } from '../commands/usage.ts'
import { exit } from '../terminal/exit.ts'

/** `assay usage reconcile`: exits with 3 if the bill differs from the contract by more than tax, credits and rounding. */
export async function reconcileAction(options: ReconcileOptions): Promise<void> {
  if (options.contract === undefined) {
    throw new UserError(
      'usage',
      'usage reconcile: expected --contract FILE with prices (docs/prices.md).',
    )
  }
  const map = options.billMap
  if (map !== undefined && !existsSync(map))
    throw new UserError('usage', `--bill-map ${map}: no such file`)
  const files: ReconcileFiles = {
    ...{ bill: options.bill, log: options.log, contract: loadContract(options.contract) },
    ...(map === undefined ? {} : { billMap: parseMapping(readFileSync(map, 'utf8'), map) }),
  }
  const { cells, unit, joinedBy } = await reconcileFiles(files)
  const format = options.json === true ? 'json' : options.format
  const all = { cells, unit, joinedBy, sums: sumsOf(cells) }
  process.stdout.write(format === 'json' ? jsonOf(all) : tableOf(all, format === 'md'))
  const agreed: readonly Cause[] = ['rounding', 'tax', 'credit', 'fee', 'late']
  const isBroken = causes.some(
    (cause) => !agreed.includes(cause) && cells.some((cell) => cell.causes[cause] !== undefined),
  )
  process.exitCode = isBroken ? exit.failed : exit.ok
}

interface Reconciled {
  readonly cells: readonly Cell[]
  readonly unit: string
  readonly joinedBy: string
  readonly sums: ReturnType<typeof sumsOf>
}

function sumsOf(cells: readonly Cell[]) {
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

const exact = (value: Rational | null) => (value === null ? null : decimalText(value))

function jsonOf({ cells, unit, joinedBy, sums }: Reconciled): string {
  const causesOf = (of: Cell['causes']) =>
    Object.fromEntries(Object.entries(of).map(([cause, amount]) => [cause, exact(amount)]))
  return `${jsonText({
    ...{ unit, joinedBy, bill: exact(sums.bill), logged: exact(sums.logged) },
    ...{ expected: exact(sums.expected), difference: exact(sums.difference) },
    costUnknown: sums.unknown,
    causes: Object.fromEntries(sums.causes.map(({ cause, amount }) => [cause, exact(amount)])),
    cells: cells.map((cell) => ({
      ...{ day: cell.day, model: cell.model, account: cell.account, bill: exact(cell.bill) },
      ...{ logged: exact(cell.logged), expected: exact(cell.expected), costUnknown: cell.unknown },
      ...{ difference: exact(cell.difference), causes: causesOf(cell.causes), notes: cell.notes },
    })),
  })}\n`
}

/** An amount with at most 12 decimals, as far as it has them. */
const amount = (value: Rational | null) => {
  if (value === null) return '-'
  const text = decimalText(value)
  return (text.split('.')[1]?.length ?? 0) <= 12
    ? text
    : `${decimalText(roundTo(value, 12, 'half_even'))}…`
}

function tableOf({ cells, unit, joinedBy, sums }: Reconciled, isMarkdown: boolean): string {
  const head = ['day', 'model', 'account', 'bill', 'log', 'contract', 'difference', 'causes']
  const rows = cells.map((cell) => [
    cell.day,
    cell.model === '' ? '(none)' : cell.model,
    cell.account ?? '',
    amount(cell.bill),
    amount(cell.logged),
    amount(cell.expected),
    amount(cell.difference),
    Object.entries(cell.causes)
      .map(([cause, value]) => `${cause} ${amount(value)}`)
      .join(', '),
  ])
  const total = [
    'all',
    '',
    '',
    amount(sums.bill),
    amount(sums.logged),
    amount(sums.expected),
    amount(sums.difference),
    '',
  ]
  const notes = cells.flatMap(({ day, model, notes }) =>
    notes.map((note) => `${day} ${model}: ${note}`),
  )
  const unknown =
    sums.unknown === 0
      ? []
      : [
          `Of ${sums.unknown} lines of the log the cost is unknown: they are in no sum of the contract.`,
        ]
  const lines = [
    `The bill is ${amount(sums.bill)} ${unit}; by the contract, the log is ${amount(sums.expected)} ${unit}. The difference is ${amount(sums.difference)} ${unit}:`,
    ...sums.causes.map(
      ({ cause, amount: value }) => `  ${cause.padEnd(18)} ${amount(value)} ${unit}`,
    ),
    ...(sums.causes.length === 0 ? ['  none'] : []),
    ...unknown,
    `Joined by ${joinedBy}.`,
    '',
  ]
  const table = isMarkdown
    ? markdownTable(head, [...rows, total])
    : textTable(head, [...rows, total])
  const shown = notes
    .slice(0, 40)
    .map((note) => (isMarkdown ? `- ${markdownCell(note, 200)}` : `  ${printable(note, 200)}`))
  const more = notes.length > 40 ? [`and ${notes.length - 40} more; --json has all`] : []
  return `${[...lines, ...table, ...(notes.length === 0 ? [] : ['', 'What the causes are:']), ...shown, ...more].join('\n')}\n`
}

function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const cells = [head, ...rows.map((row) => row.map((cell) => printable(cell, 60)))]
  const kept = head.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''))
  const width = (at: number) => cells.reduce((most, row) => Math.max(most, row[at]!.length), 0)
  const isNumber = (at: number) => at >= 3 && at <= 6
  return cells.map((row) =>
    kept
      .map((at) => (isNumber(at) ? row[at]!.padStart(width(at)) : row[at]!.padEnd(width(at))))
      .join('  ')
      .trimEnd(),
  )
}

const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]) => [
  `| ${head.join(' | ')} |`,
  `|${head.map((_, at) => (at >= 3 && at <= 6 ? '---:' : '---')).join('|')}|`,
  ...rows.map((row) => `| ${row.map((cell) => markdownCell(cell, 120)).join(' | ')} |`),
]
