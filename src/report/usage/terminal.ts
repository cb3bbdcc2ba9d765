import { columnsOf, filled } from '../../user/columns.ts'
import { largest } from '../../user/extremes.ts'
import { wrapped } from '../../user/wrapped.ts'
import { printable } from '../summary/printable.ts'
import { amountText, sumOfAmounts } from './amount.ts'
import { amountRows, cardNumber, cardTitle, cardValue, unitName } from './figures.ts'
import { planInWords } from './packages.ts'
import {
  type Card,
  costText,
  type DateBand,
  forecastOfHeld,
  measuredShare,
  type SeriesPoint,
  type ShownUsage,
} from './shape.ts'

const barColumns = 34
const shownDays = 14
const nameColumns = 24

/** The usage page for a terminal, at most 80 columns wide. */
export function terminalUsage(page: ShownUsage): string {
  const { scope } = page
  const day = (us: number) => dayLabel(us, scope.timezone)
  const lines = [
    `Usage ${scope.account === null ? '' : `of ${printable(scope.account, 30)} `}from ${day(scope.fromUs)} to ${day(scope.toUs - 1)} (${scope.timezone})`,
    '',
    ...page.cards.flatMap((card) => {
      const cost = costText(card, scope.creditUsd)
      const lines = wrapped(
        `${cardTitle(card, scope.unit).padEnd(20)}${cardText(card, page)}`,
        ' '.repeat(38),
      )
      return cost === null ? lines : [...lines, `${'cost'.padEnd(20)}${cost}`]
    }),
    ...moneyLines(page),
    '',
    ...dayLines(page),
    '',
    ...seriesLines(page),
    '',
    ...titled('forecast', page.forecast.summary),
    ...page.otherForecasts.flatMap(({ unit, forecast }) =>
      titled('', forecast.known ? forecast.summary : `${unitName(unit)}: ${forecast.summary}`),
    ),
    ...titled('balance', page.depletion.summary),
    ...heldLines(page),
    ...depletionLines(page, day),
    ...page.bandLosses.flatMap(({ band, requestsPerMinute, lost }) =>
      lost === null
        ? []
        : titled('band', `${band} (${requestsPerMinute}/min) lost ${bandText(lost, day)}`),
    ),
    ...(page.peak.unknown === null ? [] : titled('peak', page.peak.unknown)),
    ...planLines(page),
    '',
    ...titled('service', page.reconciliation.summary),
    ...page.anomalies.flatMap(({ summary, rows }) => [
      ...titled('flag', summary),
      ...rows
        .slice(0, 2)
        .map(({ source, id, shows }) => `           ${printable(`${source} ${id}: ${shows}`, 68)}`),
    ]),
    ...scope.notes.flatMap((note) => titled('note', printable(note, 400))),
  ]
  return `${lines.join('\n')}\n`
}

function depletionLines({ depletion }: ShownUsage, day: (us: number) => string): readonly string[] {
  if (!depletion.known) return []
  const { unit } = depletion
  const some = (amount: number) =>
    unit === 'credits' ? whole(amount) : amountText(amount.toFixed(2), unit)
  return [
    ...titled('runs out', bandText(depletion.runsOut, day)),
    ...depletion.wasted.flatMap(({ grant, expiresUs, creditsLow, creditsMedian, creditsHigh }) =>
      titled(
        'expires',
        `${some(creditsMedian)} of ${printable(grant, 20)} unused on ${day(expiresUs)} (${some(creditsLow)} to ${some(creditsHigh)})`,
      ),
    ),
  ]
}

function planLines(page: ShownUsage): readonly string[] {
  const { plan } = page
  if (plan === null) return []
  if (!plan.known) return forecastOfHeld(page).known ? titled('buy', plan.summary) : []
  const bought = titled('buy', planInWords(plan.chosen))
  return [...bought, ...plan.reasons.flatMap((reason) => titled('', reason))]
}

