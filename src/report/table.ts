import { samplesNeeded } from '../measure/percentile.ts'
import { largest, smallest } from '../user/extremes.ts'
import { type Html, html } from '../user/html.ts'
import { formatCell, formatNumber, unitOf, wordsOf } from './format.ts'
import type { ColumnFront, Front } from './front.ts'
import { amountText } from './usage/amount.ts'

export type Row = Readonly<Record<string, unknown>>

/** A cell of more letters is a sentence, which needs a wide column. */
const longText = 24
/** A name of at most this many letters stays on one line. */
const shortText = 16

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'

/**
 * Rows as a table: headings with units, numbers aligned to the right. A figure with too few samples reads "n too
 * small"; an unmeasured one is a dash.
 */
export function renderTable(rows: readonly Row[], front: Front): Html {
  const { fold = 'more', ...rest } = front
  const folded = rows.filter((row) => row.folded === true)
  const shown = rows.filter((row) => row.folded !== true)
  return html`${shown.length > 0 && renderRows(shown, rest)}${
    folded.length > 0 &&
    html`<details><summary>${folded.length} ${fold}</summary>${renderRows(folded, { ...rest, title: `${front.title ?? 'table'}: ${fold}` })}</details>`
  }`
}

function renderRows(rows: readonly Row[], front: Front): Html {
  const told = front.columns ?? {}
  const offered = Object.keys(rows[0] ?? {}).filter(
    (name) =>
      name !== 'folded' &&
      told[name]?.hidden !== true &&
      !(told[name]?.optional === true && rows.every((row) => row[name] === null)),
  )
  // A percentile without enough samples in any row is mentioned once, below the table.
  const scarce = offered.filter((name) => rows.every((row) => tooFew(row, told[name]) !== null))
  const columns = offered.filter((name) => !scarce.includes(name))
  const numeric = new Set(
    columns.filter((name) => rows.every((row) => row[name] === null || isNumber(row[name]))),
  )
  const bounds = new Map(
    columns
      .filter((name) => told[name]?.bar === true)
      .map((name) => [name, largest(rows.map((row) => Number(row[name] ?? 0)))]),
  )
  const summed = columns.some((name) => told[name]?.filter === true)
  const side = (name: string) => {
    if (numeric.has(name)) return 'num'
    const longest = largest(
      rows.map((row) => String(row[name] ?? '').length),
      0,
    )
    return longest > longText ? 'txt long' : longest <= shortText ? 'txt nowrap' : 'txt'
  }
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="${front.title ?? 'table'}"><table><thead>${groupRow(columns, told)}<tr>${columns.map(
    (name) =>
      html`<th scope="col" class="${side(name)}"${told[name]?.filter === true && html` data-filter`}>${heading(name, told[name])}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map((name, at) => {
        const cell = html`${cellOf(name, row, told[name])}${bar(row[name], bounds.get(name))}`
        return at === 0
          ? html`<th scope="row" class="${side(name)}">${cell}</th>`
          : html`<td class="${side(name)}"${summed && isNumber(row[name]) && html` data-value="${String(row[name])}"`}>${cell}</td>`
      })}</tr>`,
  )}</tbody></table></div>${scarce.length > 0 && html`<p class="note">${scarceWords(scarce, told)}</p>`}`
}

function scarceWords(columns: readonly string[], told: Readonly<Record<string, ColumnFront>>) {
  const needed = columns.map((name) => neededBy(told[name]?.needs))
  const isAll = Object.entries(told).every(([name, { needs }]) => !needs || columns.includes(name))
  if (isAll && columns.length > 2)
    return `n too small for any percentile: at least ${smallest(needed)} samples needed.`
  const names = columns.map((name) =>
    [told[name]?.group, told[name]?.label ?? wordsOf(name)].filter(Boolean).join(' '),
  )
  return `n too small for ${names.join(', ')}: up to ${formatNumber(largest(needed))} samples needed.`
}

function heading(name: string, told: ColumnFront | undefined): Html {
  const label = told?.label ?? wordsOf(name)
  const unit = told?.amount ?? unitOf(name)
  return html`${label}${!label.split(' ').includes(unit) && html` <small>${unit}</small>`}`
}

function groupRow(columns: readonly string[], told: Readonly<Record<string, ColumnFront>>): Html {
  const groups: { name: string; span: number }[] = []
  for (const column of columns) {
    const name = told[column]?.group ?? ''
    const last = groups.at(-1)
    if (last?.name === name) last.span += 1
    else groups.push({ name, span: 1 })
  }
  if (groups.length < 2) return html``
  return html`<tr class="groups">${groups.map(({ name, span }) =>
    name === ''
      ? html`<td colspan="${span}"></td>`
      : html`<th scope="colgroup" colspan="${span}">${name}</th>`,
  )}</tr>`
}

const neededBy = (needs: ColumnFront['needs']) =>
  needs === undefined ? 0 : samplesNeeded(Number(needs[0].slice(1)) / 100)

/** The samples of a percentile and those it needs; null if they suffice, or if there are none. */
function tooFew(row: Row, told: ColumnFront | undefined): string | null {
  if (told?.needs === undefined) return null
  const [samples, needed] = [Number(row[told.needs[1]] ?? 0), neededBy(told.needs)]
  return samples > 0 && samples < needed ? `${samples} samples, ${needed} needed` : null
}

function cellOf(name: string, row: Row, told: ColumnFront | undefined): Html {
  const few = tooFew(row, told)
  if (few !== null) return html`<span class="few" title="${few}">n too small</span>`
  const cutOff = told?.at_least === undefined ? null : row[told.at_least]
  const beyond = isNumber(cutOff) && isNumber(row[name]) && Number(row[name]) >= Number(cutOff)
  const isLeast = beyond || (told?.unknown !== undefined && row[told.unknown] === true)
  const value = row[name]
  const text =
    told?.amount !== undefined && isNumber(value)
      ? amountText(String(value), told.amount)
      : formatCell(name, value)
  return html`${isLeast && isNumber(value) && '≥ '}${text}`
}

/** Drawn as SVG: the page's policy forbids a width in a style attribute. */
function bar(value: unknown, most: number | undefined): Html {
  if (most === undefined || !isNumber(value) || most <= 0) return html``
  const width = (100 * Number(value)) / most
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="4"/></svg>`
}
