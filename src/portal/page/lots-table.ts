import { smallest } from '../../user/extremes.ts'
import { type Html, html } from '../../user/html.ts'
import type { PageData } from './page-shape.ts'
import { scrolling } from './page-tables.ts'
import type { Speech } from './speech.ts'

/** The lots of a balance in the order of the settings: held, used and left add up. */
export function renderLots({ credits }: PageData, speech: Speech): Html | false {
  if (credits === null || credits.grants.length === 0) return false
  const { say } = speech
  const isMoney = credits.unit !== 'credits'
  const { column } = speech.amounts(credits.unit)
  const { grants, held, used, remaining } = credits
  const of = (pick: (lot: (typeof grants)[number]) => string, total: string | null) =>
    column([...grants.map(pick), total ?? '0'], null)
  const columns = [
    of((lot) => lot.credits, held),
    of((lot) => lot.used, used),
    of((lot) => lot.remaining, remaining),
  ]
  const date = (at: string | null) => (at === null ? '–' : speech.day(Date.parse(at) * 1000))
  const heads = [
    ...[
      say(isMoney ? 'lots.name.money' : 'lots.name'),
      say('lots.held'),
      usedSince(grants, speech),
      say('lots.left'),
    ],
    ...[say('lots.from'), say('lots.expires')],
  ]
  // On a phone, where a line is a list, each cell has its head beside it.
  const cell = (text: string | undefined, place: number) =>
    html`<td class="num" data-head="${heads[place]}">${text}</td>`
  const lines = grants.map((lot, at) => {
    const expires = lot.expires === null ? say('lots.never') : date(lot.expires)
    const cells = [...columns.map((each) => each[at]), date(lot.from), expires]
    const models =
      lot.models !== null &&
      html` <small>(${say('lots.models', { models: new Intl.ListFormat(speech.locale).format(lot.models) })})</small>`
    return html`<tr><th scope="row" class="txt">${lot.name}${models}</th>${cells.map((text, place) => cell(text, place + 1))}</tr>`
  })
  const sums = columns.map((each, place) => cell(each.at(-1), place + 1))
  const title = say(isMoney ? 'lots.title.money' : 'lots.title')
  const table = html`<thead><tr>${heads.map((each, at) => html`<th scope="col" class="${at === 0 ? 'txt' : 'num'}">${each}</th>`)}</tr></thead>
<tbody>${lines}</tbody>
<tfoot><tr><th scope="row" class="txt">${say('table.total')}</th>${sums}<td></td><td></td></tr></tfoot>`
  return html`<section class="card whole" id="lots"><h3>${title}</h3>${scrolling(title, table)}${notesOf(credits, speech).map((each) => html`<p class="note">${each}</p>`)}</section>`
}

/** What is used of lots is used since the first of them began, whatever the period of the page. */
function usedSince(lots: NonNullable<PageData['credits']>['grants'], { say, day }: Speech): string {
  const starts = lots.map(({ from }) => (from === null ? null : Date.parse(from) * 1000))
  return starts.some((us) => us === null)
    ? say('lots.used')
    : say('lots.usedSince', { date: day(smallest(starts.map((us) => us!))) })
}

/** Credits that expired before, and those that were used while there were none. */
function notesOf(
  { unit, expired, uncovered }: NonNullable<PageData['credits']>,
  { say, amount }: Speech,
): readonly string[] {
  const note = (word: 'lots.expired' | 'lots.uncovered', value: string | null) => {
    if (Number(value ?? 0) <= 0) return []
    return unit === 'credits'
      ? [say(word, { credits: Number(value) })]
      : [say(`${word}.money`, { amount: amount(unit, value) })]
  }
  return [...note('lots.expired', expired), ...note('lots.uncovered', uncovered)]
}
