import { type Html, html } from '../user/html.ts'

/** The four results that a reader must distinguish at a glance. */
export type Tone = 'good' | 'warn' | 'fail' | 'none'

/** The answer at the top of a page. */
export interface Headline {
  /** The question, in the words of the scenario. */
  readonly asks?: string
  readonly tone: Tone
  readonly summary: string
  readonly because: string
  readonly checks: readonly Check[]
}

/** A check behind the answer, with its figure and, if it failed, the remedy. */
export interface Check {
  readonly tone: Tone
  readonly name: string
  /** Link to its evidence on the page. */
  readonly link?: string
  readonly figure: string
  readonly remedy: string | null
}

/** A symbol for each colour, for readers who do not see the colour, and for paper. */
const signs: Readonly<Record<Tone, string>> = { good: '✓', warn: '!', fail: '✕', none: '–' }
const spoken: Readonly<Record<Tone, string>> = {
  good: 'held',
  warn: 'doubtful',
  fail: 'failed',
  none: 'not observed',
}

export function renderHeadline({ asks = '', tone, summary, because, checks }: Headline): Html {
  return html`<section class="card verdict ${tone}" aria-label="Verdict: ${summary}">${asks !== '' && html`<p class="asks">${asks}</p>`}<h2>${unbroken(summary)}</h2><p>${unbroken(because)}</p>
${checks.length > 0 && html`<ul class="checks">${urgentFirst(checks).map(renderCheck)}</ul>`}</section>`
}

/** Checks that are rarely of interest, folded under a name. */
export function renderFold(name: string, checks: readonly Check[]): Html | false {
  return (
    checks.length > 0 &&
    html`<details><summary>${name}</summary><ul class="checks">${urgentFirst(checks).map(renderCheck)}</ul></details>`
  )
}

/** Keeps a number and its unit on one line, and an option of a command. */
const unbroken = (text: string): Html =>
  html`${withUnits(text)
    .split(/(?<!\S)(--[\w-]+)/)
    .map((each, at) => (at % 2 === 1 ? html`<span class="nowrap">${each}</span>` : each))}`

const withUnits = (text: string) =>
  text
    .replace(/(?<=\d) (?=(?:%|ms|s)(?!\w))/g, '\u00a0')
    .replace(/\bn = (?=\d)/g, 'n\u00a0=\u00a0')
    .replace(/(?<=[<>=≥≤]) (?=\d)/g, '\u00a0')

/** Failed checks first, then doubtful ones, then the others in their own order. */
function urgentFirst(checks: readonly Check[]): readonly Check[] {
  const urgency: Readonly<Record<Tone, number>> = { fail: 0, warn: 1, good: 2, none: 2 }
  return [...checks].sort((a, b) => urgency[a.tone] - urgency[b.tone])
}

function renderCheck({ tone, name, link, figure, remedy }: Check): Html {
  return html`<li><span class="mark ${tone}" role="img" aria-label="${spoken[tone]}">${signs[tone]}</span><span><b>${link === undefined ? name : html`<a href="${link}">${name}</a>`}</b> ${unbroken(figure)}${
    remedy !== null && html`<br><span class="remedy">${unbroken(remedy)}</span>`
  }</span></li>`
}

/** A single large figure, with its name and a comparison. */
export interface Card {
  readonly label: string
  readonly value: string
  readonly aside: string
}

export function renderCards(cards: readonly Card[]): Html {
  return html`<dl class="figures">${cards.map(
    ({ label, value, aside }) =>
      html`<div><dt>${label}</dt><dd>${unbroken(value)}<span class="aside">${unbroken(aside)}</span></dd></div>`,
  )}</dl>`
}
