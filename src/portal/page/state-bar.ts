import { visible } from '../../user/hostile.ts'
import { type Html, html } from '../../user/html.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { DearDay, DearestDay } from '../figures/dear-day.ts'
import { queryOf } from '../figures/notices.ts'
import type { Settings } from '../settings/settings.ts'
import { unitName, unitsOf } from './answer.ts'
import { isMoney } from './columns.ts'
import { capital, type DearWords, dearWords } from './dear-words.ts'
import { failedWords, fineWords } from './fine-words.ts'
import type { PageData } from './page-shape.ts'
import { partIn, type Speech } from './speech.ts'

type Tone = 'fail' | 'warn' | 'none' | 'good'
const order: readonly Tone[] = ['fail', 'warn', 'none', 'good']
const byTone = (a: Tone, b: Tone) => order.indexOf(a) - order.indexOf(b)
const signs: Readonly<Record<Tone, string>> = { fail: '▲', warn: '!', none: '…', good: '✓' }

interface State {
  readonly tone: Tone
  readonly text: Html | string
  /** The view that shows it. */
  readonly query: string | null
  /** The words of the link to it, if there are better ones than "Show it". */
  readonly link?: string
  /** Of a dear day. */
  readonly why?: DearWords & { readonly fromUs: number }
  /** A day of use. */
  readonly isDay?: true
  /** Of several days, it is said with the first. */
  readonly isOpen?: boolean
  /** How many requests failed, where nothing is unusual. */
  readonly failed?: string
}