/** Units beside that of the cards, and what changes a balance without being usage. */
const moneyLines = (page: ShownUsage) =>
  amountRows(page).map(
    ({ title, amount, unit, aside }) =>
      `${title.padEnd(20)}${amountText(amount, unit).padStart(14)} ${unitName(unit)}${aside === null ? '' : `   (${aside})`}`,
  )

/** What is held, and of each grant. */
function heldLines({ credits, scope }: ShownUsage): readonly string[] {
  if (credits === null) return []
  const write = (amount: string) => amountText(amount, credits.unit)
  const of = ({ used, remaining }: { readonly used: string; readonly remaining: string }) =>
    `${write(used)} used, ${write(remaining)} left`
  const { held, expired, uncovered, grants } = credits
  return [
    ...titled('held', `${write(held)} ${unitName(credits.unit)}: ${of(credits)}.`),
    ...grants.flatMap((grant) => {
      const models = grant.models === null ? '' : ` for ${grant.models.join(', ')}`
      const end =
        grant.expiresUs === null ? '' : `, until ${dayLabel(grant.expiresUs, scope.timezone)}`
      return titled(
        '',
        `${write(grant.credits)} of ${printable(`${grant.name}${models}`, 120)}: ${of(grant)}${end}`,
      )
    }),
    ...(Number(expired) > 0 ? titled('', `${write(expired)} expired unused before.`) : []),
    ...(Number(uncovered) > 0
      ? titled('', `${write(uncovered)} used that no grant paid for.`)
      : []),
  ]
}

/** The cost of points: at least so much if a request has no known cost. Null if none has one. */
function costOf(
  points: readonly SeriesPoint[],
  unit: string,
): { readonly amount: string; readonly text: string } | null {
  const measured = points.filter(({ money }) => money[unit] !== undefined)
  const unknown = points.reduce((sum, point) => sum + (point.unknownCost ?? 0), 0)
  const requests = points.reduce((sum, point) => sum + (point.requests ?? 0), 0)
  if (measured.length === 0 || (unknown > 0 && unknown >= requests)) return null
  const amount = sumOfAmounts(measured.map(({ money }) => money[unit]!))
  return { amount, text: `${unknown > 0 ? '≥ ' : ''}${amountText(amount, unit)}` }
}

function dayLines({ days, scope }: ShownUsage): readonly string[] {
  const used = [...Map.groupBy(days, (day) => dayName(day, scope.timezone))]
    .map(([label, points]) => {
      return {
        label,
        requests: requestsOf(points),
        cost: costOf(points, scope.unit),
        open: points.some(({ open }) => open),
      }
    })
    .filter(
      ({ requests, cost }) => requests.known !== null || (cost !== null && cost.amount !== '0'),
    )
  const shown = used.slice(-shownDays)
  const size = ({ cost }: (typeof shown)[number]) => Math.max(0, Number(cost?.amount ?? 0))
  // A bar of credits is a share of one at least; money may be any fraction.
  const most = largest(shown.map(size), scope.unit === 'credits' ? 1 : Number.MIN_VALUE)
  const width = largest(
    shown.map(({ label }) => label.length + 1),
    12,
  )
  const costWidth = largest(
    shown.map(({ cost }) => (cost?.text.length ?? 0) + 2),
    12,
  )
  return [
    ...(shown.length < used.length
      ? [`the last ${shown.length} of ${used.length} days with usage; --json has all`]
      : []),
    `${'day'.padEnd(width)}${'requests'.padStart(12)}${unitName(scope.unit).padStart(costWidth)}`,
    ...shown.map((day) => {
      const bar = '█'.repeat(Math.round((size(day) / most) * barColumns))
      return `${day.label.padEnd(width)}${requestsText(day.requests).padStart(12)}${(day.cost?.text ?? '-').padStart(costWidth)}  ${bar}${day.open ? ' (open)' : ''}`.trimEnd()
    }),
  ]
}

/** Requests of a day; with sums that do not say how many they are of, it had more. */
function requestsOf(points: readonly SeriesPoint[]) {
  const counts = points.map(({ requests }) => requests).filter((count) => count !== null)
  const isMore = points.some(
    ({ requests, money }) => requests === null && Object.keys(money).length > 0,
  )
  const known = counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0)
  return { known: known === 0 && isMore ? null : known, isMore }
}

