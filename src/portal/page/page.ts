import { periodAround } from '../../measure/usage/calendar.ts'
import { renderCards } from '../../report/banner.ts'
import { renderBoard } from '../../report/usage/board/board.ts'
import type { BoardData } from '../../report/usage/board/data.ts'
import type { Choice } from '../../report/usage/board/types.ts'
import { viewsOf } from '../../report/usage/board/views.js'
import { type Html, html } from '../../user/html.ts'
import { queryOf } from '../figures/notices.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Settings } from '../settings/settings.ts'
import { unitName } from './answer.ts'
import { outcomeWords } from './board-words.ts'
import { renderFigures, renderHeld, usedFigure } from './first-figures.ts'
import { renderLots } from './lots-table.ts'
import { mostKeyLine } from './most-answers.ts'
import type { PageData } from './page-shape.ts'
import { renderTables } from './page-tables.ts'
import { endLine, isPrepaid, priceOf } from './pay-answers.ts'
import type { Speech } from './speech.ts'
import { type Contact, renderState } from './state-bar.ts'

/** The page of one account, without the frame around it. It works without scripts: the period is a form. */
export function pageBody(
  data: PageData,
  settings: Settings,
  view: AccountView,
  speech: Speech,
): Html {
  const { say } = speech
  const { board, choice } = data
  if (board === null || choice === null) {
    return html`<main class="page"${data.isPending && html` data-pending`}>${head(settings, titleOf(data, speech), aboutOf(data, view, speech))}
${controls(data, view, speech)}
<p class="answer">${say('empty.ever')}</p>
${renderHeld(data, speech)}
${renderLots(data, speech)}
${footer(data, settings, view, speech)}</main>`
  }
  return html`<main class="page" data-outcomes="${JSON.stringify(outcomeWords(speech))}"${data.isPending && html` data-pending`}${data.canListRequests && html` data-requests`}>${head(settings, titleOf(data, speech), aboutOf(data, view, speech))}
${controls(data, view, speech)}
<div class="first">${renderFigures(data, speech)}
${mostKeyLine(data, speech)}
${endLine(data, speech)}
${renderState(data, speech, contactOf(settings, view))}</div>
${unitSwitch(data, speech)}
${data.summary.requests.value === '0' && data.lateUs === null && html`<p class="empty">${say('empty')}</p>`}
${renderBoard(board, cards(data, board, choice, speech), choice, form(data, speech), renderTables(data, speech))}
${renderLots(data, speech)}
${data.canExport && exports(data, speech)}
${footer(data, settings, view, speech)}</main>`
}

/** Whose usage it is: who sees one key alone is told first. */
const titleOf = ({ onlyKey }: PageData, { say }: Speech) =>
  onlyKey === null
    ? say('title')
    : say(onlyKey.of === 'key' ? 'title.key' : 'title.unnamedKey', { name: onlyKey.name })

/** The account; its period, unless a figure says it, whose days are of this year; and that only one key is seen. */
function aboutOf(data: PageData, { label }: AccountView, speech: Speech): string {
  const { fromUs, toUs, unit, summary, onlyKey, lateUs } = data
  const nowUs = Date.parse(summary.refreshedAt) * 1000
  // A figure says the time that it is of.
  const isFigure = unit !== null && lateUs === null && usedFigure(data, unit) !== null
  const isSaid = isFigure && [fromUs, toUs - 1].every((us) => isSameYear(us, nowUs, speech))
  const said = { from: speech.day(fromUs), to: speech.day(toUs - 1) }
  const period = isSaid ? '' : speech.say('period', said)
  const only = onlyKey === null ? '' : speech.say('title.only')
  return [label, period, only].filter(Boolean).join(' · ')
}

const isSameYear = (a: number, b: number, { date }: Speech) =>
  date(a).slice(0, 4) === date(b).slice(0, 4)

const contactOf = ({ support, product }: Settings, { label }: AccountView): Contact | null =>
  support === undefined ? null : { support, product, label }

const linkOf = (
  kept: PageData['kept'],
  period: { readonly from: string; readonly to: string },
  other: Readonly<Record<string, string>>,
) =>
  `?${new URLSearchParams({ ...Object.fromEntries(kept), from: period.from, to: period.to, ...other })}`