/** Whom a customer asks, and who asks; null without a contact. */
export interface Contact {
  readonly support: NonNullable<Settings['support']>
  readonly product: string
  readonly label: string
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

/** So many days are open, one of each unit at least; the others of them follow in the list. */
const mostDays = 2
/** So many others are shown; more of them open below. */
const mostOthers = 2

/** The worst thing that a customer should know, always in the same place, why the dearest days were dear, and the others below. */
export function renderState(data: PageData, speech: Speech, contact: Contact | null): Html {
  const [first, ...rest] = statesOf(data, speech)
  const days = rest.filter(({ isOpen }) => isOpen)
  const others = rest.filter((each) => !days.includes(each))
  const tone = [first!, ...rest].map((each) => each.tone).toSorted(byTone)[0]!
  const line = (state: State) => saidOf(state, tone, data, speech)
  const more = ({ why, failed }: State) => [
    why !== undefined && [detailsOf(why), askOf(why, speech, contact)],
    failed !== undefined && html`<small>${failed}</small>`,
  ]
  const list = html`<ul>${others.map((each) => html`<li>${line(each)}${more(each)}</li>`)}</ul>`
  const below =
    others.length > mostOthers
      ? html`<details><summary>${speech.say('state.more', { more: others.length })}</summary>${list}</details>`
      : others.length > 0 && list
  return html`<section class="state ${tone}"><h2>${line(first!)}</h2>${more(first!)}${days.map((each) => html`<p>${line(each)}</p>${more(each)}`)}${below}</section>`
}

/** @param box the worst of all: in a red box, nothing is ticked off */
function saidOf(
  { tone, text, query, link: words, why, isDay }: State,
  box: Tone,
  data: PageData,
  speech: Speech,
): Html {
  const link =
    query !== null &&
    !isHere(query, data) &&
    html` <a class="unbroken" href="${query}" data-keep>${words ?? speech.say(isDay ? 'state.showDay' : 'state.show')}</a>`
  const reason = why !== undefined && why.why !== '' && html`<strong>${unbroken(why.why)}</strong>`
  return html`<b aria-hidden="true">${tone === 'good' && box === 'fail' ? '·' : signs[tone]}</b> ${text}${link}${reason}`
}

/** Whether a link leads to where its reader is. */
function isHere(query: string, { from, to, unit }: PageData): boolean {
  const here = new Map(Object.entries({ from, to, unit }))
  return [...new URLSearchParams(query)].every(([name, value]) => here.get(name) === value)
}

/** A name with hyphens, hours, and an amount with its sign are in one line each. */
const unbroken = (text: string): Html =>
  html`${text.split(/([\w.:/]{1,24}(?:[-–][\w.:/]{1,24})+|[+\u2212][\d\p{Sc}.,\u202f]+)/u).map((part, at) => (at % 2 === 0 ? part : html`<span class="unbroken">${part}</span>`))}`

/** The figures behind a cause. */
const detailsOf = ({ details }: DearWords) =>
  html`<div class="details">${details.map((each) => html`<small>${unbroken(each)}</small>`)}</div>`

/** What nothing explains is asked about: by a mail that says the day, the names and the prices, or by a text with these, to be copied. It has what the page shows. */
function askOf(
  { headline, why, unexplained, details, fromUs }: NonNullable<State['why']>,
  speech: Speech,
  contact: Contact | null,
): Html | false {
  if (unexplained === '') return false
  const { say } = speech
  const subject = [contact?.product, contact?.label, speech.day(fromUs)].join(' · ')
  const lines = [headline, why, ...details]
  return html`<div class="unexplained"><span>${unexplained}</span>${contact !== null && asking(contact.support, subject, lines, say)}</div>`
}

function asking(
  support: string,
  subject: string,
  lines: readonly string[],
  say: Speech['say'],
): Html {
  if (!support.startsWith('mailto:'))
    return html`<details class="ask"><summary class="rows">${say('ask.day')}</summary><p>${say('ask.copy')} <a href="${support}" rel="noopener" target="_blank">${say('support')}</a></p><pre>${[subject, ...lines].join('\n')}</pre></details>`
  return html`<a class="rows ask" href="${mailOf(support, subject, lines)}">${say('ask.day')}</a>`
}

/** A longer address is cut by the page, and by programs for mail. */
const longestMail = 2_000

/** The address of a mail with a text; without its last lines if it would be too long. */
function mailOf(support: string, subject: string, lines: readonly string[]): string {
  // A plus of the settings is one, and no space.
  const mail = new URL(support.replaceAll('+', '%2B'))
  mail.searchParams.set('subject', visible(subject))
  mail.searchParams.set('body', lines.map((line) => `${visible(line)}\r\n`).join(''))
  // A plus that stands for a space would be read as a plus.
  const address = mail.href.replaceAll('+', '%20')
  return address.length <= longestMail || lines.length === 0
    ? address
    : mailOf(support, subject, lines.slice(0, -1))
}

function statesOf(data: PageData, speech: Speech): readonly State[] {
  const { say } = speech
  const { credits, notices, budgets, summary } = data
  const dears = dearsIn(data)
  const states: State[] = []
  if (credits !== null && credits.remaining !== null && Number(credits.remaining) <= 0)
    states.push({
      tone: 'fail',
      text: say(credits.unit === 'credits' ? 'answer.none' : 'answer.none.money'),
      query: null,
    })
  const over = budgets.filter(({ share }) => share >= 1).toSorted((a, b) => b.share - a.share)
  for (const state of over) states.push(overState(state, data, speech))
  const days = dayStates(data, speech)
  for (const { kind, text, query } of notices) {
    // Dear days say what, how much and by whom; beside them, a budget that is not used up is said in its cell alone.
    if ((kind === 'busy-hour' || kind === 'budget') && dears.length > 0) continue
    states.push({ tone: tones[kind], text, query: query === '?' ? null : query })
  }
  for (const { budget, part, crossesUs, share } of budgets) {
    if (crossesUs === null || share >= 1 || dears.length > 0) continue
    const amount = `${speech.amount(budget.unit, budget.amount)}${partIn(part, speech)}`
    const text = say('state.crosses', { amount, date: speech.day(crossesUs) })
    states.push({ tone: 'warn', text, query: null })
  }
  if (states.length === 0 && dears.length === 0) {
    const [first, ...others] = days
    if (first !== undefined) return [{ ...first, failed: failedWords(data, speech) }, ...others]
    const tone = summary.successShare === null ? 'none' : 'good'
    return [{ tone, text: fineWords(data, speech), query: null }]
  }
  states.sort((a, b) => byTone(a.tone, b.tone))
  // Days stand behind what is worse than they are.
  const [least] = days.map(({ tone }) => tone).toSorted(byTone)
  const isWorse = ({ tone }: State) =>
    least !== undefined && (tone === 'fail' || byTone(tone, least) < 0) && tone !== 'none'
  return [...states.filter(isWorse), ...days, ...states.filter((each) => !isWorse(each))]
}

/** The dear days that the page is of, or of which it is a part. */
const dearsIn = ({ around, fromUs, toUs }: PageData) =>
  around.filter((dear) => dear.fromUs < toUs && dear.toUs > fromUs)

/** The dear days, and of each unit without one the day that used most: those of the page's unit first. */
function dayStates(data: PageData, speech: Speech): readonly State[] {
  const dears = dearsIn(data)
  const own = unitsOf(data).map(({ unit }) => [
    ...dears
      .filter((dear) => dear.unit === unit)
      .map((dear, at) => dearState(dear, at, data, speech)),
    ...data.dearest
      .filter((dearest) => dearest.unit === unit)
      .map((dearest) => dearestState(dearest, data, speech)),
  ])
  const all = [
    ...own.flatMap((states) => states.slice(0, 1)),
    ...own.flatMap((states) => states.slice(1)),
  ]
  const open = Math.max(mostDays, own.filter(({ length }) => length > 0).length)
  return all.map((state, at) => ({ ...state, isOpen: at < open }))
}

/** A budget that is used up, and the view of its period by key: that of its key, or of its tag. */
function overState(
  { budget, part, period, used, share }: BudgetState,
  { tables, units, presets }: PageData,
  speech: Speech,
): State {
  const whole = queryOf(period)
  // As the presets have it, which end today.
  const end = presets.find(({ name }) => name === 'today')?.to ?? whole.to
  const text = speech.say(share > 1 ? 'state.over' : 'state.full', {
    part: partIn(part, speech),
    used: speech.amounts(budget.unit).one(used),
    amount: speech.amount(budget.unit, budget.amount),
    period: speech.say(`state.period.${budget.period}`),
  })
  const name = part?.of === 'tag' ? `${part.name}:${part.value}` : (part?.name ?? '')
  const seesKeys = tables.some(({ by }) => by === 'key') && part?.of !== 'key'
  const query = new URLSearchParams({
    ...{ from: whole.from, to: whole.to < end ? whole.to : end },
    // Money may be what credits cost, which is no unit of the page.
    ...(units.length > 1 && units.some(({ unit }) => unit === budget.unit)
      ? { unit: budget.unit }
      : {}),
    ...(part === null ? {} : { [part.of]: name }),
    ...(seesKeys ? { by: 'key' } : {}),
  })
  return {
    ...{ tone: 'fail', text: html`<b>${text}</b>`, query: `?${query}` },
    ...(seesKeys ? { link: speech.say('state.seeKey') } : {}),
  }
}

/** A dear day: how much, beside a usual one, and what most of that came from; its view is of the same unit. @param at its place among those of its unit */
function dearState(dear: DearDay, at: number, data: PageData, speech: Speech): State {
  const words = dearWords(dear, speech)
  const why = { ...words, fromUs: dear.fromUs }
  const { headline, start } = words
  const text = html`${labelOf(dear, at, data, speech)} <b>${unbroken(start)}</b>${unbroken(headline.slice(start.length))}`
  const { request } = dear
  if (request === null)
    return { tone: 'warn', text, query: queryOfDay(dear, data, speech), why, isDay: true }
  const [hour] = dear.cause.spans
  return { tone: 'warn', text, query: queryOfDay({ ...dear, ...hour }, data, speech), why }
}

/** Whether no other day of its unit has as much, as far as that is known; else that it is unusual. */
function labelOf(
  { unit, isDearest, isKnown }: Pick<DearDay, 'unit' | 'isDearest' | 'isKnown'>,
  at: number,
  { units }: PageData,
  { say }: Speech,
): string {
  if (!isDearest) return say(at === 0 ? 'dear.label.unusual' : 'dear.label.also')
  if (!isKnown) return say('dear.label.known')
  if (!isMoney(unit)) return say('dear.label.credits')
  return units.length > 1 ? say('dear.label.unit', { unit }) : say('dear.label')
}

/** The day of a unit that used most, which is no dear one. */
function dearestState(day: DearestDay, data: PageData, speech: Speech): State {
  const { say } = speech
  const { unit, usual, isInRange, isKnown, hasDear } = day
  const of = isMoney(unit) ? ('' as const) : ('.credits' as const)
  const label =
    hasDear || usual === null || !isKnown
      ? labelOf({ ...day, isDearest: true }, 0, data, speech)
      : data.units.length > 1
        ? say(`days.fine${of}`, {
            days: say('why.of', { who: unitName(unit, speech), why: say('days.none') }),
          })
        : say(`days.fine${of}`, { days: capital(say('days.none')) })
  const start = say('state.dear', {
    day: speech.weekday(day.fromUs),
    amount: speech.amount(unit, day.amount),
  })
  const whole =
    usual === null
      ? start
      : say('dear.end', {
          dear: isInRange
            ? say('dear.inRange', { dear: start })
            : say('dear.usual', { dear: start, usual: speech.amounts(unit).about(usual) }),
        })
  return {
    ...{ tone: 'good', isDay: true, query: queryOfDay(day, data, speech) },
    text: html`${label} <b>${unbroken(start)}</b>${unbroken(whole.slice(start.length))}`,
  }
}

/** The view of a day or of an hour, in its unit. */
function queryOfDay(
  { fromUs, toUs, unit }: Pick<DearDay, 'fromUs' | 'toUs' | 'unit'>,
  { units }: PageData,
  speech: Speech,
): string {
  const query = new URLSearchParams({
    ...{ from: speech.time(fromUs), to: speech.time(toUs) },
    ...(units.length > 1 ? { unit } : {}),
  })
  return `?${query}`
}
