import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Html, html, trusted } from '../user/html.ts'
import { UserError } from '../user/user-error.ts'
import { contrast, grounds, leastContrast, mixedUntilReadable } from './accent.ts'
import type { AccountView } from './account-view.ts'
import { drawBars, drawFan } from './draw.ts'
import type { Settings } from './settings.ts'
import type { Answers } from './shapes.ts'
import type { Speech } from './speech.ts'

const own = (name: string) =>
  readFileSync(new URL(`../../src/portal/${name}`, import.meta.url), 'utf8')

/** Everything on the page: answers of the API. */
export interface PageData {
  readonly from: string
  readonly to: string
  /** The filters of the address that links and the form keep: all but the period. */
  readonly kept: readonly [string, string][]
  readonly summary: Answers['summary']
  readonly series: Answers['series']
  /** What the chart shows. */
  readonly metric: 'credits' | 'requests'
  readonly models: Answers['breakdown'] | null
  readonly keys: Answers['breakdown'] | null
  readonly credits: Answers['credits'] | null
  readonly outlook: Answers['outlook'] | null
  readonly notices: Answers['notices']['notices']
  readonly hasUse: boolean
  /** When the last request was, Unix microseconds. */
  readonly lastUs: number | null
}

/** The part of the page that is an account's. It works without scripts: filters are a form. */
export function pageBody(
  data: PageData,
  settings: Settings,
  view: AccountView,
  speech: Speech,
): Html {
  const { say } = speech
  const day = (text: string) => speech.day(Date.parse(text) * 1000)
  const endDay = (text: string) => speech.day((Date.parse(text) - 1) * 1000)
  const { bars } = data.series
  const about = say('period', { from: day(bars[0]!.start), to: endDay(bars.at(-1)!.end) })
  if (!data.hasUse) {
    return html`<main>${head(settings, say('title'), view.label)}<p class="answer">${say('empty.ever')}</p>${footer(data, settings, speech)}</main>`
  }
  const isEmpty = data.summary.requests.value === '0'
  return html`<main>${head(settings, say('title'), html`${view.label} · ${about}`)}
<section class="answer"><h2>${answer(data, speech)}</h2>${range(data, speech)}</section>
${data.notices.length > 0 && html`<section><h2>${say('notice.title')}</h2><ul class="notices">${data.notices.map(({ text, query }) => html`<li>${query === '?' ? text : html`<a href="${query}">${text}</a>`}</li>`)}</ul></section>`}
<form method="get"><label>${say('filter.from')} <input type="date" name="from" value="${data.from}" required></label> <label>${say('filter.to')} <input type="date" name="to" value="${data.to}" required></label> ${data.kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button>${say('filter.show')}</button></form>
${cards(data, speech)}
${isEmpty ? html`<p class="note">${say('empty')}</p>` : chart(data, view, speech)}
${data.outlook?.known && html`<section><h2>${say('chart.outlook')}</h2><figure role="img" aria-label="${say('chart.outlook')}">${drawFan(data.outlook.fan, speech, view.timezone)}</figure><p class="note">${say('note.outlook')}</p></section>`}
${table(data.models, say('table.models'), null, speech)}
${data.keys !== null && (data.keys.rows.length === 0 ? html`<section><h2>${say('table.keys')}</h2><p class="note">${say('table.keys.empty')}</p></section>` : table(data.keys, say('table.keys'), say('table.keys.note'), speech))}
${footer(data, settings, speech)}</main>`
}

function head(settings: Settings, title: string, about: Html | string): Html {
  return html`<header>${settings.logo !== undefined && html`<img src="/logo" alt="${settings.product}" height="32">`}<h1>${title}</h1><p class="note">${settings.logo === undefined && html`${settings.product} · `}${about}</p></header>`
}

function answer({ credits, outlook, summary, lastUs }: PageData, speech: Speech): string {
  const { say, number, day } = speech
  if (credits !== null && credits.source !== 'none' && Number(credits.remaining) <= 0)
    return say('answer.none')
  if (outlook?.known) {
    const median = outlook.runsOut?.median ?? null
    if (median === null) return say('answer.long')
    const us = Date.parse(median) * 1000
    return us < Date.parse(outlook.fan[0]!.at) * 1000
      ? say('answer.past', { date: day(lastUs ?? us) })
      : say('answer.runsOut', { date: day(us) })
  }
  if (credits !== null && credits.source !== 'none') return say('answer.unknown')
  return summary.credits?.value == null
    ? say('answer.requests', { requests: number(summary.requests.value ?? '0') })
    : say('answer.used', { credits: number(summary.credits.value) })
}