/** Periods that people ask for, as links that keep the rest of the address. */
function controls(
  { from, to, fromUs, toUs, kept, presets }: PageData,
  { timezone }: AccountView,
  { say, near, month, date, isOfDays }: Speech,
): Html {
  const choices = presets.map(
    (each) =>
      html`<a href="${linkOf(kept, each, {})}" data-keep${each.from === from && each.to === to && html` aria-current="true"`}>${say(`preset.${each.name}`)}</a>`,
  )
  // The way up: from hours to their day, and from a day to its month.
  const [first, last] = [date(fromUs), date(toUs - 1)]
  const isDay = isOfDays(fromUs, toUs)
  const up =
    first === last &&
    html`<a href="${linkOf(kept, periodOf(fromUs, isDay ? 'month' : 'day', presets, timezone), {})}" data-keep>↑ ${isDay ? month(first.slice(0, 7)) : near(fromUs, toUs)}</a>`
  // A filter by a tag stands in the query: its link takes it away.
  const tag = kept.find(([name]) => name === 'tag')?.[1]
  const others = kept.filter(([name]) => name !== 'tag')
  const filter =
    tag !== undefined &&
    html`<span class="choices"><a href="${linkOf(others, { from, to }, {})}" data-keep aria-current="true" aria-label="${say('board.reset')}: ${tag}">${tag} ✕</a></span>`
  return html`<nav class="controls" aria-label="${say('preset.title')}"><span class="choices">${up}${choices}</span>${filter}</nav>`
}

/** The day or the month of a time; this month ends today, as its preset does. */
function periodOf(us: number, kind: 'day' | 'month', presets: PageData['presets'], zone: string) {
  const whole = queryOf(periodAround(us, zone, kind, 1))
  return presets.find((each) => each.name === kind && each.from === whole.from) ?? whole
}

/** The unit of the chart and the lists, above them; nothing of one unit. */
function unitSwitch({ from, to, kept, units, unit }: PageData, speech: Speech): Html | false {
  const { say } = speech
  const links = units.map(
    ({ unit: each }) =>
      html`<a href="${linkOf(kept, { from, to }, { unit: each })}" data-keep${each === unit && html` aria-current="true"`}>${unitName(each, speech)}</a>`,
  )
  return (
    units.length > 1 &&
    html`<nav class="controls" aria-label="${say('unit.title')}"><span class="choices units">${say('unit.title')} ${links}</span></nav>`
  )
}

/** What the page says of a file that is made, or is not. */
const exportWords = [
  ...(['making', 'saved', 'busy', 'long', 'refused', 'sums', 'name', 'failed'] as const),
]

/** Files, which the page's script makes and says how that went. */
function exports({ canListRequests, units }: PageData, speech: Speech): Html {
  const { say } = speech
  const said = Object.fromEntries(exportWords.map((name) => [name, say(`export.${name}`)]))
  // A file has all units of its time, whichever one the chart is in.
  const used = units
    .filter(({ lastUs }) => lastUs !== null)
    .map(({ unit }) => unitName(unit, speech))
    .sort()
  const files = (['csv', 'jsonl', 'parquet'] as const).map(
    (format) =>
      html`<button type="button" class="rows" data-export="${format}">${format.toUpperCase()}</button>`,
  )
  return html`<div class="choices exports" role="group" aria-label="${say('export.title')}" data-said="${JSON.stringify({ ...said, expired: say('token.expired') })}" hidden><label>${say('export.title')}${used.length > 1 && ` (${used.join(', ')})`} <select><option value="">${say('export.view')}</option><option value="hour">${say('export.hours')}</option>${canListRequests && html`<option value="requests">${say('export.requests')}</option>`}</select></label> ${files} <span role="status"></span></div>`
}

function form({ from, to, kept }: PageData, { say }: Speech): Html {
  return html`<noscript><form method="get" class="filters b-filters"><label><span>${say('filter.from')}</span><input type="date" name="from" value="${from.slice(0, 10)}" required></label> <label><span>${say('filter.to')}</span><input type="date" name="to" value="${to.slice(0, 10)}" required></label> ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="rows">${say('filter.show')}</button></form></noscript>`
}

function head(settings: Settings, title: string, about: Html | string): Html {
  const brand =
    settings.logo === undefined
      ? html`<span class="brand"><b>${settings.product}</b></span>`
      : html`<img src="logo" alt="${settings.product}" height="32">`
  return html`<header class="masthead"><h1>${title}</h1><p class="about">${about}</p>${brand}</header>`
}

/** Tokens and failures, under the charts. */
function cards(data: PageData, board: BoardData, choice: Choice, speech: Speech): Html {
  const { say, number } = speech
  const { value } = data.summary.requests
  const plain = viewsOf(board, choice)
    .cards.filter(([name]) => name === 'tokens' || name === 'failed')
    .map(([, label, shown, aside]) => ({ label, value: shown, aside }))
  const worth = isPrepaid('credits', data) ? priceOf(data, speech) : ''
  return renderCards([
    ...(worth === '' ? [] : [{ label: say('card.cost'), value: '', aside: worth }]),
    {
      label: say('card.requests'),
      value: value === null ? say('card.unmeasured') : number(value),
      aside: '',
    },
    ...plain,
  ])
}

function footer(
  { summary }: PageData,
  { support }: Settings,
  { timezone }: AccountView,
  { say, moment }: Speech,
): Html {
  return html`<footer>${say('asOf', { date: moment(Date.parse(summary.refreshedAt) * 1000) })} · ${say('zone', { zone: timezone })}${support !== undefined && html` · <a href="${support}" rel="noopener" target="_blank">${say('support')}</a>`}</footer>`
}
