import { existsSync } from 'node:fs'
import type { Cell } from '../../audit/reconcile/lines.ts'
import { type ReconcileFiles, reconcileFiles } from '../../audit/reconcile/read-bill.ts'
import { sourceNamed } from '../../audit/reconcile/store-lines.ts'
import { loadContract } from '../../contract/load.ts'
import { decimalText, type Rational } from '../../money/rational.ts'
import { parseMapping } from '../../public/import.ts'
import { reconciliationPage } from '../../report/reconcile/page.ts'
import { isDisputedBill, type Reconciled, sumsOf } from '../../report/reconcile/sums.ts'
import { reconciliationMarkdown, reconciliationText } from '../../report/reconcile/text.ts'
import { jsonText } from '../../report/summary/printable.ts'
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
  if (bill === log) {
    throw userError.usage(
      `--bill and --log are both ${bill}: expected a bill and a log of the same requests`,
    )
  }
  if (isFile(bill) && isFile(log)) return reconcileFiles({ ...by, bill, log })
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
  text: reconciliationText,
  md: reconciliationMarkdown,
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
