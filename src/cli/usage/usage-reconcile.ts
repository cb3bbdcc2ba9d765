import { existsSync } from 'node:fs'
import type { Cell } from '../../audit/reconcile/lines.ts'
import { type ReconcileFiles, reconcileFiles } from '../../audit/reconcile/read-bill.ts'
import { sourceNamed } from '../../audit/reconcile/store-lines.ts'
import { loadContract } from '../../contract/load.ts'
import { decimalText, type Rational } from '../../money/rational.ts'
import { parseMapping } from '../../public/import.ts'
import { reconciliationPage } from '../../report/reconcile/page.ts'
import {
  isDisputedBill,
  type Reconciled,
  shownExact,
  sidesText,
  sumsOf,
  unknownTexts,
} from '../../report/reconcile/sums.ts'
import { jsonText, markdownCell, printable } from '../../report/summary/printable.ts'
import { writeOutput } from '../../store/files/output.ts'
import { inStore } from '../../store/session/in-store.ts'
import { readText } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import type { ReconcileOptions } from '../commands/usage.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine } from '../terminal/next.ts'

/** `assay usage reconcile`: exits with 3 if the bill differs from the contract by more than tax, credits and rounding. */
export async function reconcileAction(options: ReconcileOptions): Promise<void> {
  if (options.contract === undefined) {
    throw userError.usage('usage reconcile: expected --contract FILE with prices (docs/prices.md).')
  }
  const map = options.billMap
  if (map !== undefined && !existsSync(map))
    throw userError.usage(`--bill-map ${map}: no such file`)
  const reconciled = await reconcileNamed(options, {
    contract: loadContract(options.contract),
    ...(map === undefined ? {} : { billMap: parseMapping(readText(map), map) }),
  })
  const format = options.json === true ? 'json' : options.format
  const text = texts[format](reconciled)
  if (options.out === undefined) process.stdout.write(text)
  else {
    writeOutput(options.out, text)
    process.stdout.write(`${options.out}\n`)
  }
  const { log, contract } = options
  if (existsSync(log) && (format === 'text' || options.out !== undefined)) {
    process.stdout.write(
      nextLine(
        ['audit', '--log', log, '--alone', '--contract', contract],
        'judges each row of the log by the prices',
      ),
    )
  }
  process.exitCode = isDisputedBill(reconciled.cells) ? exit.failed : exit.ok
}

/** A name is a file if there is one, else a source of the store. */
async function reconcileNamed(
  { bill, log, db }: ReconcileOptions,
  by: Omit<ReconcileFiles, 'bill' | 'log'>,
): Promise<Reconciled> {
  const isFile = (name: string) => existsSync(name) || !existsSync(db)
  if (isFile(bill) && isFile(log)) return reconcileFiles({ ...by, bill, log })
  if (bill === log) {
    throw userError.usage(
      `--bill and --log are both ${bill}: expected a bill and a log of the same requests`,
    )
  }
  return inStore(db, async (store) => {
    const named = (name: string, option: string) =>
      isFile(name) ? name : sourceNamed(store, name, option)
    return await reconcileFiles({
      ...by,
      bill: await named(bill, '--bill'),
      log: await named(log, '--log'),
    })
  })
}

const texts: Readonly<Record<ReconcileOptions['format'], (of: Reconciled) => string>> = {
  text: (of) => tableOf(of, false),
  md: (of) => tableOf(of, true),
  json: jsonOf,
  html: reconciliationPage,
}

const exact = (value: Rational | null) => (value === null ? null : decimalText(value))

function jsonOf({ cells, unit, joinedBy, withoutAmount, billNotes }: Reconciled): string {
  const sums = sumsOf(cells)
  const causesOf = (of: Cell['causes']) =>
    Object.fromEntries(Object.entries(of).map(([cause, amount]) => [cause, exact(amount)]))
  return `${jsonText({
    unit,
    joinedBy,
    bill: exact(sums.bill),
    logged: exact(sums.logged),
    expected: exact(sums.expected),
    difference: exact(sums.difference),
    costUnknown: sums.unknown,
    amountUnknown: withoutAmount,
    billNotes,
    causes: Object.fromEntries(sums.causes.map(({ cause, amount }) => [cause, exact(amount)])),
    cells: cells.map((cell) => ({
      day: cell.day,
      model: cell.model,
      account: cell.account,
      bill: exact(cell.bill),
      logged: exact(cell.logged),
      expected: exact(cell.expected),
      costUnknown: cell.unknown,
      difference: exact(cell.difference),
      causes: causesOf(cell.causes),
      notes: cell.notes,
    })),
  })}\n`
}

function tableOf(
  { cells, unit, joinedBy, withoutAmount, billNotes }: Reconciled,
  isMarkdown: boolean,
): string {
  const sums = sumsOf(cells)
  const head = ['day', 'model', 'account', 'bill', 'log', 'contract', 'difference', 'causes']
  const rows = cells.map((cell) => [
    cell.day,
    cell.model === '' ? '(none)' : cell.model,
    cell.account ?? '',
    shownExact(cell.bill),
    shownExact(cell.logged),
    shownExact(cell.expected),
    shownExact(cell.difference),
    Object.entries(cell.causes)
      .map(([cause, value]) => `${cause} ${shownExact(value)}`)
      .join(', '),
  ])
  const total = [
    'all',
    '',
    '',
    shownExact(sums.bill),
    shownExact(sums.logged),
    shownExact(sums.expected),
    shownExact(sums.difference),
    '',
  ]
  const notes = cells.flatMap(({ day, model, notes }) =>
    notes.map((note) => `${day} ${model}: ${note}`),
  )
  const lines = [
    `${sidesText(sums, unit)} The difference is ${shownExact(sums.difference)} ${unit}:`,
    ...sums.causes.map(
      ({ cause, amount: value }) => `  ${cause.padEnd(18)} ${shownExact(value)} ${unit}`,
    ),
    ...(sums.causes.length === 0 ? ['  none'] : []),
    ...unknownTexts(sums.unknown, withoutAmount),
    ...billNotes.map((note) => (isMarkdown ? markdownCell(note, 400) : printable(note, 400))),
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
