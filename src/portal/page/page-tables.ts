import { tagOf } from '../../measure/usage/tags.ts'
import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { shownTokens, tokenKinds } from '../../tokens/kinds.ts'
import { type Html, html } from '../../user/html.ts'
import type { NameRow, NamesTable } from '../figures/names.ts'
import type { PageData } from './page.ts'
import type { Speech } from './speech.ts'

const top = 5

/** Models, keys and own dimensions: the first five with their shares, and all of them in a table that adds up. */
export function renderTables(data: PageData, speech: Speech): Html {
  return html`<div class="tops">${data.tables.filter(({ rows }) => rows.length > 0).map((table, at) => renderTable(table, at, data, speech))}</div>`
}

function renderTable(table: NamesTable, place: number, data: PageData, speech: Speech): Html {
  const { by, rows, refunds, total, more } = table
  const { say, number } = speech
  const columns = columnsOf(table, speech)
  const [first] = columns
  const hasRefunds = columns.some(({ refund }) => refund !== null)
  const size = ({ amounts, requests }: NameRow) =>
    first === undefined ? (requests ?? 0) : Number(amounts[first.at] ?? 0)
  const whole = Math.max(
    Number.EPSILON,
    first === undefined
      ? (total.requests ?? 0)
      : Number(withoutRefunds(total.amounts[first.at]!, refunds[first.at]!)),
  )
  const tag = tagOf(by)
  const name = tag ?? say(by === 'model' ? 'table.models' : 'table.keys')
  const unitName = (unit: string) => (unit === 'credits' ? say('chart.credits') : unit)
  // Where amounts are of several units, a reader is told which these are.
  const title =
    first !== undefined && table.units.length > 1 ? `${name} (${unitName(first.unit)})` : name
  const link = (name: string | null) =>
    name === null
      ? html`${say('table.unnamed')}`
      : html`<a href="?${String(new URLSearchParams({ ...Object.fromEntries(data.kept), from: data.from, to: data.to, ...(tag === null ? { [by]: name } : { tag: `${tag}:${name}` }) }))}">${name}</a>`
  const count = (value: number | null) => (value === null ? '–' : number(value))
  const bars = rows.slice(0, top).map((row, at) => {
    const share = Math.max(0, size(row) / whole)
    return html`<li><span class="name">${link(row.name)}</span><span class="num">${first === undefined ? count(row.requests) : first.written[at]} <small>${speech.share(share)}</small></span><span class="bar"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="${(100 * Math.min(1, share)).toFixed(1)}" height="6"></rect></svg></span></li>`
  })
  // A part of the tokens is shown where something reports it.
  const kinds = shownTokens.filter(
    (kind) => tokenKinds[kind].within === null || total.tokens[kind] !== null,
  )
  const heads = [
    tag ?? say(by === 'model' ? 'board.model' : 'board.key'),
    ...columns.map(({ unit }) =>
      unit === 'credits' ? say('chart.credits') : `${say('card.cost')} (${unit})`,
    ),
    ...[say('card.requests'), ...kinds.map((kind) => say(`card.${kind}`)), say('table.failed')],
  ]
  const line = (name: Html | string, row: NameRow, amounts: readonly (string | undefined)[]) =>
    html`<tr><th scope="row" class="txt">${name}</th>${amounts.map((amount) => html`<td class="num">${amount}</td>`)}${[row.requests, ...kinds.map((kind) => row.tokens[kind]), row.failed].map((each) => html`<td class="num">${count(each)}</td>`)}</tr>`
  const body = rows.map((row, at) =>
    line(
      link(row.name),
      row,
      columns.map(({ written }) => written[at]),
    ),
  )
  const refund =
    hasRefunds &&
    html`<tr><th scope="row" class="txt">${say('table.refunds')}</th>${columns.map(({ refund }) => html`<td class="num">${refund ?? '–'}</td>`)}<td colspan="${kinds.length + 2}"></td></tr>`
  const sums = columns.map(({ sum }) => sum)
  return html`<section class="card" id="${`top-${tag === null ? by : `tag-${place}`}`}"><h3>${title}</h3><ol class="top">${bars}</ol><details><summary>${say('table.all', { all: rows.length + more })}</summary><div class="table-scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead><tbody>${body}${refund}</tbody><tfoot>${line(say('table.total'), total, sums)}</tfoot></table></div>${more > 0 && html`<p class="note">${say('table.rest', { more })}</p>`}</details></section>`
}