function range({ outlook }: PageData, { say, day }: Speech): Html | false {
  const { early = null, late = null, median = null } = outlook?.runsOut ?? {}
  if (early === null || late === null || median === null) return false
  return html`<p>${say('answer.range', { early: day(Date.parse(early) * 1000), late: day(Date.parse(late) * 1000) })}</p>`
}

type Figure = Answers['summary']['requests']

function cards({ summary, credits }: PageData, speech: Speech): Html {
  const { say, number, share } = speech
  const card = (label: string, value: string | null, aside: string) =>
    html`<div class="card"><dt>${label}</dt><dd><b>${value ?? say('card.unmeasured')}</b> <small>${aside}</small></dd></div>`
  const before = ({ value, previous }: Figure) => {
    if (previous === null || value === null || Number(previous) === 0) return say('card.first')
    const change = Number(value) / Number(previous) - 1
    if (Math.abs(change) < 0.0005) return say('card.same')
    return say(change > 0 ? 'card.more' : 'card.less', { share: share(Math.abs(change)) })
  }
  const figure = (label: string, of: Figure) =>
    card(
      label,
      of.value === null ? null : number(of.value),
      of.value === null ? '' : of.unknownShare > 0 ? say('card.partial') : before(of),
    )
  return html`<dl class="cards">${summary.credits !== null && figure(say('card.credits'), summary.credits)}${summary.cost.map(({ currency, value }) => card(say('card.cost'), speech.money(currency, value), ''))}${credits !== null && credits.remaining !== null && card(say('card.balance'), number(credits.remaining), '')}${figure(say('card.requests'), summary.requests)}${figure(say('card.input'), summary.tokens.input)}${figure(say('card.output'), summary.tokens.output)}${summary.successShare !== null && card(say('card.success'), share(summary.successShare), '')}</dl>`
}

function chart(
  { series, metric, kept }: PageData,
  { timezone }: AccountView,
  speech: Speech,
): Html {
  const { say } = speech
  const name = say(metric === 'credits' ? 'chart.credits' : 'chart.requests')
  const names = series.series.map((each) =>
    each.other ? say('table.other') : (each.name ?? say('table.unnamed')),
  )
  const time = (start: string) =>
    (series.bucket === 'hour' ? speech.moment : speech.day)(Date.parse(start) * 1000)
  const links = series.bucket !== 'hour'
  return html`<section><h2>${name}</h2>
<figure role="img" aria-label="${name}">${drawBars(series, speech, timezone)}</figure>
${series.series.length > 1 && html`<ul class="legend">${names.map((each, at) => html`<li><i class="s${at}"></i>${each}</li>`)}</ul>`}
<p class="note">${say('note.open')}</p>
<details><summary>${say('table.values')}</summary><div class="wide" tabindex="0" role="region" aria-label="${name}"><table><thead><tr><th scope="col">${say('table.time')}</th>${names.map((each) => html`<th scope="col">${series.series.length > 1 ? each : name}</th>`)}</tr></thead><tbody>${series.bars.map(
    (bar, at) =>
      bar.measured || series.series.some(({ values }) => values[at] !== null)
        ? html`<tr><th scope="row">${links ? html`<a href="?${String(new URLSearchParams([...kept, ['from', bar.start.slice(0, 10)], ['to', bar.end.slice(0, 10)]]))}">${time(bar.start)}</a>` : time(bar.start)}</th>${series.series.map(({ values }) => html`<td>${values[at] == null ? '–' : speech.number(values[at])}</td>`)}</tr>`
        : '',
  )}</tbody></table></div></details></section>`
}

