import type { Cause, Cell } from '../../audit/reconcile/lines.ts'
import { absolute, isZero, type Rational } from '../../money/rational.ts'
import { type Html, html } from '../../user/html.ts'
import { renderHeadline } from '../banner.ts'
import { renderDocument } from '../document.ts'
import {
  aligned,
  type CellSums,
  isDisputed,
  isDisputedBill,
  type Reconciled,
  shownExact,
  sidesText,
  sumsOf,
  unknownTexts,
} from './sums.ts'

/** What each cause means, for a reader of the bill. */
const meaning: Readonly<Record<Cause, string>> = {
  missing: 'requests that only one side has, or that the bill has twice',
  tokens: 'the same requests with other counts of tokens',
  price: 'another price than the contract’s',
  'tier or discount': 'another tier, time or discount than the contract’s',
  rounding: 'at most half of the smallest unit of the bill for each request',
  tax: 'the contract has no taxes',
  credit: 'credits, refunds and corrections of the bill',
  fee: 'fees and purchases of the bill',
  late: 'use that the bill books on another day',
  unexplained: 'no single change to the contract gives it',
}

/** A name of at most so many letters stays on one line. */
const shortName = 16

/** Notes of a page; more are in the JSON. */
const mostNotes = 100

/** A bill beside the log and the contract, as a page that opens offline. */
export function reconciliationPage(reconciled: Reconciled): string {
  const { cells, unit, joinedBy, billNotes } = reconciled
  const sums = sumsOf(cells)
  const byAccount = cells.some(({ account }) => account !== null)
  return renderDocument({
    title: 'Bill, log and contract · Assay',
    charts: {},
    body: html`<main class="page">
<header class="masthead"><h1>Bill, log and contract</h1><span class="brand"><b>assay</b></span></header>
<p class="about">${period(cells)}. Amounts are in ${unit}; days are UTC. Requests are joined by ${joinedBy}.</p>
${billNotes.map((note) => html`<p class="about">${note}</p>`)}
${headline(reconciled, sums)}
${causeTable(sums, unit)}
${sumTable(
  'By day',
  'day',
  grouped(cells, ({ day }) => day),
  unit,
)}
${sumTable(
  'By model',
  'model',
  grouped(cells, ({ model }) => model),
  unit,
)}
${
  byAccount &&
  sumTable(
    'By account',
    'account',
    grouped(cells, ({ account }) => account ?? ''),
    unit,
  )
}
${cellTable(cells, unit, byAccount)}
${notes(cells)}
<footer>Made by Assay. A dash means "not stated", never 0.</footer>
</main>`,
  })
}

function period(cells: readonly Cell[]): string {
  const [first, last] = [cells[0]?.day, cells.at(-1)?.day]
  if (first === undefined || last === undefined) return 'No line'
  return first === last ? first : `${first} to ${last}`
}

function headline({ cells, unit, withoutAmount }: Reconciled, sums: CellSums): Html {
  const { difference, expected, unknown } = sums
  const apart = `${shownExact(absolute(difference))} ${unit}`
  const summary =
    expected === null
      ? 'What the contract gives for the log is unknown'
      : isZero(difference)
        ? 'The bill is what the contract gives for the log'
        : `The bill is ${apart} ${difference.numerator > 0n ? 'more' : 'less'} than the contract gives for the log`
  const tone = expected !== null && isDisputedBill(cells) ? 'fail' : 'warn'
  return renderHeadline({
    asks: 'Is the bill right?',
    tone: tone === 'warn' && unknown + withoutAmount === 0 ? 'good' : tone,
    summary,
    because: [sidesText(sums, unit), ...unknownTexts(unknown, withoutAmount)].join(' '),
    checks: [],
  })
}

function causeTable({ causes, difference }: CellSums, unit: string): Html {
  const amounts = aligned([...causes.map(({ amount }) => amount), difference])
  const rows = causes.map(
    ({ cause }, at) =>
      html`<tr><th scope="row">${cause} <span class="pill ${isDisputed(cause) ? 'fail' : 'none'}">${isDisputed(cause) ? 'ask' : 'agreed'}</span></th><td class="num">${amounts[at]}</td><td class="long">${meaning[cause]}</td></tr>`,
  )
  return table(
    'Causes of the difference',
    html`<tr><th scope="col">cause</th><th scope="col" class="num">amount, ${unit}</th><th scope="col">what it is</th></tr>`,
    html`${rows}<tr><th scope="row">difference</th><td class="num">${amounts.at(-1)}</td><td>the sum of the causes</td></tr>`,
  )
}

