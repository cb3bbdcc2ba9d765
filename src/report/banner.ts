import { type Html, html } from '../user/html.ts'

/** How something ended, in the four ways that a reader must tell apart at a glance. */
export type Tone = 'good' | 'warn' | 'fail' | 'none'

/** The answer at the top of a page. */
export interface Answer {
  readonly tone: Tone
  readonly says: string
  readonly because: string
  readonly checks: readonly Check[]
  /** What held and is asked for seldom, under its name. */
  readonly folded?: { readonly name: string; readonly checks: readonly Check[] }
}

/** One thing that the answer rests on, with its figure and, where it failed, the way out. */
export interface Check {
  readonly tone: Tone
  readonly name: string
  /** Where its evidence is on the page. */
  readonly link?: string
  readonly figure: string
  readonly remedy: string | null
}

/** A sign beside each colour, for those who do not see the colour, and for paper. */
const signs: Readonly<Record<Tone, string>> = { good: '✓', warn: '!', fail: '✕', none: '–' }
const spoken: Readonly<Record<Tone, string>> = {
  good: 'held',
  warn: 'doubtful',
  fail: 'failed',
  none: 'not observed',
}

export function renderAnswer({ tone, says, because, checks, folded }: Answer): Html {
  return html`<section class="card verdict ${tone}" aria-label="Verdict: ${says}"><h2>${unbroken(says)}</h2><p>${unbroken(because)}</p>
${checks.length > 0 && html`<ul class="checks">${urgentFirst(checks).map(renderCheck)}</ul>`}${
  folded !== undefined &&
  folded.checks.length > 0 &&
  html`<details><summary>${folded.name}</summary><ul class="checks">${folded.checks.map(renderCheck)}</ul></details>`
}</section>`
}

/** A number and its unit on one line. */
const unbroken = (text: string) =>
  text
    .replace(/(?<=\d) (?=(?:%|ms|s)(?!\w))/g, '\u00a0')
    .replace(/\bn = (?=\d)/g, 'n\u00a0=\u00a0')
    .replace(/(?<=[<>=≥≤]) (?=\d)/g, '\u00a0')

/** What failed, what is doubtful, then the rest in its own order. */
function urgentFirst(checks: readonly Check[]): readonly Check[] {
  const urgency: Readonly<Record<Tone, number>> = { fail: 0, warn: 1, good: 2, none: 2 }
  return [...checks].sort((a, b) => urgency[a.tone] - urgency[b.tone])
}

function renderCheck({ tone, name, link, figure, remedy }: Check): Html {
  return html`<li><span class="mark ${tone}" role="img" aria-label="${spoken[tone]}">${signs[tone]}</span><span><b>${link === undefined ? name : html`<a href="${link}">${name}</a>`}</b> ${unbroken(figure)}${
    remedy !== null && html`<br><span class="remedy">${unbroken(remedy)}</span>`
  }</span></li>`
}

/** A figure that stands alone, large, with what it is and what to hold it against. */
export interface Card {
  readonly label: string
  readonly value: string
  readonly aside: string
}

export function renderCards(cards: readonly Card[]): Html {
  return html`<dl class="figures">${cards.map(
    ({ label, value, aside }) =>
      html`<div><dt>${label}</dt><dd>${value}<span class="aside">${unbroken(aside)}</span></dd></div>`,
  )}</dl>`
}