const requestsText = ({ known, isMore }: ReturnType<typeof requestsOf>) =>
  `${isMore && known !== null ? '≥ ' : ''}${whole(known)}`

const dayName = ({ label, timezone }: SeriesPoint, own: string) =>
  timezone === own ? label : `${label} ${timezone}`

/** Rows by model, key or endpoint (`--by`). */
function seriesLines({ days, scope }: ShownUsage): readonly string[] {
  const tellsCached = days.some(
    ({ requests, cachedTokens }) => requests !== 0 && cachedTokens !== null,
  )
  const columns = [
    { head: 'tokens in', of: ({ promptTokens }: SeriesPoint) => promptTokens },
    ...(tellsCached
      ? [{ head: 'cached', of: ({ cachedTokens }: SeriesPoint) => cachedTokens }]
      : []),
    { head: 'tokens out', of: ({ completionTokens }: SeriesPoint) => completionTokens },
  ]
  const names = ['requests', unitName(scope.unit), ...columns.map(({ head }) => head)]
  const least = Math.floor(55 / names.length)
  // A name that is too long for its column has a line for itself: cut, two names could look the same.
  const row = (name: string, cells: readonly string[], widths: readonly number[]) => {
    const shown = printable(name, 78)
    const figures = cells.map((cell, at) => ` ${cell}`.padStart(widths[at]!)).join('')
    const isLong = columnsOf(shown) > nameColumns
    return [...(isLong ? [shown] : []), `${filled(isLong ? '' : shown, nameColumns)} ${figures}`]
  }
  const rows = [...Map.groupBy(days, (day) => day.series)].map(([name, points]) => {
    // A day without a request has 0 of everything and shows nothing about the others.
    const used = points.filter(({ requests }) => requests !== 0)
    const sum = (of: (point: SeriesPoint) => number | null) => {
      const known = used.map(of).filter((value) => value !== null)
      return used.length === 0 ? 0 : known.length === 0 ? null : known.reduce((a, b) => a + b, 0)
    }
    const cost = costOf(points, scope.unit)
    const cells = [
      whole(sum((point) => point.requests)),
      cost?.text ?? '-',
      ...columns.map(({ of }) => whole(sum(of))),
    ]
    return { credits: Number(cost?.amount ?? 0), name, cells }
  })
  const widths = names.map((_, at) =>
    largest(
      rows.map(({ cells }) => cells[at]!.length + 1),
      least,
    ),
  )
  return [
    ...row(scope.by, names, widths),
    ...rows
      .sort((a, b) => b.credits - a.credits)
      .flatMap(({ name, cells }) => row(name, cells, widths)),
  ]
}

function cardText(card: Card, page: ShownUsage): string {
  const { text, exactly } = cardValue(card, page, '-')
  const before =
    card.before === null
      ? 'not measured before'
      : `${cardNumber(card, card.before, page.scope.unit)} before${card.change === null ? '' : `, ${card.change >= 0 ? '+' : ''}${(card.change * 100).toFixed(1)} %`}`
  const notes = [before, measuredShare(card), exactly === null ? null : `exactly ${exactly}`]
  return `${text.padStart(14)}   (${notes.filter((note) => note !== null).join(', ')})`
}

function bandText(band: DateBand, day: (us: number) => string): string {
  const date = (us: number | null) => (us === null ? `beyond ${band.horizonDays} days` : day(us))
  return band.earlyUs === null
    ? `not within ${band.horizonDays} days`
    : `${date(band.medianUs)} (80 % likely: ${date(band.earlyUs)} to ${date(band.lateUs)})`
}

const titled = (title: string, text: string): readonly string[] =>
  wrapped(`${title.padEnd(11)}${text}`, ' '.repeat(11))

function dayLabel(us: number, timezone: string): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(us / 1000)
}

const whole = (value: number | null): string =>
  value === null ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: 1 })
