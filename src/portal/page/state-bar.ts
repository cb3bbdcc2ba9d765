import { type Html, html } from '../../user/html.ts'
import type { DearDay } from '../figures/dear-day.ts'
import { dearWords } from './dear-words.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

type Tone = 'fail' | 'warn' | 'none' | 'good'
const order: readonly Tone[] = ['fail', 'warn', 'none', 'good']
const signs: Readonly<Record<Tone, string>> = { fail: '▲', warn: '!', none: '…', good: '✓' }

interface State {
  readonly tone: Tone
  readonly text: Html | string
  /** The view that shows it. */
  readonly query: string | null
  /** Of a dear day: who or what made it so, and the figures behind that. */
  readonly why?: { readonly said: string; readonly details: readonly string[] }
}

const tones: Readonly<Record<PageData['notices'][number]['kind'], Tone>> = {
  budget: 'warn',
  'running-out': 'warn',
  expiring: 'warn',
  'busy-hour': 'warn',
  failures: 'warn',
  'new-key': 'none',
  'late-data': 'none',
}

/** So many dear days are open; the others of them follow in the list. */
const mostDear = 2
/** So many others are shown; more of them open below. */
const mostOthers = 2

/** The worst thing that a customer should know, always in the same place, why the dearest days were dear, and the others below. */
export function renderState(data: PageData, speech: Speech): Html {
  const [worst, ...rest] = statesOf(data, speech)
  const isDear = ({ why }: State) => why !== undefined
  const dear = rest.filter(isDear).slice(0, isDear(worst!) ? mostDear - 1 : mostDear)
  const others = rest.filter((each) => !dear.includes(each))
  const list = html`<ul>${others.map((each) => html`<li>${saidOf(each, speech)}</li>`)}</ul>`
  const below =
    others.length > mostOthers
      ? html`<details><summary>${speech.say('state.more', { more: others.length })}</summary>${list}</details>`
      : others.length > 0 && list
  return html`<section class="state ${worst!.tone}"><h2>${saidOf(worst!, speech)}</h2>${dear.map((each) => html`<p>${saidOf(each, speech)}</p>`)}${below}</section>`
}

function saidOf({ tone, text, query, why }: State, speech: Speech): Html {
  const link = query !== null && html` <a href="${query}" data-keep>${speech.say('state.show')}</a>`
  const because =
    why !== undefined &&
    html`${why.said !== '' && html`<strong>${why.said}</strong>`}${why.details.map((each) => html`<small>${each}</small>`)}`
  return html`<b aria-hidden="true">${signs[tone]}</b> ${text}${link}${because}`
}

function statesOf(data: PageData, speech: Speech): readonly State[] {
  const { say } = speech
  const { credits, dears, notices, budgets, summary } = data
  const states: State[] = []
  if (credits !== null && credits.remaining !== null && Number(credits.remaining) <= 0)
    states.push({
      tone: 'fail',
      text: say(credits.unit === 'credits' ? 'answer.none' : 'answer.none.money'),
      query: null,
    })
  const isOver = budgets.some(({ share }) => share >= 1)
  for (const dear of dears) states.push(dearState(dear, data, speech))
  for (const { kind, text, query } of notices) {
    // Dear days say what, how much and by whom; beside them, a budget is said in its cell alone.
    if ((kind === 'busy-hour' || kind === 'budget') && dears.length > 0) continue
    const tone = kind === 'budget' && isOver ? 'fail' : tones[kind]
    states.push({ tone, text, query: query === '?' ? null : query })
  }
  for (const { budget, crossesUs, share } of budgets) {
    if (crossesUs === null || share >= 1 || dears.length > 0) continue
    const amount = speech.amount(budget.unit, budget.amount)
    const text = say('state.crosses', { amount, date: speech.day(crossesUs) })
    states.push({ tone: 'warn', text, query: null })
  }
  if (states.length === 0) {
    const share = summary.successShare
    const text =
      share === null ? say('state.nothing') : say('state.fine', { share: speech.share(1 - share) })
    states.push({ tone: share === null ? 'none' : 'good', text, query: null })
  }
  return states.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

/** A dear day: how much, beside a usual one, and what most of that came from; its view is of the same unit. */
function dearState(dear: DearDay, { units }: PageData, speech: Speech): State {
  const { headline, why, details } = dearWords(dear, speech)
  const query = new URLSearchParams({
    ...{ from: speech.date(dear.fromUs), to: speech.date(dear.toUs) },
    ...(units.length > 1 ? { unit: dear.unit } : {}),
  })
  return { tone: 'warn', text: headline, query: `?${query}`, why: { said: why, details } }
}
