import { markdownCell, printable } from '../summary/printable.ts'
import { type Reconciled, shownExact, sidesText, sumsOf, unknownTexts } from './sums.ts'

/** A bill beside the log and the contract, for a terminal. */
export function reconciliationText(reconciled: Reconciled): string {
  const { joinedBy, billNotes } = reconciled
  const [notes, more] = notesOf(reconciled)
  return linesOf(
    headOf(reconciled),
    ...causesOf(reconciled).map(([cause, amount]) => `  ${cause.padEnd(18)} ${amount}`.trimEnd()),
    ...unknownOf(reconciled),
    ...billNotes.map((note) => printable(note, 400)),
    `Joined by ${joinedBy}.`,
    '',
    ...textTable(rowsOf(reconciled)),
    ...(notes.length === 0 ? [] : ['', notesHead]),
    ...notes.map((note) => `  ${printable(note, 200)}`),
    ...more,
  )
}

/** The same as Markdown. */
export function reconciliationMarkdown(reconciled: Reconciled): string {
  const { joinedBy, billNotes } = reconciled
  const [notes, more] = notesOf(reconciled)
  const said = [
    ...unknownOf(reconciled),
    ...billNotes.map((note) => markdownCell(note, 400)),
    `Joined by ${joinedBy}.`,
  ]
  return linesOf(
    headOf(reconciled),
    '',
    ...causesOf(reconciled).map((words) => `- ${words.join(' ').trimEnd()}`),
    ...said.flatMap((sentence) => ['', sentence]),
    '',
    ...markdownTable(rowsOf(reconciled)),
    ...(notes.length === 0 ? [] : ['', notesHead, '']),
    ...notes.map((note) => `- ${markdownCell(note, 200)}`),
    ...more.flatMap((sentence) => ['', sentence]),
  )
}

const linesOf = (...lines: readonly string[]) => `${lines.join('\n')}\n`

const headOf = ({ cells, unit }: Reconciled) => {
  const sums = sumsOf(cells)
  return `${sidesText(sums, unit)} The difference is ${shownExact(sums.difference)} ${unit}:`
}

function causesOf({ cells, unit }: Reconciled): readonly (readonly [string, string])[] {
  const { causes } = sumsOf(cells)
  return causes.length === 0
    ? [['none', '']]
    : causes.map(({ cause, amount }) => [cause, `${shownExact(amount)} ${unit}`])
}

const unknownOf = ({ cells, withoutAmount }: Reconciled) =>
  unknownTexts(sumsOf(cells).unknown, withoutAmount)

const notesHead = 'What the causes are:'
const mostNotes = 40

/** What the causes are, and how many more there are. */
function notesOf({ cells }: Reconciled): readonly [readonly string[], readonly string[]] {
  const notes = cells.flatMap(({ day, model, notes }) =>
    notes.map((note) => `${day} ${modelName(model)}: ${note}`),
  )
  const more = notes.length - mostNotes
  return [notes.slice(0, mostNotes), more > 0 ? [`and ${more} more; --json has all`] : []]
}

const modelName = (model: string) => (model === '' ? '(none)' : model)

const head = ['day', 'model', 'account', 'bill', 'log', 'contract', 'difference', 'causes']
/** The first columns are names, which a service gives; the others are ours, and whole whatever their length. */
const isName = (at: number) => at < 3
const isNumber = (at: number) => at >= 3 && at <= 6

function rowsOf({ cells }: Reconciled): readonly (readonly string[])[] {
  const sums = sumsOf(cells)
  return [
    ...cells.map((cell) => [
      cell.day,
      modelName(cell.model),
      cell.account ?? '',
      ...[cell.bill, cell.logged, cell.expected, cell.difference].map(shownExact),
      Object.entries(cell.causes)
        .map(([cause, value]) => `${cause} ${shownExact(value)}`)
        .join(', '),
    ]),
    [
      ...['all', '', ''],
      ...[sums.bill, sums.logged, sums.expected, sums.difference].map(shownExact),
      '',
    ],
  ]
}

function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = [
    head,
    ...rows.map((row) => row.map((cell, at) => (isName(at) ? printable(cell, 60) : cell))),
  ]
  const kept = head.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''))
  const width = (at: number) => cells.reduce((most, row) => Math.max(most, row[at]!.length), 0)
  return cells.map((row) =>
    kept
      .map((at) => (isNumber(at) ? row[at]!.padStart(width(at)) : row[at]!.padEnd(width(at))))
      .join('  ')
      .trimEnd(),
  )
}

const markdownTable = (rows: readonly (readonly string[])[]) => [
  `| ${head.join(' | ')} |`,
  `|${head.map((_, at) => (isNumber(at) ? '---:' : '---')).join('|')}|`,
  ...rows.map(
    (row) =>
      `| ${row.map((cell, at) => (isName(at) ? markdownCell(cell, 120) : cell)).join(' | ')} |`,
  ),
]
