import { hourUs } from '../../user/durations.ts'
import { Html, html } from '../../user/html.ts'
import type { FormIssue } from '../customers.ts'
import type { CreditsReport, EntryLine, UsageLine } from '../usage/report.ts'
import { zone } from '../usage/zone.ts'
import { type Bar, barChart } from './charts.ts'
import { complaint, document, type Viewer, wrong } from './document.ts'
import type { Drawer } from './drawer.ts'
import { average, count, day, moment, plural } from './figures.ts'
import { nextExpiry } from './next-expiry.ts'

/** Three reports on one account: all of it, its last hours, its last days. */
export interface UsageLook {
  /** The query of `whole` without its list of changes. */
  readonly query: string
  readonly whole: CreditsReport
  readonly hours: CreditsReport['by_hour']
  readonly days: CreditsReport['by_day']
}

const entriesShown = 20

/** Ranges of the figures. `all` begins when the account was opened. Bars cover at least the range. */
const ranges = {
  all: { name: 'All', hours: 48, days: 30 },
  '24h': { name: '24 hours', hours: 24, days: 7 },
  '7d': { name: '7 days', hours: 168, days: 7 },
  '30d': { name: '30 days', hours: 48, days: 30 },
} as const
export type Range = keyof typeof ranges

export const rangeOf = (asked: string | null): Range =>
  asked !== null && Object.hasOwn(ranges, asked) ? (asked as Range) : 'all'

interface Looking {
  readonly timezone: string
  /** Only entries before this one are shown. */
  readonly before: string | null
  readonly range: Range
  readonly nowUs: number
}

/**
 * The page shows the answers to these queries of `GET /user/credits`.
 *
 * @throws ZoneError for an unknown zone, and else QueryError for a wrong `before`
 */
export function lookAt(
  report: (query: string) => CreditsReport,
  { timezone, before, range, nowUs }: Looking,
): UsageLook {
  const ask = (more: Record<string, string>) =>
    report(new URLSearchParams({ timezone, ...more }).toString())
  const hours = lastHours(timezone, nowUs, ranges[range].hours)
  const days = lastDays(hours.at(-1)!.date, ranges[range].days)
  const from = new Date(hours[0]!.start).toISOString()
  const firstDay = days[0]!.date
  const since = { all: {}, '24h': { from }, '7d': { from: firstDay }, '30d': { from: firstDay } }[
    range
  ]
  return {
    query: new URLSearchParams({ timezone, ...since }).toString(),
    whole: ask({
      // One more says whether there are older ones.
      limit: String(entriesShown + 1),
      ...since,
      ...(before === null ? {} : { before }),
    }),
    hours: inPlace(hours, ask({ from, limit: '0' }).by_hour, ({ start }) => start),
    days: inPlace(days, ask({ from: firstDay, limit: '0' }).by_day, ({ date }) => date),
  }
}

/** Local hours up to now. An hour that clocks repeat counts twice; a skipped one is absent. */
function lastHours(timezone: string, nowUs: number, hoursShown: number) {
  const local = zone(timezone)
  const hours = new Map<string, string>()
  // Steps of half an hour, because some clocks move by that much.
  for (let us = nowUs - (hoursShown - 1) * hourUs; us < nowUs; us += hourUs / 2) {
    const { hour, date } = local(us)
    hours.set(hour, date)
  }
  const now = local(nowUs)
  hours.set(now.hour, now.date)
  return [...hours].map(([start, date]) => ({ start, date }))
}

function lastDays(today: string, daysShown: number) {
  return Array.from({ length: daysShown }, (_, at) => {
    const day = new Date(Date.parse(today) - (daysShown - 1 - at) * 86_400e3)
    return { date: day.toISOString().slice(0, 10) }
  })
}

const unused: UsageLine = {
  credits: 0,
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  average_tokens_per_request: null,
}

/** A line for every hour or day. Reports leave out those without use; here they are 0. */
function inPlace<Place extends object>(
  places: readonly Place[],
  lines: readonly (Place & UsageLine)[],
  nameOf: (place: Place) => string,
): readonly (Place & UsageLine)[] {
  const known = new Map(lines.map((line) => [nameOf(line), line]))
  return places.map((place) => known.get(nameOf(place)) ?? { ...place, ...unused })
}