function table(
  data: Answers['breakdown'] | null,
  title: string,
  note: string | null,
  speech: Speech,
): Html | false {
  if (data === null || data.rows.length === 0) return false
  const { say, number } = speech
  const cell = (value: number | string | null) =>
    html`<td>${value === null ? '–' : number(value)}</td>`
  const hasCredits = data.total.credits !== null
  return html`<section><h2>${title}</h2><div class="wide" tabindex="0" role="region" aria-label="${title}"><table><thead><tr><th scope="col">${say('table.name')}</th><th scope="col">${say('card.requests')}</th>${hasCredits && html`<th scope="col">${say('card.credits')}</th>`}<th scope="col">${say('card.input')}</th><th scope="col">${say('card.output')}</th><th scope="col">${say('table.failed')}</th></tr></thead><tbody>${data.rows.map(
    (row) =>
      html`<tr><th scope="row">${row.name ?? say('table.unnamed')}</th>${cell(row.requests)}${hasCredits && cell(row.credits)}${cell(row.input)}${cell(row.output)}${cell(row.failed)}</tr>`,
  )}</tbody></table></div>${note !== null && html`<p class="note">${note}</p>`}</section>`
}

function footer({ summary }: PageData, { support }: Settings, { say, moment }: Speech): Html {
  return html`<footer class="note">${say('asOf', { date: moment(Date.parse(summary.refreshedAt) * 1000) })}${support !== undefined && html` · <a href="${support}" rel="noopener" target="_blank">${say('support')}</a>`}</footer>`
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export interface Document {
  readonly text: string
  /** Content-Security-Policy. */
  readonly policy: string
}

/** The style of all pages, with the accent of the settings. */
const styleOf = ({ accent }: Settings) =>
  `:root{--light-accent:${accent};--dark-accent:${mixedUntilReadable(accent, '#ffffff', grounds.dark)}}\n${own('page.css')}`

/**
 * The document around the content. Without content, it is a shell whose script fetches it with the token of the address.
 *
 * @param origins who may frame it
 */
export function pageDocument(
  content: Html | null,
  settings: Settings,
  speech: Speech,
  origins: readonly string[],
): Document {
  const style = styleOf(settings)
  const script = own('page.js')
  const ancestors = origins.length === 0 ? "'none'" : origins.join(' ')
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
  const text = html`<!doctype html>
<html lang="${speech.locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>${speech.say('title')} · ${settings.product}</title><style>${trusted(style)}</style></head>
<body data-origins="${origins.join(' ')}" data-expired="${speech.say('token.expired')}">${content ?? html`<main aria-busy="true"></main>`}<script>${trusted(script)}</script></body>
</html>
`.text
  return { text, policy: `${policy}; frame-ancestors ${ancestors}` }
}

/** The page as a file: the same content, without a server. */
export function offlineDocument(
  content: Html,
  settings: Settings,
  speech: Speech,
  logo: string | null,
): string {
  const style = styleOf(settings)
  const text = content.text.replace('src="/logo"', () =>
    logo === null ? '' : `src="data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}"`,
  )
  return html`<!doctype html>
<html lang="${speech.locale}">
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${trusted(hashOf(style))}; img-src data:; base-uri 'none'; form-action 'none'"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${speech.say('title')} · ${settings.product}</title><style>${trusted(style)}</style></head>
<body class="offline">${trusted(text)}</body>
</html>
`.text
}

const mostLogoBytes = 50_000

/** @throws UserError for a logo that is not a plain SVG of at most 50 kB */
export function readLogo({ logo, folder }: Settings): string | null {
  if (logo === undefined) return null
  const file = resolve(folder, logo)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new UserError('usage', `logo: ${file} cannot be read.`)
  }
  const isPlain =
    /<svg[\s>]/i.test(text) &&
    !/<script|<foreignObject|<!ENTITY|\son\w+\s*=|javascript:|(?:href|src)\s*=\s*["']?\s*(?!#|data:image\/(?:png|jpeg))|url\(\s*["']?(?!#)|@import/i.test(
      text,
    )
  if (Buffer.byteLength(text) > mostLogoBytes || !isPlain) {
    throw new UserError(
      'usage',
      `logo: ${file}: expected an SVG of at most 50 kB without scripts, outer links and imports.`,
    )
  }
  return text
}

/** @throws UserError for an accent that cannot be read on a light page, with the nearest that can */
export function checkAccent({ accent }: Pick<Settings, 'accent'>): void {
  const ratio = contrast(accent, grounds.light)
  if (ratio >= leastContrast) return
  throw new UserError(
    'usage',
    `accent: ${accent} has a contrast of ${ratio.toFixed(2)} on white, expected ${leastContrast}:1. ${mixedUntilReadable(accent, '#000000', grounds.light)} passes.`,
  )
}
