import { renderCards } from '../../report/banner.ts'
import { renderBoard } from '../../report/usage/board/board.ts'
import type { Choice } from '../../report/usage/board/choice.js'
import type { BoardData } from '../../report/usage/board/data.ts'
import { viewsOf } from '../../report/usage/board/views.js'
import { type Html, html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Settings } from '../settings/settings.ts'
import { outcomeWords } from './board.ts'
import type { Speech } from './speech.ts'

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
  /** Null if nothing was ever used. */
  readonly board: BoardData | null
  readonly choice: Choice | null
  readonly hasKeys: boolean
  readonly credits: Answers['credits'] | null
  readonly outlook: Answers['outlook'] | null
  readonly budgets: readonly BudgetState[]
  /** Whether the forecast is still being made: the page asks again. */
  readonly isPending: boolean
  readonly notices: Answers['notices']['notices']
  /** When the last request was, Unix microseconds. */
  readonly lastUs: number | null
}

/** The part of the page that is an account's. It works without scripts: the period is a form. */
export function pageBody(
  data: PageData,
  settings: Settings,
  view: AccountView,
  speech: Speech,
): Html {
  const { say } = speech
  const { board, choice, fromUs, toUs, notices } = data
  if (board === null || choice === null) {
    return html`<main class="page">${head(settings, say('title'), view.label)}<p class="answer">${say('empty.ever')}</p>${footer(data, settings, speech)}</main>`
  }
  // The answer says when credits run out, and the chart names its unusual hours itself.
  const news = notices.filter(
    ({ kind }) => kind !== 'running-out' && (kind !== 'busy-hour' || board.marks.length === 0),
  )
  const about = say('period', { from: speech.day(fromUs), to: speech.day(toUs - 1) })
  return html`<main class="page" data-outcomes="${JSON.stringify(outcomeWords(speech))}"${data.isPending && html` data-pending`}>${head(settings, say('title'), html`${view.label} · ${about}`)}
<section class="card verdict answer"><h2>${answer(data, speech)}</h2>${range(data, speech)}</section>
${news.length > 0 && html`<section class="notices"><h2>${say('notice.title')}</h2><ul>${news.map(({ text, query }) => html`<li>${query === '?' ? text : html`<a href="${query}">${text}</a>`}</li>`)}</ul></section>`}
${data.summary.requests.value === '0' && html`<p class="empty">${say('empty')}</p>`}
${renderBoard(board, cards(data, board, choice, speech), choice, form(data, speech))}
${data.hasKeys && html`<p class="note">${say('table.keys.note')}</p>`}
${footer(data, settings, speech)}</main>`
}

function form({ from, to, kept }: PageData, { say }: Speech): Html {
  return html`<noscript><form method="get" class="filters b-filters"><label><span>${say('filter.from')}</span><input type="date" name="from" value="${from}" required></label> <label><span>${say('filter.to')}</span><input type="date" name="to" value="${to}" required></label> ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="rows">${say('filter.show')}</button></form></noscript>`
}

function head(settings: Settings, title: string, about: Html | string): Html {
  return html`<header class="masthead"><h1>${title}</h1>${settings.logo === undefined ? html`<span class="brand"><b>${settings.product}</b></span>` : html`<img src="logo" alt="${settings.product}" height="32">`}</header><p class="about">${about}</p>`
}

function answer(
  { credits, outlook, isPending, summary, lastUs }: PageData,
  speech: Speech,
): string {
  const { say, day } = speech
  if (credits !== null && credits.source !== 'none' && Number(credits.remaining) <= 0)
    return say('answer.none')
  if (outlook?.known) {
    const median = outlook.runsOut?.median ?? null
    if (median === null) return say('answer.long')
    return isPast(outlook)
      ? say('answer.past', { date: day(lastUs ?? Date.parse(median) * 1000) })
      : say('answer.runsOut', { date: day(Date.parse(median) * 1000) })
  }
  if (credits !== null && credits.source !== 'none')
    return say(isPending ? 'answer.pending' : 'answer.unknown')
  const spent = summary.cost.map(({ currency, value }) => speech.money(currency, value))
  if (!hasCredits(summary) && spent.length > 0)
    return say('answer.spent', { amount: spent.join(' + ') })
  return summary.credits?.value == null
    ? say('answer.requests', { requests: Number(summary.requests.value ?? 0) })
    : say('answer.used', { credits: Number(summary.credits.value) })
}

/** Whether the credits would have run out before now, if usage had gone on. */
const isPast = ({ runsOut, fan }: Answers['outlook']) =>
  runsOut?.median != null && Date.parse(runsOut.median) < Date.parse(fan[0]!.at)

/** The days of the range, if the answer is a date and they differ. */
function range({ outlook }: PageData, { say, day }: Speech): Html | false {
  const { early = null, late = null, median = null } = outlook?.runsOut ?? {}
  if (early === null || late === null || median === null || isPast(outlook!)) return false
  const [first, last] = [early, late].map((each) => day(Date.parse(each) * 1000))
  return first !== last && html`<p>${say('answer.range', { early: first!, late: last! })}</p>`
}

/** Whether an amount in credits is known: a service in money has none. */
const hasCredits = ({ credits }: Answers['summary']) => credits !== null && credits.value !== null

type Figure = Answers['summary']['requests']

/** The cards of the board, with exact amounts, the period before, and what is left. */
function cards(
  { summary, credits, budgets }: PageData,
  board: BoardData,
  choice: Choice,
  speech: Speech,
): Html {
  const { say, number, share } = speech
  const before = ({ value, previous }: Figure) => {
    if (previous === null || value === null || Number(previous) === 0) return ''
    const change = Number(value) / Number(previous) - 1
    if (Math.abs(change) < 0.0005) return say('card.same')
    return say(change > 0 ? 'card.more' : 'card.less', { share: share(Math.abs(change)) })
  }
  const figure = (label: string, of: Figure) => ({
    label,
    value: of.value === null ? say('card.unmeasured') : number(of.value),
    aside: of.value === null ? '' : of.unknownShare > 0 ? say('card.partial') : before(of),
  })
  const plain = viewsOf(board, choice)
    .cards.filter(([name]) => name === 'tokens' || name === 'failed')
    .map(([, label, value, aside]) => ({ label, value, aside }))
  return renderCards([
    ...(summary.credits === null || (!hasCredits(summary) && summary.cost.length > 0)
      ? []
      : [figure(say('card.credits'), summary.credits)]),
    ...summary.cost.map(({ currency, value }) => ({
      ...{ label: say('card.cost'), value: speech.money(currency, value), aside: '' },
    })),
    ...(credits === null || credits.remaining === null
      ? []
      : [{ label: say('card.balance'), value: number(credits.remaining), aside: '' }]),
    ...budgets.map(({ budget, period, used }) => {
      const text = (value: string) =>
        budget.unit === 'credits' ? number(value) : speech.money(budget.unit, value)
      return {
        label: say('card.budget'),
        value: say('card.budget.used', { used: text(used), amount: text(budget.amount) }),
        aside: say(`card.budget.${budget.period}`, { date: speech.day(period.toUs) }),
      }
    }),
    ...[figure(say('card.requests'), summary.requests), ...plain],
  ])
}

function footer({ summary }: PageData, { support }: Settings, { say, moment }: Speech): Html {
  return html`<footer>${say('asOf', { date: moment(Date.parse(summary.refreshedAt) * 1000) })}${support !== undefined && html` · <a href="${support}" rel="noopener" target="_blank">${say('support')}</a>`}</footer>`
}