/** The amounts of a unit as they are written: of each row, of the refunds, and their sum. */
interface Column {
  readonly unit: string
  /** Its place in the units of the table. */
  readonly at: number
  readonly written: readonly string[]
  /** Null without refunds. */
  readonly refund: string | null
  readonly sum: string
}

function columnsOf({ units, rows, refunds, total }: NamesTable, speech: Speech): readonly Column[] {
  return units.flatMap((unit, at) => {
    const all = total.amounts[at]!
    if (all === null) return []
    const { column } = speech.amounts(unit)
    const amounts = rows.map((row) => row.amounts[at]!)
    const refund = refunds[at]!
    const isRefunded = refund !== null && Number(refund) !== 0
    const written = column([...amounts, ...(isRefunded ? [refund] : [])], all)
    return [
      {
        unit,
        at,
        written,
        refund: isRefunded ? written.at(-1)! : null,
        sum: column([...amounts, all], null).at(-1)!,
      },
    ]
  })
}

const withoutRefunds = (used: string, refunds: string | null) =>
  refunds === null ? used : decimalText(subtract(readNumber(used)!, readNumber(refunds)!))

/** The lots of a balance in the order of the settings: held, used and left add up. */
export function renderLots({ credits }: PageData, speech: Speech): Html | false {
  if (credits === null || credits.grants.length === 0) return false
  const { say } = speech
  const { column } = speech.amounts('credits')
  const { grants } = credits
  const of = (pick: (lot: (typeof grants)[number]) => string, total: string | null) =>
    column([...grants.map(pick), total ?? '0'], null)
  const columns = [
    of((lot) => lot.credits, credits.held),
    of((lot) => lot.used, credits.used),
    of((lot) => lot.remaining, credits.remaining),
  ]
  const date = (at: string | null) => (at === null ? '–' : speech.day(Date.parse(at) * 1000))
  const heads = [
    say('lots.name'),
    say('lots.held'),
    say('lots.used'),
    say('lots.left'),
    say('lots.from'),
    say('lots.expires'),
  ]
  const notes = [
    ...(Number(credits.expired ?? 0) > 0
      ? [say('lots.expired', { credits: Number(credits.expired) })]
      : []),
    ...(Number(credits.uncovered ?? 0) > 0
      ? [say('lots.uncovered', { credits: Number(credits.uncovered) })]
      : []),
  ]
  return html`<section class="card whole" id="lots"><h3>${say('lots.title')}</h3><div class="table-scroll" tabindex="0" role="region" aria-label="${say('lots.title')}"><table><thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead><tbody>${credits.grants.map((lot, at) => html`<tr><th scope="row" class="txt">${lot.name}</th>${columns.map((each, place) => html`<td class="num" data-head="${heads[place + 1]}">${each[at]}</td>`)}<td class="num" data-head="${heads[4]}">${date(lot.from)}</td><td class="num" data-head="${heads[5]}">${lot.expires === null ? say('lots.never') : date(lot.expires)}</td></tr>`)}</tbody><tfoot><tr><th scope="row" class="txt">${say('table.total')}</th>${columns.map((each, place) => html`<td class="num" data-head="${heads[place + 1]}">${each.at(-1)}</td>`)}<td></td><td></td></tr></tfoot></table></div>${notes.map((each) => html`<p class="note">${each}</p>`)}</section>`
}
