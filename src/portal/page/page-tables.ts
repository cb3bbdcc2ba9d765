import { tagOf } from '../../measure/usage/tags.ts'
import { shownTokens, tokenKinds } from '../../tokens/kinds.ts'
import { type Html, html } from '../../user/html.ts'
import type { NamesTable } from '../figures/names.ts'
import { against, changeOfName } from './change.ts'
import { columnsOf, countOf, nameIn, type TopName, topNames, whatOf } from './name-columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

const top = 5
/** A longer table is not sent before it is opened. */
const mostSent = 30

/** Models, keys and own dimensions: the first five with their shares, and all of them in a table that adds up. */
export function renderTables(data: PageData, speech: Speech): Html {
  const shown = data.tables.filter(({ rows }) => rows.length > 0)
  return html`<div class="tops">${shown.map((table, at) => renderTable(table, at, data, speech))}</div>`
}

function renderTable(table: NamesTable, place: number, data: PageData, speech: Speech): Html {
  const { by, rows, more } = table
  const { say } = speech
  const tag = tagOf(by)
  const title = titleOf(table, speech)
  const isLater = data.isShort && rows.length > mostSent
  const [column = null] = columnsOf(table, speech)
  const firsts = topNames(table, top, speech).map((each) => ({
    ...each,
    change: changeOfName(each.row, column, data, speech),
  }))
  const isChanged = firsts.some(({ change }) => change !== '')
  return html`<section class="card" id="${tag === null ? `top-${by}` : `top-tag-${place}`}">
<h3>${title}${isChanged && html`<small>${against(say('table.change'), data, speech)}</small>`}</h3>
<ol class="top">${firsts.map((each) => barOf(each, table, data, speech))}</ol>
<details${isLater && html` data-table="${by}"`}><summary>${rows.length > top ? say('table.all', { all: rows.length + more }) : say('table.values')}</summary>
${!isLater && openedTable(table, data, speech)}
</details></section>`
}

/** A whole table, and how many names it has not. */
export function openedTable(table: NamesTable, data: PageData, speech: Speech): Html {
  const { more } = table
  const note = more > 0 && html`<p class="note">${speech.say('table.rest', { more })}</p>`
  return html`${scrolling(titleOf(table, speech), wholeTable(table, data, speech))}${note}`
}

/** The name of a table; where amounts are of several units, with the one that its bars are of. */
function titleOf(table: NamesTable, speech: Speech): string {
  const { say } = speech
  const { by, units } = table
  const tag = tagOf(by)
  const name = tag === null ? say(by === 'model' ? 'table.models' : 'table.keys') : speech.tag(tag)
  const [first] = columnsOf(table, speech)
  if (first === undefined || units.length < 2) return name
  return `${name} (${first.unit === 'credits' ? say('chart.credits') : first.unit})`
}

function barOf(
  { row, written, share, change }: TopName & { readonly change: string },
  table: NamesTable,
  data: PageData,
  speech: Speech,
): Html {
  const width = (100 * Math.min(1, share)).toFixed(1)
  const bar = html`<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="6"></rect></svg>`
  return html`<li><span class="name">${linkTo(row.name, table, data, speech)}</span><span class="num">${written} <small>${[speech.part(share), change].filter(Boolean).join(' · ')}</small></span><span class="bar">${bar}</span></li>`
}

/** A name as a link to its own view. */
function linkTo(name: string | null, table: NamesTable, data: PageData, speech: Speech): Html {
  const { by } = table
  if (name === null) return html`${nameIn(table, name, speech)}`
  const tag = tagOf(by)
  const query = new URLSearchParams({
    ...Object.fromEntries(data.kept),
    ...{ from: data.from, to: data.to },
    ...(tag === null ? { [by]: name } : { tag: `${tag}:${name}` }),
  })
  return html`<a href="?${String(query)}">${name}</a>`
}

/** All names with all their figures, refunds, and the sum. */
function wholeTable(table: NamesTable, data: PageData, speech: Speech): Html {
  const { rows, total } = table
  const { say } = speech
  const columns = columnsOf(table, speech).map((column) => {
    const changes = rows.map((row) => changeOfName(row, column, data, speech))
    return { ...column, changes: changes.some(Boolean) ? changes : null }
  })
  // A part of the tokens is shown where something reports it.
  const kinds = shownTokens.filter(
    (kind) => tokenKinds[kind].within === null || total.tokens[kind] !== null,
  )
  /** Beside each amount its change, if the column has any. */
  const beside = (
    amountOf: (column: (typeof columns)[number]) => string | undefined,
    changeIn: (changes: readonly string[]) => string = () => '',
  ) =>
    columns.flatMap((each) => [
      amountOf(each),
      ...(each.changes === null ? [] : [changeIn(each.changes)]),
    ])
  const heads = [
    whatOf(table, speech),
    ...beside(
      ({ unit }) => (unit === 'credits' ? say('chart.credits') : `${say('card.cost')} (${unit})`),
      () => say('table.change'),
    ),
    ...[say('card.requests'), ...kinds.map((kind) => say(`card.${kind}`)), say('table.failed')],
  ]
  const line = (
    name: Html | string,
    row: NamesTable['total'],
    amounts: readonly (string | undefined)[],
  ) => {
    const counts = [row.requests, ...kinds.map((kind) => row.tokens[kind]), row.failed]
    return rowOf(name, [...amounts, ...counts.map((each) => countOf(each, speech))])
  }
  const body = rows.map((row, at) =>
    line(
      linkTo(row.name, table, data, speech),
      row,
      beside(
        ({ written }) => written[at],
        (changes) => changes[at]!,
      ),
    ),
  )
  const refund =
    columns.some((each) => each.refund !== null) &&
    html`<tr><th scope="row" class="txt">${say('table.refunds')}</th>${beside(({ refund }) => refund ?? '–').map((each) => html`<td class="num">${each}</td>`)}<td colspan="${kinds.length + 2}"></td></tr>`
  const sums = beside(({ sum }) => sum)
  return html`<thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead>
<tbody>${body}${refund}</tbody>
<tfoot>${line(say('table.total'), total, sums)}</tfoot>`
}

function rowOf(name: Html | string, cells: readonly (string | undefined)[]): Html {
  return html`<tr><th scope="row" class="txt">${name}</th>${cells.map((each) => html`<td class="num">${each}</td>`)}</tr>`
}

/** A table that may be wider than its place. */
export function scrolling(label: string, content: Html): Html {
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="${label}"><table>${content}</table></div>`
}
