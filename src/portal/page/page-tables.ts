import { shownTokens, tokenKinds } from '../../measure/usage/quantities.ts'
import { tagOf } from '../../measure/usage/tags.ts'
import { decimalText, readNumber, subtract } from '../../money/rational.ts'
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
  const { unit } = data
  const isAmount = unit !== null && total.amount !== null
  const listed = refunds === null || Number(refunds) === 0 ? [] : [refunds]
  const written = isAmount
    ? speech.amounts(unit).column([...rows.map(({ amount }) => amount), ...listed], total.amount)
    : []
  const size = ({ amount, requests }: NameRow) => (isAmount ? Number(amount ?? 0) : (requests ?? 0))
  const whole = Math.max(
    Number.EPSILON,
    isAmount ? Number(withoutRefunds(total.amount!, refunds)) : (total.requests ?? 0),
  )
  const tag = tagOf(by)
  const title = tag ?? say(by === 'model' ? 'table.models' : 'table.keys')
  const link = (name: string | null) =>
    name === null
      ? html`${say('table.unnamed')}`
      : html`<a href="?${String(new URLSearchParams({ ...Object.fromEntries(data.kept), from: data.from, to: data.to, ...(tag === null ? { [by]: name } : { tag: `${tag}:${name}` }) }))}">${name}</a>`
  const count = (value: number | null) => (value === null ? '–' : number(value))
  const bars = rows.slice(0, top).map((row, at) => {
    const share = Math.max(0, size(row) / whole)
    return html`<li><span class="name">${link(row.name)}</span><span class="num">${isAmount ? written[at] : count(row.requests)} <small>${speech.share(share)}</small></span><span class="bar"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="${(100 * Math.min(1, share)).toFixed(1)}" height="6"></rect></svg></span></li>`
  })
  // A part of the tokens is shown where something reports it.
  const kinds = shownTokens.filter(
    (kind) => tokenKinds[kind].within === null || total.tokens[kind] !== null,
  )
  const heads = [
    tag ?? say(by === 'model' ? 'board.model' : 'board.key'),
    ...(isAmount
      ? [unit === 'credits' ? say('chart.credits') : `${say('card.cost')} (${unit})`]
      : []),
    ...[say('card.requests'), ...kinds.map((kind) => say(`card.${kind}`)), say('table.failed')],
  ]
  const line = (name: Html | string, row: NameRow, amount: string | undefined) =>
    html`<tr><th scope="row" class="txt">${name}</th>${isAmount && html`<td class="num">${amount}</td>`}${[row.requests, ...kinds.map((kind) => row.tokens[kind]), row.failed].map((each) => html`<td class="num">${count(each)}</td>`)}</tr>`
  const body = rows.map((row, at) => line(link(row.name), row, written[at]))
  const refund =
    listed.length > 0 &&
    isAmount &&
    html`<tr><th scope="row" class="txt">${say('table.refunds')}</th><td class="num">${written.at(-1)}</td><td colspan="${kinds.length + 2}"></td></tr>`
  const sum = isAmount
    ? speech
        .amounts(unit)
        .column([...rows.map(({ amount }) => amount), total.amount], null)
        .at(-1)
    : ''
  return html`<section class="card" id="${`top-${tag === null ? by : `tag-${place}`}`}"><h3>${title}</h3><ol class="top">${bars}</ol><details><summary>${say('table.all', { all: rows.length + more })}</summary><div class="table-scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead><tbody>${body}${refund}</tbody><tfoot>${line(say('table.total'), total, sum)}</tfoot></table></div>${more > 0 && html`<p class="note">${say('table.rest', { more })}</p>`}</details></section>`
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
  return html`<section class="card whole" id="lots"><h3>${say('lots.title')}</h3><div class="table-scroll" tabindex="0" role="region" aria-label="${say('lots.title')}"><table><thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead><tbody>${credits.grants.map((lot, at) => html`<tr><th scope="row" class="txt">${lot.name}</th>${columns.map((each) => html`<td class="num">${each[at]}</td>`)}<td class="num">${date(lot.from)}</td><td class="num">${lot.expires === null ? say('lots.never') : date(lot.expires)}</td></tr>`)}</tbody><tfoot><tr><th scope="row" class="txt">${say('table.total')}</th>${columns.map((each) => html`<td class="num">${each.at(-1)}</td>`)}<td></td><td></td></tr></tfoot></table></div>${notes.map((each) => html`<p class="note">${each}</p>`)}</section>`
}
