import type { Period } from '../../measure/usage/calendar.ts'
import { renderCards } from '../../report/banner.ts'
import { renderBoard } from '../../report/usage/board/board.ts'
import type { BoardData } from '../../report/usage/board/data.ts'
import type { Choice } from '../../report/usage/board/types.ts'
import { viewsOf } from '../../report/usage/board/views.js'
import { type Html, html } from '../../user/html.ts'
import type { presetPeriods } from '../api/period.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { DearDay } from '../figures/cause.ts'
import type { NamesTable } from '../figures/names.ts'
import type { Projection } from '../figures/projection.ts'
import type { UsedUnit } from '../figures/sums.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Settings } from '../settings/settings.ts'
import { outcomeWords } from './board.ts'
import { renderFigures } from './first-figures.ts'
import { renderLots, renderTables } from './page-tables.ts'
import type { Speech } from './speech.ts'
import { renderState } from './state-bar.ts'

/** Everything on the page. */
export interface PageData {
  readonly from: string
  readonly to: string
  /** Start and end of the period, Unix microseconds. */
  readonly fromUs: number
  readonly toUs: number
  /** The filters of the address that the form keeps: all but the period. */
  readonly kept: readonly [string, string][]
  readonly summary: Answers['summary']
  /** The same without filters; null if there are none. */
  readonly whole: Answers['summary'] | null
  /** Whether the period consists of closed months. */
  readonly isClosed: boolean
  /** The period that `summary` compares with; null without one. */
  readonly before: Period | null
  /** The unit of amounts; null if nothing has an amount that the token shows. */
  readonly unit: string | null
  /** All of them: figures of two are never one bar, one axis or one sum. */
  readonly units: readonly UsedUnit[]
  /** What this month will have used, by unit. */
  readonly projections: ReadonlyMap<string, Projection>
  /** Of a credit; null without one, or if the token shows no costs. */
  readonly price: { readonly currency: string; readonly value: string } | null
  readonly tables: readonly NamesTable[]
  /** The day that cost far more than the others; null without one. */
  readonly dear: DearDay | null
  readonly presets: ReturnType<typeof presetPeriods>
  readonly canExport: boolean
  /** Null if nothing was ever used. */
  readonly board: BoardData | null
  /** What is selected in the charts; null without charts. */
  readonly choice: Choice | null
  readonly credits: Answers['credits'] | null
  readonly outlook: Answers['outlook'] | null
  readonly budgets: readonly BudgetState[]
  /** Whether the forecast is still being made: the page asks again. */
  readonly isPending: boolean
  readonly notices: Answers['notices']['notices']
  /** When the last request was, Unix microseconds. */
  readonly lastUs: number | null
}

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
    return html`<main class="page">${head(settings, say('title'), view.label)}<p class="answer">${say('empty.ever')}</p>${footer(data, settings, speech)}</main>`
  }
  return html`<main class="page" data-outcomes="${JSON.stringify(outcomeWords(speech))}" data-account="${view.label}" data-from="${data.from}" data-to="${data.to}"${data.isPending && html` data-pending`}>${head(settings, say('title'), html`${view.label} · ${say('period', { from: speech.day(data.fromUs), to: speech.day(data.toUs - 1) })}`)}
${controls(data, speech)}
${renderState(data, speech)}
${renderFigures(data, speech)}
${data.summary.requests.value === '0' && html`<p class="empty">${say('empty')}</p>`}
${renderBoard(board, cards(data, board, choice, speech), choice, form(data, speech), renderTables(data, speech))}
${renderLots(data, speech)}
${footer(data, settings, speech)}</main>`
}

/** Periods that people ask for, and the units of amounts, as links that keep the rest of the address. */
function controls(
  { from, to, kept, presets, units, unit, canExport }: PageData,
  speech: Speech,
): Html {
  const { say } = speech
  const link = (period: { from: string; to: string }, other: Readonly<Record<string, string>>) =>
    `?${new URLSearchParams({ ...Object.fromEntries(kept), from: period.from, to: period.to, ...other })}`
  const choices = presets.map(
    (each) =>
      html`<a href="${link(each, {})}" data-keep${each.from === from && each.to === to && html` aria-current="true"`}>${say(`preset.${each.name}`)}</a>`,
  )
  const switches = units.map(
    ({ unit: each }) =>
      html`<a href="${link({ from, to }, { unit: each })}" data-keep${each === unit && html` aria-current="true"`}>${each === 'credits' ? say('chart.credits') : each}</a>`,
  )
  const files = (['csv', 'jsonl', 'parquet'] as const).map(
    (format) =>
      html`<button type="button" class="rows" data-export="${format}">${format.toUpperCase()}</button>`,
  )
  // A filter by a tag stands in the query: its link takes it away.
  const tag = kept.find(([name]) => name === 'tag')?.[1]
  const others = Object.fromEntries(kept.filter(([name]) => name !== 'tag'))
  const filter =
    tag !== undefined &&
    html`<span class="choices"><a href="?${String(new URLSearchParams({ ...others, from, to }))}" data-keep aria-current="true" aria-label="${say('board.reset')}: ${tag}">${tag} ✕</a></span>`
  return html`<nav class="controls" aria-label="${say('preset.title')}"><span class="choices">${choices}</span>${switches.length > 1 && html`<span class="choices units" role="group" aria-label="${say('unit.title')}">${switches}</span>`}${filter}${canExport && html`<span class="choices exports" role="group" aria-label="${say('export.title')}" hidden>${say('export.title')} ${files}</span>`}</nav>`
}

function form({ from, to, kept }: PageData, { say }: Speech): Html {
  return html`<noscript><form method="get" class="filters b-filters"><label><span>${say('filter.from')}</span><input type="date" name="from" value="${from}" required></label> <label><span>${say('filter.to')}</span><input type="date" name="to" value="${to}" required></label> ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="rows">${say('filter.show')}</button></form></noscript>`
}

function head(settings: Settings, title: string, about: Html | string): Html {
  return html`<header class="masthead"><h1>${title}</h1>${settings.logo === undefined ? html`<span class="brand"><b>${settings.product}</b></span>` : html`<img src="logo" alt="${settings.product}" height="32">`}</header><p class="about">${about}</p>`
}

/** Tokens and failures, under the charts. */
function cards(data: PageData, board: BoardData, choice: Choice, { say, number }: Speech): Html {
  const { value } = data.summary.requests
  const plain = viewsOf(board, choice)
    .cards.filter(([name]) => name === 'tokens' || name === 'failed')
    .map(([, label, shown, aside]) => ({ label, value: shown, aside }))
  return renderCards([
    {
      label: say('card.requests'),
      value: value === null ? say('card.unmeasured') : number(value),
      aside: '',
    },
    ...plain,
  ])
}

function footer({ summary }: PageData, { support }: Settings, { say, moment }: Speech): Html {
  return html`<footer>${say('asOf', { date: moment(Date.parse(summary.refreshedAt) * 1000) })}${support !== undefined && html` · <a href="${support}" rel="noopener" target="_blank">${say('support')}</a>`}</footer>`
}