type Group = readonly [name: string, sums: CellSums]

const grouped = (cells: readonly Cell[], nameOf: (cell: Cell) => string): readonly Group[] =>
  [...Map.groupBy(cells, nameOf)]
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, group]) => [name, sumsOf(group)])

const sides = ['bill', 'logged', 'expected', 'difference'] as const
const sideWords = { bill: 'bill', logged: 'log', expected: 'contract', difference: 'difference' }

/** The cells of the four amounts, row by row. */
function amountCells(rows: readonly Pick<CellSums, (typeof sides)[number]>[]): readonly Html[] {
  const columns = sides.map((side) => aligned(rows.map((row): Rational | null => row[side])))
  return rows.map(
    (_, at) => html`${columns.map((column) => html`<td class="num">${column[at]}</td>`)}`,
  )
}

const amountHeads = (unit: string) =>
  html`${sides.map((side) => html`<th scope="col" class="num">${sideWords[side]}, ${unit}</th>`)}`

const causesText = (causes: CellSums['causes']) =>
  causes.map(({ cause, amount }) => `${cause} ${shownExact(amount)}`).join(', ')

function sumTable(title: string, name: string, groups: readonly Group[], unit: string): Html {
  const cells = amountCells(groups.map(([, sums]) => sums))
  return table(
    title,
    html`<tr><th scope="col">${name}</th>${amountHeads(unit)}<th scope="col">causes</th></tr>`,
    html`${groups.map(
      ([label, { causes }], at) =>
        html`<tr><th scope="row" class="${label.length <= shortName ? 'nowrap' : ''}">${label === '' ? '(none)' : label}</th>${cells[at]}<td class="long">${causesText(causes)}</td></tr>`,
    )}`,
  )
}

function cellTable(cells: readonly Cell[], unit: string, byAccount: boolean): Html {
  const amounts = amountCells(cells)
  return html`<details class="card finding"><summary>Each ${byAccount ? 'day, model and account' : 'day and model'}: ${cells.length} ${cells.length === 1 ? 'row' : 'rows'}</summary>${scrolled(
    'Each day and model',
    html`<tr><th scope="col">day</th><th scope="col">model</th>${byAccount && html`<th scope="col">account</th>`}${amountHeads(unit)}<th scope="col">causes</th></tr>`,
    html`${cells.map(
      (cell, at) =>
        html`<tr><th scope="row" class="nowrap">${cell.day}</th><td>${cell.model === '' ? '(none)' : cell.model}</td>${byAccount && html`<td>${cell.account ?? ''}</td>`}${amounts[at]}<td class="long">${causesText(sumsOf([cell]).causes)}</td></tr>`,
    )}`,
  )}</details>`
}

function notes(cells: readonly Cell[]): Html | false {
  const all = cells.flatMap(({ day, model, notes: said }) =>
    said.map((note) => ({ day, model, note })),
  )
  if (all.length === 0) return false
  const more = all.length - mostNotes
  return html`${table(
    'Requests behind the causes',
    html`<tr><th scope="col">day</th><th scope="col">model</th><th scope="col">what is apart</th></tr>`,
    html`${all
      .slice(0, mostNotes)
      .map(
        ({ day, model, note }) =>
          html`<tr><th scope="row" class="nowrap">${day}</th><td>${model === '' ? '(none)' : model}</td><td class="long">${note}</td></tr>`,
      )}`,
  )}${more > 0 && html`<p class="note">And ${more} more: --format json has all.</p>`}`
}

const table = (title: string, head: Html, rows: Html): Html =>
  html`<section class="card finding"><h3>${title}</h3>${scrolled(title, head, rows)}</section>`

const scrolled = (title: string, head: Html, rows: Html): Html =>
  html`<div class="table-scroll" tabindex="0" role="region" aria-label="${title}"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>`