export interface MyCreditsParts {
  readonly viewer: Viewer
  readonly look: UsageLook
  readonly range: Range
  readonly nowUs: number
  /** Changes exactly when the shown content does. */
  readonly tag: string
  readonly drawer: Drawer
  readonly issues: readonly FormIssue[]
}

/** `/my-credits`: credits used by time and model, and credits left with their expiry. */
export async function myCreditsPage(parts: MyCreditsParts): Promise<Html> {
  const { viewer, look, range, nowUs, tag, drawer, issues } = parts
  const { whole } = look
  const { timezone } = whole
  const now = moment(nowUs, timezone)
  return document({
    title: 'My credits',
    path: '/my-credits',
    viewer,
    live: true,
    main: html`<div data-tag="${tag}"><h1>My credits</h1>
${complaint(issues)}
${zoneForm(timezone, range, now, issues)}
${rangeButtons(timezone, range)}
${headFigures(whole, range)}
<div class="grid">
${await hourFigure(look.hours, drawer)}
${await dayFigure(look.days, drawer)}
${modelCard(whole, range)}
${keyCard(whole, range)}
${expiryCard(whole)}
</div>
${entryCard(whole, range)}
<p class="note">The same figures as <code>GET /user/credits?${look.query}</code>. Only successful requests are charged and counted.</p></div>`,
  })
}

function zoneForm(timezone: string, range: Range, now: string, issues: readonly FormIssue[]): Html {
  return html`<form method="get" action="/my-credits" class="as-of">
<p>As of <time data-as-of data-zone="${timezone}">${now}</time><span data-live hidden>, kept up to date</span></p>
<p><label for="timezone">Time zone</label> <input id="timezone" name="timezone" list="zones" value="${timezone}" autocomplete="off" spellcheck="false" maxlength="60"${wrong(issues, 'timezone')}><input type="hidden" name="range" value="${range}"> <button class="quiet">Show</button></p>
<datalist id="zones">${zones.map((name) => html`<option value="${name}">`)}</datalist></form>`
}

function rangeButtons(timezone: string, range: Range): Html {
  const button = ([id, { name }]: [string, { readonly name: string }]) =>
    html`<a href="/my-credits?${new URLSearchParams({ timezone, range: id }).toString()}"${id === range && html` aria-current="true"`}>${name}</a>`
  return html`<nav class="ranges" aria-label="Figures of">${Object.entries(ranges).map(button)}</nav>`
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]

function headFigures(whole: CreditsReport, range: Range): Html {
  const { remaining, consumed, total_granted, total_expired, requests } = whole
  const tokens = whole.by_model.reduce(
    (sum, line) => sum + line.prompt_tokens + line.completion_tokens,
    0,
  )
  return html`<dl class="figures">
<div><dt>Credits left</dt><dd id="remaining">${count(remaining)}</dd><dd class="aside">${expiringNext(whole)}</dd></div>
<div><dt>Credits used</dt><dd id="consumed">${count(range === 'all' ? whole.total_consumed : consumed)}</dd><dd class="aside">${range === 'all' ? html`of ${count(total_granted)} received${total_expired > 0 && `, ${count(total_expired)} expired`}` : `in ${ranges[range].name}`}</dd></div>
<div><dt>Requests</dt><dd id="requests">${count(requests)}</dd><dd class="aside">successful</dd></div>
<div><dt>Tokens per request</dt><dd id="average">${average(whole.average_tokens_per_request)}</dd><dd class="aside">${requests === 0 ? (range === 'all' ? 'no request yet' : 'no request in this time') : `${count(tokens)} in all, in and out`}</dd></div>
</dl>`
}

function expiringNext({ expiring, timezone }: CreditsReport): string {
  const lots = expiring.map(({ remaining, expires_at }) => ({
    remaining,
    expiresUs: expires_at === null ? null : Date.parse(expires_at) * 1000,
  }))
  return nextExpiry(lots, (us) => moment(us, timezone))
}

