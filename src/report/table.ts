import { samplesNeeded } from '../measure/percentile.ts'
import { formatCell, unitOf, wordsOf } from './format.ts'
import type { ColumnFront, Front } from './front.ts'
import { type Html, html } from './html.ts'

export type Row = Readonly<Record<string, unknown>>

/** Letters beyond which a cell is a sentence, which needs a line to read well. */
const longText = 24
/** Letters of a name, which stays on one line. */
const shortText = 16

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'

/**
 * Rows as a table: headings with units, numbers to the right and one under another. A figure whose
 * samples are too few reads "n too small"; one that was not measured is a dash.
 */
export function renderTable(rows: readonly Row[], front: Front): Html {
  const told = front.columns ?? {}
  const columns = Object.keys(rows[0] ?? {}).filter((name) => told[name]?.hidden !== true)
  const numeric = new Set(
    columns.filter((name) => rows.every((row) => row[name] === null || isNumber(row[name]))),
  )
  const largest = new Map(
    columns
      .filter((name) => told[name]?.bar === true)
      .map((name) => [name, Math.max(...rows.map((row) => Number(row[name] ?? 0)))]),
  )
  const side = (name: string) => {
    if (numeric.has(name)) return 'num'
    const longest = Math.max(0, ...rows.map((row) => String(row[name] ?? '').length))
    return longest > longText ? 'txt long' : longest <= shortText ? 'txt nowrap' : 'txt'
  }
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="${front.title ?? 'table'}"><table><thead>${groupRow(columns, told)}<tr>${columns.map(
    (name) => html`<th scope="col" class="${side(name)}">${heading(name, told[name])}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map((name, at) => {
        const cell = html`${cellOf(name, row, told[name])}${bar(row[name], largest.get(name))}`
        return at === 0
          ? html`<th scope="row" class="${side(name)}">${cell}</th>`
          : html`<td class="${side(name)}">${cell}</td>`
      })}</tr>`,
  )}</tbody></table></div>`
}

function heading(name: string, told: ColumnFront | undefined): Html {
  const label = told?.label ?? wordsOf(name)
  const unit = unitOf(name)
  return html`${label}${!label.split(' ').includes(unit) && html` <small>${unit}</small>`}`
}

/** The headings above headings, where columns are grouped. */
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

function cellOf(name: string, row: Row, told: ColumnFront | undefined): Html {
  if (told?.needs !== undefined) {
    const [percentile, counted] = told.needs
    const needed = samplesNeeded(Number(percentile.slice(1)) / 100)
    const samples = Number(row[counted] ?? 0)
    if (samples > 0 && samples < needed) {
      return html`<span class="few" title="${samples} samples, ${needed} needed">n too small</span>`
    }
  }
  const cutOff = told?.at_least === undefined ? null : row[told.at_least]
  const beyond = isNumber(cutOff) && isNumber(row[name]) && Number(row[name]) >= Number(cutOff)
  return html`${beyond && '≥ '}${formatCell(name, row[name])}`
}

/** Drawn, since a width in a style attribute is what the page's policy forbids. */
function bar(value: unknown, largest: number | undefined): Html {
  if (largest === undefined || !isNumber(value) || largest <= 0) return html``
  const width = (100 * Number(value)) / largest
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="4"/></svg>`
}