async function hourFigure(lines: CreditsReport['by_hour'], drawer: Drawer): Promise<Html> {
  const bars = lines.map(({ start, date, credits }) => {
    const hour = start.slice(11, 13)
    return { at: start, label: hour === '00' ? dayLabel(date) : `${hour}:00`, credits }
  })
  const title = `Last ${lines.length} hours`
  const description = `Bars: credits used in each of the last ${lines.length} hours.`
  return figure({
    id: 'hours',
    title,
    note: sumOf(lines),
    drawings: await draw(drawer, 'hours', (narrow) => {
      // Each divides a day, so that labels stand at the same hours and are equally far apart.
      const least = (narrow ? 12 : 6) * Math.ceil(bars.length / 72)
      const every = [6, 12, 24].find((hours) => hours >= least) ?? 24
      const labelled = ({ at }: Bar) => Number(at.slice(11, 13)) % every === 0
      return barChart({ title, description, axis: 'hour', bars, labelled })
    }),
    table: usageTable(
      'Hour',
      lines.toReversed(),
      ({ start }) =>
        `${wordsOf(start.slice(0, 10))}, ${start.slice(11, 16)} (UTC${start.slice(19)})`,
    ),
  })
}

async function dayFigure(lines: CreditsReport['by_day'], drawer: Drawer): Promise<Html> {
  const bars = lines.map(({ date, credits }) => ({ at: date, label: dayLabel(date), credits }))
  const title = `Last ${lines.length} days`
  const description = `Bars: credits used in each of the last ${lines.length} days.`
  return figure({
    id: 'days',
    title,
    note: sumOf(lines),
    drawings: await draw(drawer, 'days', (narrow) => {
      const every = Math.ceil(bars.length / (narrow ? 3 : 6))
      const last = bars.length - 1
      const labels = new Set(bars.filter((_, at) => (last - at) % every === 0))
      return barChart({ title, description, axis: 'day', bars, labelled: (bar) => labels.has(bar) })
    }),
    table: usageTable('Day', lines.toReversed(), ({ date }) => wordsOf(date)),
  })
}

/** A local date in the same format as all others. */
const wordsOf = (date: string) => day(Date.parse(date) * 1000)

function dayLabel(date: string): string {
  const format = { timeZone: 'UTC', day: 'numeric', month: 'short' } as const
  return new Date(date).toLocaleDateString('en-GB', format)
}

function sumOf(lines: readonly UsageLine[]): string {
  const credits = lines.reduce((sum, line) => sum + line.credits, 0)
  const requests = lines.reduce((sum, line) => sum + line.requests, 0)
  return `${plural(credits, 'credit')}, ${plural(requests, 'request')}`
}

async function draw(
  drawer: Drawer,
  id: string,
  chartFor: (narrow: boolean) => ReturnType<typeof barChart>,
): Promise<Html> {
  const drawing = async (narrow: boolean) => {
    const { chart, rows } = chartFor(narrow)
    const size = narrow ? { widthPx: 315, heightPx: 170 } : { widthPx: 500 }
    return new Html(await drawer.draw(chart, rows, { id: `${id}${narrow ? '-n' : ''}`, ...size }))
  }
  try {
    const [desk, phone] = await Promise.all([drawing(false), drawing(true)])
    return html`<div class="on-desk">${desk}</div><div class="on-phone">${phone}</div>`
  } catch (error) {
    process.stderr.write(`A chart failed: ${error instanceof Error ? error.message : error}\n`)
    return html`<p class="empty">The chart could not be drawn; the table has its figures.</p>`
  }
}

interface FigureParts {
  readonly id: string
  readonly title: string
  readonly note: string
  readonly drawings: Html
  readonly table: Html
}

function figure({ id, title, note, drawings, table }: FigureParts): Html {
  return html`<figure class="card" id="${id}"><figcaption><h2>${title}</h2><small>${note}</small></figcaption>
${drawings}
<details><summary>As a table</summary>${table}</details></figure>`
}

const nothingUsed = 'Nothing was used in this time.'

function usageTable<Line extends UsageLine>(
  name: string,
  lines: readonly Line[],
  nameOf: (line: Line) => string,
): Html {
  const used = lines.filter((line) => line.requests !== 0 || line.credits !== 0)
  if (used.length === 0) return html`<p class="empty">${nothingUsed}</p>`
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Use by ${name.toLowerCase()}"><table>
<thead><tr><th>${name}</th><th class="num">Credits</th><th class="num">Requests</th><th class="num">Tokens in</th><th class="num">out</th><th class="num">a request</th></tr></thead>
<tbody>${used.map(
    (line) => html`<tr><th class="txt">${nameOf(line)}</th>${cells(line)}</tr>`,
  )}</tbody></table></div>`
}

const cells = (line: UsageLine): Html =>
  html`<td class="num">${count(line.credits)}</td><td class="num">${count(line.requests)}</td><td class="num">${count(line.prompt_tokens)}</td><td class="num">${count(line.completion_tokens)}</td><td class="num">${average(line.average_tokens_per_request)}</td>`

const noUse = (range: Range) =>
  html`<p class="empty">${range === 'all' ? 'No request yet.' : nothingUsed}</p>`

function modelCard({ by_model }: CreditsReport, range: Range): Html {
  const byUse = [...by_model].sort((a, b) => b.credits - a.credits)
  return html`<section class="card" id="models"><h2>By model</h2>
${by_model.length === 0 ? noUse(range) : usageTable('Model', byUse, ({ model }) => model)}</section>`
}

function keyCard({ by_key }: CreditsReport, range: Range): Html {
  const nameOf = ({ key, hint }: CreditsReport['by_key'][number]) =>
    hint === '' ? key : `${key} …${hint}`
  return html`<section class="card" id="by-key"><h2>By key</h2>
${by_key.length === 0 ? noUse(range) : usageTable('Key', by_key, nameOf)}</section>`
}

function expiryCard({ expiring, timezone }: CreditsReport): Html {
  return html`<section class="card" id="expiry"><h2>Remaining credits and their expiry</h2>
${
  expiring.length === 0
    ? html`<p class="empty">No credits remain.</p>`
    : html`<div class="table-scroll" tabindex="0" role="region" aria-label="Remaining credits"><table>
<thead><tr><th>From</th><th class="num">Left</th><th class="num">Received</th><th>Expire</th></tr></thead>
<tbody>${expiring.map(
        (lot) =>
          html`<tr><th class="txt">${lot.source}</th><td class="num">${count(lot.remaining)}</td><td class="num">${count(lot.credits)}</td><td class="nowrap">${
            lot.expires_at === null ? 'never' : moment(Date.parse(lot.expires_at) * 1000, timezone)
          }</td></tr>`,
      )}</tbody></table></div><p class="note">In the order in which they are spent.</p>`
}</section>`
}

function entryCard({ entries: asked, timezone }: CreditsReport, range: Range): Html {
  const entries = asked.slice(0, entriesShown)
  const last = entries.at(-1)
  const older = asked.length > entriesShown && last !== undefined
  const query = new URLSearchParams({ timezone, range, before: String(last?.id) }).toString()
  return html`<section class="card" id="entries"><h2>Every change of the balance</h2>
${
  entries.length === 0
    ? html`<p class="empty">Nothing here.</p>`
    : html`<div class="table-scroll" tabindex="0" role="region" aria-label="Every change of the balance"><table>
<thead><tr><th>When</th><th>What</th><th class="num">Credits</th><th class="num wide">Before</th><th class="num">After</th><th class="num">Tokens</th></tr></thead>
<tbody>${entries.map(
        (entry) =>
          html`<tr><td class="nowrap">${moment(Date.parse(entry.at) * 1000, timezone)}</td><td class="txt">${whatOf(entry)}</td><td class="num">${entry.credits > 0 && '+'}${count(entry.credits)}</td><td class="num wide">${count(entry.balance_before)}</td><td class="num">${count(entry.balance_after)}</td><td class="num">${entry.tokens === null ? '–' : count(entry.tokens)}</td></tr>`,
      )}</tbody></table></div>
${older && html`<p class="note"><a href="/my-credits?${query}">Older changes</a></p>`}`
}</section>`
}

function whatOf({ kind, model, note, endpoint }: EntryLine): Html {
  const about = [model, note].filter((part) => part !== null && part !== '')
  const words = about.length === 0 ? (endpoint ?? '') : about.join(', ')
  return html`${kind} <small>${words}</small>`
}
